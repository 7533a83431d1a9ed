/**
 * What must hold after an ask was killed, whatever the moment: recovery leaves a sound state and a
 * ledger that balances, nothing was or will be sent twice, and no answer exists without its charge.
 */
import { collections, type Reservation, type Task } from '../../../src/governance/rows.js'
import { systemClock } from '../../../src/base/clock.js'
import { silentObserver } from '../../../src/base/observer.js'
import { recoverState } from '../../../src/fabric/recovery.js'
import { openStore } from '../../../src/state/store.js'
import type { View } from '../../../src/state/types.js'
import type { AskDeployment, Killed } from './ask-deployment.js'

/** The part of a deployment that is judged. */
export type Judged = Pick<AskDeployment, 'rig' | 'boundMicrousd'>
/** The part of an ask that is judged. */
export type Asked = Pick<Killed, 'ran' | 'question' | 'key'>

/** How an ask ended for good. */
export type Outcome = 'no task' | 'released' | 'unknown' | 'answered'

/** The outcome and every rule that was broken, as sentences. */
export interface Verdict {
  readonly outcome: Outcome
  readonly broken: readonly string[]
}

interface Found {
  readonly task: Task | null
  readonly reservation: Reservation | null
  readonly answers: number
}

/** Runs `look` on the recovered store, opened as the next command would. */
export const afterRecovery = async <T>(
  { rig: { place } }: Pick<Judged, 'rig'>, look: (view: View) => T,
): Promise<T> => {
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'write' })
  try {
    await recoverState({ store, clock: systemClock, observer: silentObserver, face: 'cli' })
    return look(store.read())
  } finally {
    store.close()
  }
}

const find = (view: View, key: string): Found => {
  const known = view.get(collections.idempotency, key)
  if (known === undefined) return { task: null, reservation: null, answers: 0 }
  const { task_id: id } = known
  const task = view.get(collections.openTasks, id) ?? view.get(collections.closedTasks, id) ?? null
  const operation = task?.operation_id ?? ''
  const answers = view.all(collections.artifacts)
    .filter(({ doc }) => doc.task_id === id && doc.label === 'svc.alpha.text.answer.v1').length
  return {
    task,
    reservation: view.get(collections.openReservations, operation)
      ?? view.get(collections.closedReservations, operation) ?? null,
    answers,
  }
}

/** What is wrong with the sums of the one ledger, after recovery. */
export const account = (view: View, bound: number): string[] => {
  const [the, other] = view.all(collections.ledgerAccounts)
  if (the === undefined || other !== undefined) return ['there is not exactly one ledger']
  const open = view.all(collections.openReservations).map(({ doc }) => doc)
  const closed = view.all(collections.closedReservations).map(({ doc }) => doc)
  const settled = [...open, ...closed].reduce((sum, one) => sum + (one.charged_microusd ?? 0), 0)
  const unknown = open.filter((one) => one.state === 'unknown').length
  const { doc } = the
  return [
    ...(doc.held_microusd === 0 ? [] : ['a hold is left']),
    ...(doc.settled_microusd === settled ? [] : ['the settled sum is not that of the charges']),
    ...(doc.unknown_microusd === unknown * bound ? [] : ['the liability is not the full bound']),
  ]
}

/** Outcome by the rows; anything that no ending allows is a broken rule. */
const ending = ({ task, reservation, answers }: Found, sent: number): Verdict => {
  const broken: string[] = []
  const say = (ok: boolean, text: string): void => void (ok || broken.push(text))
  say(sent <= 1, `${sent} inference requests for one ask`)
  if (task === null) {
    say(sent === 0, 'sent without a task')
    return { outcome: 'no task', broken }
  }
  if (task.state === 'succeeded') {
    say(sent === 1 && answers === 1, 'an answer without one request and one artifact')
    say(reservation?.state === 'settled', 'an answer without a settled charge')
    return { outcome: 'answered', broken }
  }
  say(answers === 0 && task.result_artifact_id === null, 'an answer of a task without success')
  if (task.state === 'blocked') {
    say(task.blocked?.reason === 'alpha_cost_readback_required', 'blocked for another reason')
    say(reservation?.state === 'unknown', 'blocked without the liability')
    return { outcome: 'unknown', broken }
  }
  say(task.state === 'failed', `the task is ${task.state}`)
  say(sent === 0, 'failed as never contacted, but a request went out')
  say((reservation?.state ?? 'released') === 'released', 'the hold is not released')
  return { outcome: 'released', broken }
}

const statusOf: Record<Outcome, number> = { 'no task': 0, released: 1, unknown: 7, answered: 0 }

/** Asks once more with the same key: only an ask that never was may send anything. */
const askAgain = async (
  { rig }: Judged, { key, question }: Asked, outcome: Outcome, sent: () => number,
): Promise<string[]> => {
  const before = sent()
  const ran = await rig.run(['alpha', 'ask', '-', '--json', '--idempotency-key', key], {
    stdin: question,
  })
  const more = sent() - before
  return [
    ...(more === (outcome === 'no task' ? 1 : 0) ? [] : [`asking again sent ${more} requests`]),
    ...(ran.status === statusOf[outcome] ? [] : [`asking again ended with ${ran.status}`]),
  ]
}

/**
 * What a killed writer may leave: artifacts that nobody names yet, and temporary files, in the
 * state and beside the anchor, which every process makes anew. A compaction sweeps them.
 */
const left = ['artifact_orphans', 'leftovers', 'key_leftovers']

/** What `state check` finds beside what a killed writer may leave. */
export const check = async ({ rig }: Pick<Judged, 'rig'>): Promise<string[]> => {
  const ran = await rig.run(['state', 'check', '--json'])
  const { problems } = ran.json<{ problems: { code: string; severity: string }[] }>()
  const wrong = problems.map(({ code }) => code)
    .filter((code) => !left.includes(code))
  return ran.status === 0 && wrong.length === 0 ? [] : [`state check: ${wrong.join(', ')}`]
}

/** Judges a killed ask; also says when the process claimed more than the rows have. */
export const judge = async (deployment: Judged, killed: Asked): Promise<Verdict> => {
  const { rig } = deployment
  const named = (body: Buffer): boolean => body.includes(killed.question)
  const sent = (): number => rig.inferences().filter(({ body }) => named(body)).length
  const found = await afterRecovery(deployment, (view) => ({
    ...find(view, killed.key), account: account(view, deployment.boundMicrousd),
  }))
  const { outcome, broken } = ending(found, sent())
  const printed = killed.ran.stdout !== '' && outcome !== 'answered'
  return {
    outcome,
    broken: [
      ...broken, ...found.account,
      ...(printed ? ['an answer was printed that the rows do not have'] : []),
      ...(await check(deployment)),
      ...(await askAgain(deployment, killed, outcome, sent)),
    ],
  }
}
