/** What each exit status means, in one line. */
import { exitStatus, precedence, requestsSent, type ExitName } from '../../base/outcome.js'

/** Meaning by name. */
export const exitMeaning: Readonly<Record<ExitName, string>> = {
  ok: 'done, or there was nothing to do',
  failed: 'failed in a way that has no status of its own',
  usage: 'wrong flags or arguments; nothing was tried',
  rejected: 'the input breaks a rule or a limit',
  unauthorized: 'your session or consent is missing, expired, revoked or for something else',
  conflict: 'stale revision, other content under the same key, or one already outstanding',
  not_found: 'there is no such thing, or it is not yours',
  blocked: 'a person has to decide or to repair something first',
  budget: 'would exceed the ceiling or the budget',
  remote: 'the other side failed or broke its contract',
  no_state: 'there is no state directory yet: run sallyport init',
  locked: 'the state lock, the provider lane or a request on its way was held for too long',
  damaged: 'the state is damaged; writes are refused',
  partial: 'a batch did a part of its work; the document tells counts and cost',
  cancelled: 'stopped by a signal, or declined at a question',
}

/** Statuses that every verb can end with. */
export const commonExits: readonly ExitName[] = ['ok', 'failed', 'usage', 'cancelled']

/** Names in the order of their numbers, without repeats. */
export const inOrder = (names: readonly ExitName[]): readonly ExitName[] =>
  [...new Set(names)].sort((a, b) => exitStatus[a] - exitStatus[b])

const listed = (names: readonly ExitName[], last: string): string => {
  const numbers = inOrder(names).map((name) => String(exitStatus[name]))
  return [numbers.slice(0, -1).join(', '), numbers.at(-1)].filter((one) => one !== '').join(last)
}

/**
 * Which statuses say that nothing was sent, of those that a verb can end with, and which one says
 * that something was: the one sentence of every help.
 */
export const sentSentence = (names: readonly ExitName[]): string => {
  const none = names.filter((name) => requestsSent[name] === 'none')
  const first = `Nothing was sent when the status is ${listed(none, ' or ')}.`
  return names.includes('partial')
    ? `${first} With ${exitStatus.partial} something was done, and may have been paid for.` : first
}

/** The order in which one of several failures decides the status. */
export const precedenceSentence = (): string => {
  const [first, ...rest] = precedence.map((name) => exitStatus[name])
  const told = [`${first} comes before ${rest[0]}`]
  for (const [at, status] of rest.slice(1).entries()) told.push(`${rest[at]} before ${status}`)
  return `Where several fit, ${told.join(', ')}.`
}
