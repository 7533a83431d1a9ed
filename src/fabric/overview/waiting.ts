/**
 * What waits for a person, with the command to type: what stops every route first, then money, then
 * results, jobs and capabilities. Reads rows only. What waits is chosen first and cut then.
 */
import { alpha } from '../../alpha/capability.js'
import { countText } from '../../base/counted.js'
import { costLiability } from '../../governance/board/states.js'
import { listTasks } from '../../governance/board/read.js'
import type { Registry } from '../../governance/capability.js'
import type { Gov } from '../../governance/context.js'
import { findReservation } from '../../governance/ledger/read.js'
import { policyStanding, type PolicyBlock } from '../../governance/policy/standing.js'
import {
  collections, reservationsByOverrun, reservationsByState, tasksToReview, type Reservation,
  type Task,
} from '../../governance/rows.js'
import type { Session } from '../../governance/session/types.js'
import { codehost } from '../../codehost/capability.js'
import { openJobs } from '../../codehost/jobs/list.js'
import type { JobState } from '../../codehost/jobs/rows.js'
import { shots } from '../../shots/capability.js'
import { lookUp } from '../../state/indexes.js'
import type { CollectionSpec, Index, View } from '../../state/types.js'
import { capabilities } from '../capabilities.js'
import type { Waiting } from './contract.js'

/** Jobs of one state that are told one by one, the newest. */
const jobsMax = 50

/** How many rows of a kind there are, and one of them. */
interface Some<Row> {
  readonly count: number
  readonly first: Row | undefined
}

const someOf = <Row>(rows: readonly Row[]): Some<Row> => ({ count: rows.length, first: rows[0] })

/** The rows under a key of an index, of which one is read. */
const someUnder = <Row>(
  view: View, spec: CollectionSpec<Row>, index: Index<Row>, key: string,
): Some<Row> => {
  const found = lookUp(view, spec, index, { under: [key] })
  const id = found.at(-1)?.id
  return { count: found.length, first: id === undefined ? undefined : view.get(spec, id) }
}

const policyTexts: Readonly<Record<Exclude<PolicyBlock, null>, string>> = {
  policy_revoked: 'The policy is revoked: no route contacts anybody until one is set up anew.',
  save_interrupted: 'A save was interrupted: no route contacts anybody until the next save.',
  save_in_progress: 'A save is under way: no route contacts anybody until it has ended.',
  witness_mismatch: 'The witness of the policy does not match: no route contacts anybody.',
  store_behind_anchor: 'The state is older than its anchor: no route contacts anybody.',
}

const policyWaits = (block: PolicyBlock): readonly Waiting[] => (block === null ? [] : [{
  what: 'policy', count: 1, text: policyTexts[block],
  command: block === 'store_behind_anchor' ? 'sallyport help anchor' : 'sallyport policy show',
}])

/** Several of a kind come as one line, with the list; one comes with its own command. */
const grouped = <Row>(
  what: Waiting['what'], { count, first }: Some<Row>,
  { one, many, commandOf, list }: {
    readonly one: string
    readonly many: (count: number) => string
    readonly commandOf: (row: Row) => string
    readonly list: string
  },
): readonly Waiting[] => {
  if (first === undefined) return []
  const alone = count === 1
  return [{
    what, count, text: alone ? one : many(count),
    command: alone ? commandOf(first) : list,
  }]
}

const reservations = 'sallyport ledger reservations'

const moneyWaits = (
  unknown: Some<Reservation>, overruns: Some<Reservation>,
): readonly Waiting[] => [
  ...grouped('unknown_charge', unknown, {
    one: 'What one call cost is not known; its full bound stays held.',
    many: (count) => `What ${count} calls cost is not known; their full bounds stay held.`,
    commandOf: ({ operation_id: id }) => `sallyport ledger settle ${id} --amount-microusd N`,
    list: reservations,
  }),
  ...grouped('overrun', overruns, {
    one: 'One charge is above its bound.',
    many: (count) => `${count} charges are above their bounds.`,
    commandOf: ({ operation_id: id }) => `sallyport ledger review ${id}`,
    list: reservations,
  }),
]

