/** Secrets of a shared state that a line names by files, or that are asked for on a terminal. */
import { fail } from '../../../base/errors.js'
import { readSecret } from '../../input.js'
import type { VerbDeps } from '../../verb.js'

const flag = '--passphrase-file'
const bytesMax = 1_026

/** A passphrase that is new: asked for twice. Throws `rejected` `passphrase_differs`. */
export const newPassphrase = async (deps: VerbDeps, from: string | undefined): Promise<string> => {
  if (from !== undefined) return readSecret(deps, { from, flag, bytesMax })
  const person = await deps.ask(`Give ${flag}.`)
  const first = await person.secret('Passphrase of the invitation (12 bytes or more)')
  const second = await person.secret('The same again')
  deps.secrets.add(first)
  deps.secrets.add(second)
  if (first === second) return first
  throw fail.rejected('passphrase_differs', 'The two passphrases differ; nothing was written.')
}

/** The passphrase that an invitation was made with. */
export const knownPassphrase = async (
  deps: VerbDeps, from: string | undefined,
): Promise<string> => {
  if (from !== undefined) return readSecret(deps, { from, flag, bytesMax })
  const person = await deps.ask(`Give ${flag}.`)
  const given = await person.secret('Passphrase of the invitation')
  deps.secrets.add(given)
  return given
}

/** The password at the server; null where none is named. */
export const serverPassword = async (
  deps: VerbDeps, from: string | undefined,
): Promise<string | null> => (from === undefined ? null
  : readSecret(deps, { from, flag: '--server-password-file', bytesMax }))
