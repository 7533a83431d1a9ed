/**
 * The one reader of what waits for a person, behind `status`, the overview and its page: what stops
 * every route first, then money and results, then what each capability says of itself. Reads rows
 * only. What waits is chosen first and cut then.
 */
import { countText } from '../base/counted.js'
import { SallyportError } from '../base/errors.js'
import { listTasks, taskAccess } from '../governance/board/visible-tasks.js'
import { isTakenWithAll } from '../governance/board/recover.js'
import { costLiability } from '../governance/board/states.js'
import { ownerOfKind, type Capability, type Registry } from '../governance/capability.js'
import { answersFor } from '../governance/ledger/own.js'
import { findReservation } from '../governance/ledger/find-reservation.js'
import { policyStatus, type PolicyBlock } from '../governance/policy/policy-status.js'
import {
  collections, reservationsByOverrun, reservationsByState, tasksToReview, type Reservation,
  type Task,
} from '../governance/rows.js'
import { pendingStops } from '../governance/stops/pending.js'
import {
  grouped, someOf, type Looking, type OwnWaiting, type Some, type Waiting,
} from '../governance/waiting.js'
import { lookUp, rowsUnder } from '../state/indexes.js'
import type { Index, View } from '../state/types.js'
import { capabilities } from './capabilities.js'

const policyShow = 'sallyport policy show'

const policyTexts: Readonly<Record<Exclude<PolicyBlock, null>, string>> = {
  policy_revoked: 'The policy is revoked: no model is asked until a route is set up anew.',
  save_interrupted: 'A save was interrupted: no model is asked until the next save.',
  save_in_progress: 'A save is under way: no model is asked until it has ended.',
  witness_mismatch: 'The witness of the policy does not match: no model is asked.',
  store_behind_anchor: 'The state is older than its anchor: nobody is contacted.',
}

/** What goes on from there; the others end by themselves, or are only looked at. */
const policyCommands: Readonly<Partial<Record<Exclude<PolicyBlock, null>, string>>> = {
  policy_revoked: 'sallyport setup', save_interrupted: 'sallyport setup',
  store_behind_anchor: 'sallyport help anchor',
}

const policyWaits = (block: PolicyBlock): readonly OwnWaiting[] => (block === null ? [] : [{
  what: 'policy', count: 1, text: policyTexts[block],
  command: policyCommands[block] ?? policyShow,
}])

/** Stops are in force before they are recorded; whoever writes next does that. */
const stopWaits = ({ gov: { store } }: Looking): readonly OwnWaiting[] => {
  const count = pendingStops(store.stops.lying(), store.read()).length
  return count === 0 ? [] : [{
    what: 'stop', count, command: policyShow,
    text: `${countText(count, 'stop')} ${count === 1 ? 'is' : 'are'} in force and not recorded `
      + 'yet: the next command that writes does that.',
  }]
}

const reservations = 'sallyport ledger reservations'

/** Charges of a kind that whoever looks answers for; of nobody in particular, everybody's. */
const charges = (
  { view, session }: Looking, index: Index<Reservation>, key: string,
): Some<Reservation> => {
  const spec = collections.openReservations
  const isEverybodys = session === null
    || view.all(collections.principals).every(({ id }) => answersFor(view, session, id))
  if (!isEverybodys) {
    return someOf(rowsUnder(view, spec, index, { under: [key], reverse: true })
      .map(({ doc }) => doc).filter(({ principal }) => answersFor(view, session, principal)))
  }
  const found = lookUp(view, spec, index, { under: [key] })
  const id = found.at(-1)?.id
  return { count: found.length, first: id === undefined ? undefined : view.get(spec, id) }
}

/** Nobody in particular is led to the list: whose operation it is is not told. */
const moneyWaits = (looking: Looking): readonly OwnWaiting[] => {
  const commandOf = (line: (id: string) => string) => ({ operation_id: id }: Reservation) =>
    (looking.session === null ? reservations : `sallyport ${line(id)}`)
  return [
    ...grouped('unknown_charge', charges(looking, reservationsByState, 'unknown'), {
      one: 'What one call cost is not known; its full bound stays held.',
      many: (count) => `What ${count} calls cost is not known; their full bounds stay held.`,
      commandOf: commandOf((id) => `ledger settle ${id} --amount USD`), list: reservations,
    }),
    ...grouped('overrun', charges(looking, reservationsByOverrun, 'review_required'), {
      one: 'One charge is above its bound.',
      many: (count) => `${count} charges are above their bounds.`,
      commandOf: commandOf((id) => `ledger review ${id}`), list: reservations,
    }),
  ]
}

/** What unblocks a task that no open charge blocks: that one is told as money. */
const commandOfBlocked = ({ task_id: id, blocked }: Task): string => {
  if (blocked?.kind === 'answer_held') return `sallyport task review ${id} --accept-held`
  return blocked?.kind === costLiability
    ? `sallyport task close ${id}` : `sallyport task show ${id}`
}