/** What unblocks a task that no open charge blocks: that one is told as money. */
const commandOfBlocked = ({ task_id: id, blocked }: Task): string => {
  if (blocked?.kind === 'answer_held') return `sallyport task review ${id}`
  return blocked?.kind === costLiability
    ? `sallyport task close ${id}` : `sallyport task show ${id}`
}

/** What shows the result: nobody approves what was not read. */
const readFirst = ({ task_id: id, kind }: Task): string =>
  (alpha.taskKinds.includes(kind) ? `sallyport alpha output ${id}` : `sallyport task show ${id}`)

const isHeldAnswer = ({ blocked }: Task): boolean => blocked?.kind === 'answer_held'

const taskWaits = (blocked: readonly Task[], toReview: Some<Task>): readonly Waiting[] => [
  ...grouped('held_result', someOf(blocked.filter(isHeldAnswer)), {
    one: 'One result is paid for and waits, because a save was under way when it came.',
    many: (count) => `${count} results are paid for and wait, because a save was under way.`,
    commandOf: commandOfBlocked, list: 'sallyport task list --state blocked',
  }),
  ...grouped('blocked_task', someOf(blocked.filter((task) => !isHeldAnswer(task))), {
    one: 'One task is blocked.', many: (count) => `${count} tasks are blocked.`,
    commandOf: commandOfBlocked, list: 'sallyport task list --state blocked',
  }),
  ...grouped('review', toReview, {
    one: 'One result waits for your review: read it, then approve or reject it.',
    many: (count) => `${count} results wait for your review.`,
    commandOf: readFirst,
    list: 'sallyport task list --state succeeded',
  }),
]

/** States in which a job waits for a person, the worst first. */
const waitingJobs: readonly JobState[] = [
  'unknown_external_effect', 'failed', 'blocked', 'prepared', 'approved',
]

const jobsOf = (gov: Gov, view: View, session: Session): readonly Waiting[] =>
  waitingJobs.flatMap((state) => {
    const all = openJobs(gov, view, session, state).flatMap(({ way: { text, command } }) =>
      (command === null ? [] : [{ what: 'job' as const, count: 1, text, command }]))
    const rest = all.length - jobsMax
    return rest <= 0 ? all : [...all.slice(0, jobsMax), {
      what: 'job', count: rest, text: `${countText(rest, 'more job')} ${rest === 1
        ? 'waits' : 'wait'}.`, command: `sallyport codehost jobs --state ${state}`,
    }]
  })

const ownLines: ReadonlySet<string> = new Set([codehost.name, shots.name])

const linesOf = async (
  gov: Gov, view: View, registry: Registry, block: PolicyBlock,
): Promise<readonly Waiting[]> => {
  const found: Waiting[] = []
  for (const { name, status } of registry) {
    const line = (await status?.())?.(gov, view)
    // What every route stands still for is told once; jobs and images have lines of their own.
    if (line?.status !== 'blocked' || line.reason_code === block || ownLines.has(name)) continue
    const code = line.reason_code === null ? '' : ` (${line.reason_code})`
    found.push({
      what: 'capability', count: 1, command: 'sallyport status',
      text: `${name} is blocked${code}.${line.reason === undefined ? '' : ` ${line.reason}`}`,
    })
  }
  return found
}

const isMoney = (view: View, { operation_id: id }: Task): boolean => {
  const money = findReservation(view, id)
  return money?.state === 'unknown' || money?.overrun === 'review_required'
}

/** What waits for this operator, most urgent first. */
export const waitingOf = async (
  gov: Gov, view: View, session: Session, registry: Registry = capabilities,
): Promise<readonly Waiting[]> => {
  const { block } = policyStanding(gov.store, view)
  const charges = (index: typeof reservationsByState, key: string): Some<Reservation> =>
    someUnder(view, collections.openReservations, index, key)
  const blocked = listTasks(view, session, { state: 'blocked', openOnly: true, limit: Infinity })
  return [
    ...policyWaits(block),
    ...moneyWaits(
      charges(reservationsByState, 'unknown'),
      charges(reservationsByOverrun, 'review_required')),
    ...taskWaits(
      blocked.filter((task) => !isMoney(view, task)),
      someUnder(view, collections.closedTasks, tasksToReview, session.principal.principal_id)),
    ...jobsOf(gov, view, session),
    ...await linesOf(gov, view, registry, block),
  ]
}
