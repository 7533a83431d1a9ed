import { fail } from '../../../base/errors.js'
import { passphraseLimits } from '../../../governance/passphrase.js'
import { addPrincipal } from '../../../governance/principals.js'
import {
  principalAdd, type PrincipalAddedDocument,
} from '../../../governance/principals-contract.js'
import { readSecret } from '../../input.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { principalText } from './text.js'

/** Flags of `principal add`. */
export interface PrincipalAddOptions {
  readonly name: string
  readonly passphraseFile?: string
}

const passphraseOf = async (deps: VerbDeps, from: string | undefined): Promise<string> => {
  const flag = '--passphrase-file'
  if (from !== undefined) {
    return readSecret(deps, { from, flag, bytesMax: passphraseLimits.bytesMax + 2 })
  }
  const person = await deps.ask(`Give ${flag}.`)
  const first = await person.secret('Passphrase of the new owner')
  const second = await person.secret('The same again')
  deps.secrets.add(first)
  deps.secrets.add(second)
  if (first === second) return first
  throw fail.rejected('passphrase_differs', 'The two passphrases differ; nobody was added.')
}

export const add: VerbRecord<PrincipalAddOptions, PrincipalAddedDocument> = {
  summary: 'add an owner',
  description:
    'Adds an owner with a passphrase (8 to 1024 bytes) and a default goal. Each owner sees and '
    + 'reviews only its own tasks and goals; all share one policy and one spend ceiling.',
  examples: ['$ sallyport principal add maria --passphrase-file ./passphrase'],
  session: 'required',
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'no_state', 'locked', 'damaged'],
  json: principalAdd,
  flags: (command) => command
    .argument('<name>', 'name of the owner')
    .option('--passphrase-file <file>', 'the passphrase; - for stdin (asked for on a terminal)'),
  text: ({ principal }) => principalText(principal),
  run: async (options, deps) => {
    const { gov, session } = await loginToMutate(deps)
    const passphrase = await passphraseOf(deps, options.passphraseFile)
    const request = requestOf(principalAdd, { ...options, passphrase })
    return principalAdd.answer(await addPrincipal(gov, session, request))
  },
}
