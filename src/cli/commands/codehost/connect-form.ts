/** `codehost connect` as a form: what is saved is asked for, and nothing is ticked beforehand. */
import { fail } from '../../../base/errors.js'
import { codehostLimits } from '../../../codehost/constants.js'
import type { Connection } from '../../../governance/connections/connection-rows.js'
import type { DeploymentProfile } from '../../../governance/profile.js'
import { requireYes } from '../../ask-verdict.js'
import { untilAgreed } from '../../form-again.js'
import { readSecret } from '../../input.js'
import type { VerbDeps } from '../../verb.js'
import type { Prompter } from '../../prompt.js'
import { rehearsalOf } from '../sandbox/rehearsal.js'

/** What somebody filled in; what is left as it is, is left out. */
export interface FilledConnection {
  /** The one that was chosen; left out where another one is made. */
  readonly connectionId?: string
  readonly repo?: string
  readonly token?: Buffer
  /** Of the connection as it was shown; left out where a new one is made. */
  readonly expectedRevision?: number
}

const tokenOf = async (
  deps: VerbDeps, prompter: Prompter, question: string,
): Promise<Buffer | undefined> => {
  const token = await prompter.secret(question)
  if (token === '') return undefined
  deps.secrets.add(token)
  if (Buffer.byteLength(token) > codehostLimits.tokenBytesMax) {
    throw fail.rejected(
      'secret_length', `A token has at most ${codehostLimits.tokenBytesMax} bytes.`)
  }
  return Buffer.from(token)
}

const another = 'another connection to it'

/** A free one of the repository that is to have the token; null for another one. */
const offered = async (
  prompter: Prompter, free: readonly Connection[],
): Promise<Connection | null> => {
  if (free.length === 0) return null
  const chosen = await prompter.choose(
    'There is a free connection to this repository. The token is for:',
    [another, ...free.map(({ connection_id: id }) => id)], another)
  return free.find(({ connection_id: id }) => id === chosen) ?? null
}

/**
 * A new connection, or a free one of the repository where there is one; one that a job occupies is
 * never offered. Throws `cancelled` `declined`, `rejected` `secret_length`.
 */
export const newConnectionForm = async (
  deps: VerbDeps, profile: Pick<DeploymentProfile, 'provider'>,
  freeOf: (repository: string) => readonly Connection[],
): Promise<FilledConnection> => {
  const asked = await deps.ask('Give --repo and --token-file.')
  deps.note('A connection is for one exact repository. Its token identifies an account and allows '
    + 'nothing until you consent; what to make it for: `sallyport help real-key`')
  const rehearsal = await rehearsalOf(deps, profile)
  return untilAgreed(asked, async (prompter) => {
    const repo = await prompter.text(
      'Repository (OWNER/NAME):', rehearsal === null ? '' : rehearsal.repository,
      (text) => (/^[^/\s]+\/[^/\s]+$/.test(text) ? null : 'Type OWNER/NAME; Ctrl-C leaves.'))
    const free = await offered(prompter, freeOf(repo))
    const consent = free?.consent ?? null
    if (consent !== null) deps.note('Whatever consent it has ends with a save.')
    const typed = await tokenOf(deps, prompter, rehearsal === null
      ? 'Token (not shown):' : 'Token (not shown; Enter takes that of the sandbox):')
    const token = typed ?? (rehearsal === null ? undefined
      : Buffer.from(await readSecret(deps, {
        from: rehearsal.keyFiles.codehost, flag: '--token-file',
        bytesMax: codehostLimits.tokenBytesMax + 2,
      })))
    if (token === undefined) throw fail.rejected('secret_length', 'A connection needs a token.')
    await requireYes(prompter, 'Store this token for this repository')
    return free === null ? { repo, token }
      : { connectionId: free.connection_id, expectedRevision: free.revision, token }
  })
}

/** Another token or repository of a connection, shown as it is. Throws the same. */
export const savedConnectionForm = async (
  deps: VerbDeps, { repository, revision, mode, consent }: Connection,
): Promise<FilledConnection> => {
  const asked = await deps.ask('Give --repo, --token-file or --mode.')
  deps.note(`The connection is for ${repository}, ${mode}, revision ${revision}. `
    + (consent === null
      ? 'No consent was ever given.' : 'Whatever consent it has ends with a save.'))
  return untilAgreed(asked, async (prompter) => {
    const repo = await prompter.text('Repository (OWNER/NAME):', repository)
    const token = await tokenOf(deps, prompter, 'Token (not shown; Enter keeps the stored one):')
    if (token === undefined && repo === repository) {
      throw fail.usage('nothing_to_save', 'Name what to save: --repo, --token-file or --mode.')
    }
    await requireYes(prompter, 'Save this connection')
    return {
      expectedRevision: revision, ...(repo === repository ? {} : { repo }),
      ...(token === undefined ? {} : { token }),
    }
  })
}