const isHeldAnswer = ({ blocked }: Task): boolean => blocked?.kind === 'answer_held'

const isMoney = (view: View, { operation_id: id }: Task): boolean => {
  const money = findReservation(view, id)
  return money?.state === 'unknown' || money?.overrun === 'review_required'
}

/** Blocked tasks that neither their charge nor their own capability tells of. */
const blockedTasks = ({ view, session }: Looking, registry: Registry): readonly Task[] =>
  (session === null ? []
    : listTasks(view, session, { state: 'blocked', openOnly: true, limit: Infinity })
      .filter((task) => ownerOfKind(registry, task.kind)?.tellsBlocked !== true)
      .filter((task) => !isMoney(view, task)))

const resultsToReview = ({ view, session }: Looking): Some<Task> => {
  if (session === null) return someOf([])
  const spec = collections.closedTasks
  const found = lookUp(view, spec, tasksToReview, { under: [session.principal.principal_id] })
  const id = found.at(-1)?.id
  return { count: found.length, first: id === undefined ? undefined : view.get(spec, id) }
}

/**
 * Results of a session that has ended are read once this one has taken them over. From one that
 * lives nothing is taken without a person who names it.
 */
const takeOver = (
  { gov, view, session }: Looking, first: Task | undefined,
): string | null => {
  if (session === null || first === undefined) return null
  if (taskAccess(view, session, first) !== 'root_replaced') return null
  return isTakenWithAll(view, gov, session, first)
    ? 'sallyport task recover --all' : `sallyport task show ${first.task_id}`
}

const blockedList = 'sallyport task list --state blocked'

const taskWaits = (
  looking: Looking, registry: Registry, block: PolicyBlock,
): readonly OwnWaiting[] => {
  const blocked = blockedTasks(looking, registry)
  const results = resultsToReview(looking)
  const taken = takeOver(looking, results.first)
  return [
    ...grouped('held_result', someOf(blocked.filter(isHeldAnswer)), {
      one: 'One result is paid for and waits, because a save was under way when it came.',
      many: (count) => `${count} results are paid for and wait, because a save was under way.`,
      // Nothing is accepted until the policy stands again.
      commandOf: block === null ? commandOfBlocked : () => policyShow, list: blockedList,
    }),
    ...grouped('blocked_task', someOf(blocked.filter((task) => !isHeldAnswer(task))), {
      one: 'One task is blocked.', many: (count) => `${count} tasks are blocked.`,
      commandOf: commandOfBlocked, list: blockedList,
    }),
    ...grouped('review', results, {
      one: 'One result waits for your review: read it, then approve or reject it (task review).',
      many: (count) => `${count} results wait for your review.`,
      // Nobody approves what was not read.
      commandOf: ({ task_id: id, kind }) => taken
        ?? `sallyport ${ownerOfKind(registry, kind)?.reads?.(id) ?? `task show ${id}`}`,
      list: taken ?? 'sallyport task list --state succeeded',
    }),
  ]
}

/** What a capability says of itself; one that says nothing is told by its line of the status. */
const ownWaits = async (
  { name, waiting, status }: Capability, looking: Looking, block: PolicyBlock,
): Promise<readonly OwnWaiting[]> => {
  if (waiting !== undefined) return (await waiting())(looking)
  const line = (await status?.())?.(looking)
  // What every route stands still for is told once.
  if (line?.status !== 'blocked' || line.reason_code === block) return []
  const code = line.reason_code === null ? '' : ` (${line.reason_code})`
  return [{
    what: 'capability', count: 1, command: 'sallyport status',
    text: `${name} is blocked${code}.${line.reason === undefined ? '' : ` ${line.reason}`}`,
  }]
}

type Found = readonly OwnWaiting[]
type Part = readonly [of: string, find: () => Found | Promise<Found>]

/** What of one part waits; rows that cannot be read hide nothing of the others. */
const told = async ([of, find]: Part): Promise<readonly Waiting[]> => {
  try {
    return (await find()).map((one) => ({ of, ...one }))
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return [{
      of, what: 'unread', count: 1, command: 'sallyport state check',
      text: `What of ${of} waits could not be read (${error.code}).`,
    }]
  }
}

/** What waits for whoever looks, most urgent first. */
export const waitingOf = async (
  looking: Looking, registry: Registry = capabilities,
): Promise<readonly Waiting[]> => {
  const { gov, view } = looking
  let known: { readonly block: PolicyBlock } | null = null
  const block = (): PolicyBlock => (known ??= policyStatus(gov.store, view)).block
  const parts: readonly Part[] = [
    ['policy', () => [...policyWaits(block()), ...stopWaits(looking)]],
    ['ledger', () => moneyWaits(looking)],
    ['tasks', () => taskWaits(looking, registry, block())],
    ...registry.map((one): Part => [one.name, () => ownWaits(one, looking, block())]),
  ]
  const found: Waiting[] = []
  for (const part of parts) found.push(...await told(part))
  return found
}
