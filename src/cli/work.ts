/** How a verb opens the state, and the lines for what was resolved or could not be recorded. */
import { countText } from '../base/counted.js'
import type { Gov } from '../governance/context.js'
import type { RecoveryReport } from '../contact/recovery.js'
import type { Work } from '../fabric/operation.js'
import type { WorkMode } from '../fabric/open-work.js'
import type { Recorded } from '../governance/stops/act.js'
import { requestsOf } from '../governance/stops/requests.js'
import { sentBeforeLines } from './sent-before.js'
import { nextCommand } from './next-page.js'
import type { LoginOptions, VerbDeps } from './verb.js'
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
 * before it: all others work in mode `mutate`.
 */
export const recoverFirst = async (deps: VerbDeps, gov: Gov): Promise<void> => {
  const { recoverState } = await import('../fabric/recovery.js')
  for (const line of lines(await recoverState(gov))) deps.note(line)
}

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

/**
 * The state, open for the operator who is logged in, and what an operation needs of this face. In
 * mode `mutate` what was recovered is told. Throws `unauthorized` before anything is written.
 */
export const workFor = async (
  deps: VerbDeps, mode: WorkMode, options?: LoginOptions,
): Promise<Work> => {
  const { gov, session, recovered } = await openForOperator(deps, mode, options)
  if (mode === 'mutate' && recovered !== null) for (const line of lines(recovered)) deps.note(line)
  return {
    gov, session, world: deps,
    cut({ field, value, shown, first = 'newest' }) {
      const flag = `--${field}`
      deps.cut = { flag, value }
      if (shown !== undefined) deps.note(`${shown} shown, the ${first}; more with ${flag} ${value}`)
      return nextCommand(deps, { flag, value })
    },
    stopped: (recorded) => afterStop(deps, gov, recorded),
  }
}
