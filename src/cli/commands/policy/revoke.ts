import { SallyportError } from '../../../base/errors.js'
import type { Gov } from '../../../governance/context.js'
import { policyRevoke, type PolicyRevokedDocument } from '../../../governance/policy/contract.js'
import { revokePolicy, type RevokeOrder } from '../../../governance/policy/revoke.js'
import { stopFoldersOf } from '../../../state/store-ids.js'
import { recoverFirst } from '../../mutate.js'
import { sentBeforeLines } from '../../sent-before.js'
import type { VerbRecord } from '../../verb.js'

const recordedText = ({ waits_for: code }: PolicyRevokedDocument): string =>
  (code === 'lock_held' || code === 'lock_wait_stopped'
    ? 'Another process holds the state; the next command that writes records it.'
    : 'The state takes no record now; it is recorded when it is repaired.')

const stoppedText = (document: PolicyRevokedDocument): string => {
  if (document.under_way.length > 0) return 'Stopped for every request but those of one process.'
  const every = 'Every route is stopped: alpha, gateway and code host'
  return document.revision === null
    ? `${every}. ${recordedText(document)}` : `${every} (policy revision ${document.revision}).`
}

/** How long the record of a stop that is in force waits for the lock, milliseconds. */
const recordWaitMs = 2_000

/** The routes are stopped: nothing that comes after may make it look otherwise. */
const recoverAfter = async (deps: Parameters<typeof recoverFirst>[0], gov: Gov): Promise<void> => {
  try {
    await recoverFirst(deps, gov)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    deps.note(`Stopped, but what a dead process left was not resolved: ${error.message}`)
  }
}

/** Revokes. A session is named in the record when there is one, and never asked for. */
export const revoke: VerbRecord<object, PolicyRevokedDocument> = {
  summary: 'stop every route at once',
  description:
    'Stops every route and ends every consent, those to write to a code host too, at once: '
    + 'nothing more leaves once it has '
    + 'answered. It needs no session, no lock, no key and no sound state, because stopping must '
    + 'never be hard; what cannot be recorded now is in force all the same and is recorded by '
    + 'the next command that writes. Requests that had been sent before are named, and a charge '
    + 'that is already owed is still read back. A process that holds a request and does not '
    + 'answer is named too (status 11): it may still send when it wakes. Each route has to be '
    + 'granted anew afterwards.',
  examples: ['$ sallyport policy revoke', '$ sallyport policy revoke --json'],
  session: 'none',
  anchor: 'any',
  damage: 'decides',
  exits: ['no_state', 'locked', 'damaged'],
  json: policyRevoke,
  text: (document) => [
    stoppedText(document),
    ...sentBeforeLines(document.requests),
    '',
  ].join('\n'),
  run: async (_options, deps) => {
    const { stateDir, configDir } = deps.places
    const folders = stopFoldersOf({ dir: stateDir, configDir })
    if (folders.length === 0) await deps.openStore('read')
    let by: RevokeOrder['by'] = { principal: null, root: null }
    try {
      const { session } = await deps.login('read', { touch: false })
      by = { principal: session.principal.principal_id, root: session.root.root_id }
    } catch {
      // Neither an ended session nor a damaged state must keep anybody from stopping.
    }
    const { openForStop } = await import('../../store.js')
    let gov: Gov | null = null
    const open = async (): Promise<Gov> => (gov = await openForStop(deps, recordWaitMs))
    try {
      const revoked = await revokePolicy({ stateDir, folders, clock: deps.clock, by, open })
      if (gov !== null && revoked.why === null) await recoverAfter(deps, gov)
      return policyRevoke.answer(revoked)
    } finally {
      (gov as Gov | null)?.store.close()
    }
  },
}
