/** How a mutating verb opens the state: recovery first, and a line for what it resolved. */
import { countText } from '../base/counted.js'
import type { Gov } from '../governance/context.js'
import type { RecoveryReport } from '../contact/recovery.js'
import type { Session } from '../governance/session/types.js'
import type { Recorded } from '../governance/stops/act.js'
import { requestsOf } from '../governance/stops/requests.js'
import { sentBeforeLines } from './sent-before.js'
import type { VerbDeps } from './verb.js'
import { openForOperator } from './store.js'

const lines = (report: RecoveryReport): string[] => {
  const said = (count: number, text: string): string[] =>
    count > 0 ? [`recovered: ${text}`] : []
  return [
    ...said(
      report.released.length,
      `${countText(report.released.length, 'hold')} released, never contacted`,
    ),
    ...said(
      report.unknown.length,
      `${countText(report.unknown.length, 'charge')} unknown after a cut-off contact; `
        + 'the bound stays held',
    ),
    ...said(
      report.endedTasks.length,
      `${countText(report.endedTasks.length, 'interrupted task')} ended`,
    ),
    ...said(
      report.rolledBackSaves.length,
      'an interrupted save was rolled back; the policy stays revoked until the next save',
    ),
    ...(report.leftAlone.length > 0
      ? [
          `not recovered: ${countText(report.leftAlone.length, 'hold or task', 'holds or tasks')} `
            + 'whose rows contradict each other; nothing was given back. '
            + 'Run `sallyport state check`.',
        ]
      : []),
    ...(report.witnessCompleted ? ['recovered: the witness log was completed'] : []),
  ]
}

/**
 * Resolves what dead processes left and says so on stderr. For verbs that must do something else
 * before it: all others use `loginToMutate`.
 */
export const recoverFirst = async (deps: VerbDeps, gov: Gov): Promise<void> => {
  const { recoverState } = await import('../fabric/recovery.js')
  for (const line of lines(await recoverState(gov))) deps.note(line)
}

/**
 * The open state with a session, for what is in force without the lock: nothing is recovered, since
 * that needs it. Throws `unauthorized`.
 */
export const loginToStop = (
  deps: VerbDeps,
): Promise<{ readonly gov: Gov; readonly session: Session }> => openForOperator(deps, 'write')

/**
 * What follows a stop that is in force: what had left before is named, and what dead processes left
 * is resolved, or a line says why the stop is not recorded yet.
 */
export const afterStop = async (
  deps: VerbDeps, gov: Gov, recorded: Recorded | null,
): Promise<void> => {
  for (const line of sentBeforeLines(requestsOf(recorded))) deps.note(line)
  if (recorded === null || recorded.why === null) return recoverFirst(deps, gov)
  deps.note(`In force; the next command that writes records it. ${recorded.why.message}`)
}

/** The open state with a session, recovered. Throws `unauthorized` before anything is written. */
export const loginToMutate = async (
  deps: VerbDeps,
): Promise<{ readonly gov: Gov; readonly session: Session }> => {
  const { gov, session, recovered } = await openForOperator(deps, 'mutate')
  if (recovered !== null) for (const line of lines(recovered)) deps.note(line)
  return { gov, session }
}

/**
 * The open state with a session, for work that changes nothing but its own record: nothing is
 * recovered or recorded for others, and the use of the session is not noted. Throws `unauthorized`.
 */
export const loginAlone = (
  deps: VerbDeps,
): Promise<{ readonly gov: Gov; readonly session: Session }> => openForOperator(deps, 'alone')
