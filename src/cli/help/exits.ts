/** What each exit status means, in one line. */
import { exitStatus } from '../../base/outcome.js'
import type { ExitName } from '../../base/outcome.js'

/** Meaning by name. */
export const exitMeaning: Readonly<Record<ExitName, string>> = {
  ok: 'done, or there was nothing to do',
  failed: 'failed in a way that has no status of its own',
  usage: 'wrong flags or arguments; nothing was tried',
  rejected: 'the input breaks a rule or a limit; nothing was contacted',
  unauthorized: 'your session or consent is missing, expired, revoked or for something else',
  conflict: 'stale revision, other content under the same key, or one already outstanding',
  not_found: 'there is no such thing, or it is not yours',
  blocked: 'a person has to decide or to repair something first',
  budget: 'would exceed the ceiling or the budget; nothing was contacted',
  remote: 'the other side failed or broke its contract',
  no_state: 'there is no state directory yet: run sallyport init',
  locked: 'the state lock or the provider lane was held for too long',
  damaged: 'the state is damaged; writes are refused',
  cancelled: 'stopped by a signal, or declined at a question',
}

/** Statuses that every verb can end with. */
export const commonExits: readonly ExitName[] = ['ok', 'failed', 'usage', 'cancelled']

/** Names in the order of their numbers, without repeats. */
export const inOrder = (names: readonly ExitName[]): readonly ExitName[] =>
  [...new Set(names)].sort((a, b) => exitStatus[a] - exitStatus[b])
