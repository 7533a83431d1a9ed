/**
 * An ask of one machine, in a process of its own, to which something happens at a step; and what is
 * left of it once another machine has written.
 */
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { collections } from '../../../src/governance/rows.js'
import { openStore } from '../../../src/state/store.js'
import type { View } from '../../../src/state/types.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import type { Ran, Teardown } from '../../world/place.js'
import type { AlphaWorld, Placed } from '../../world/world.js'
import { must } from '../must.js'
import { account } from '../soak/ask-verdict.js'
import { until } from '../until.js'
import { goBy } from './links.js'
import { firstMachine, nextMachine } from './machines.js'
import { startPostgres, type Postgres } from './postgres.js'
import { startProxy, type Proxy } from './proxy.js'

/** Times of the place for the machine that things happen to, ms. */
export const shortTimes = { leaseMs: 2_000, patienceMs: 1_000 } as const

/** The same, as an environment of test/entry.ts. */
export const shortEnv = {
  TEST_PLACE_LEASE_MS: String(shortTimes.leaseMs),
  TEST_PLACE_PATIENCE_MS: String(shortTimes.patienceMs),
} as const

/** What happens. */
export const faults = ['killed', 'reset', 'silent', 'silent for a lease', 'answer lost'] as const
export type Fault = (typeof faults)[number]

/** Two machines; the first one goes by a way that can be held or cut. */
export interface FaultyWay {
  readonly server: Postgres
  readonly proxy: Proxy
  readonly one: AlphaWorld
  readonly two: Placed
}

/** Makes them. */
export const faultyWay = async (t: Teardown): Promise<FaultyWay> => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  must(await one.run(setupFlags(one.place, await one.revision(), roomy)))
  const two = await nextMachine(t, one)
  await one.gov.store.fresh()
  const proxy = await startProxy(t, () => server.port)
  goBy(one, proxy)
  return { server, proxy, one, two }
}

/** What happens while the process waits at its step; it goes on meanwhile. */
const happen = async ({ proxy }: FaultyWay, fault: Fault, go: () => void): Promise<void> => {
  if (fault === 'reset') {
    proxy.cut()
    return go()
  }
  if (fault === 'answer lost') proxy.holdReplies()
  else proxy.hold()
  go()
  await sleep(fault === 'silent for a lease' ? shortTimes.leaseMs * 1.3 : 400)
  if (fault === 'answer lost') proxy.cut()
  proxy.free()
}

/** An ask that something happened to. */
export interface FaultyAsk {
  readonly ran: Ran
  readonly question: string
  readonly key: string
}

/** An ask that waits at a step. */
export interface WaitingAsk extends Omit<FaultyAsk, 'ran'> {
  readonly asking: Promise<Ran>
  readonly child: () => ChildProcess | undefined
  /** That it waits there, or has ended. */
  readonly stopped: Promise<void>
  go(): void
}

/** Starts one in a process of its own; with `kill` it ends itself there. */
export const waitingAsk = (
  { place }: Pick<Placed, 'place'>, step: string,
  { how = 'wait', env = {} }:
  { how?: 'wait' | 'kill', env?: Readonly<Record<string, string>> } = {},
): WaitingAsk => {
  const [question, key] = [`MARK: ${randomUUID()}`, randomUUID()]
  const goFile = place.path(`go-${key}`)
  let said = ''
  let over = false
  let child: ChildProcess | undefined
  const asking = place.spawn(['alpha', 'ask', '-', '--json', '--idempotency-key', key], {
    entry: 'test', coverage: false, stdin: question,
    env: {
      ...env, TEST_STOP_AT: `ask.${step}`, TEST_GO_FILE: goFile, TEST_STOP_DO: how,
    },
    onChild: (one) => {
      child = one
      one.stderr?.on('data', (bytes: Buffer) => { said += bytes.toString() })
    },
  }).finally(() => { over = true })
  return {
    question, key, asking, child: () => child,
    stopped: until(`it comes to ${step}`, () => over || said.includes('stopped at')),
    go: () => writeFileSync(goFile, ''),
  }
}

/** Runs one. */
export const askAt = async (way: FaultyWay, step: string, fault: Fault): Promise<FaultyAsk> => {
  const how = fault === 'killed' ? 'kill' : 'wait'
  const { question, key, asking, stopped, go } = waitingAsk(way.one, step, { how, env: shortEnv })
  await stopped
  if (fault !== 'killed') await happen(way, fault, go)
  return { ran: await asking, question, key }
}

const taskOf = (view: View, key: string) => {
  const id = view.get(collections.idempotency, key)?.task_id ?? ''
  return view.get(collections.openTasks, id) ?? view.get(collections.closedTasks, id)
}

const reservationOf = (view: View, operation: string) =>
  view.get(collections.openReservations, operation)
    ?? view.get(collections.closedReservations, operation)

/** Waits until no lease of a guard is live any more. */
export const leasesEnd = ({ server }: Pick<FaultyWay, 'server'>): Promise<void> =>
  until('the leases are over', async () => (await server.query(
    "select from sallyport.leases where ends > clock_timestamp() and name like 'hold/%'",
  )).length === 0)

/** How an ask ended, and every rule that was broken. */
export interface Left {
  readonly end: string
  readonly broken: readonly string[]
}

const moneyIn = (view: View, key: string): string =>
  reservationOf(view, taskOf(view, key)?.operation_id ?? '')?.state ?? 'nothing held'

/** What a machine knows of the money of an ask; it asks nobody. */
export const moneyAt = ({ place }: Pick<Placed, 'place'>, key: string): string => {
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'read' })
  try {
    return moneyIn(store.read(), key)
  } finally {
    store.close()
  }
}

/** Lets the other machine write, and judges. */
export const judge = async (way: FaultyWay, asked: FaultyAsk): Promise<Left> => {
  const { one, two } = way
  const broken: string[] = []
  const say = (ok: boolean, text: string): void => void (ok || broken.push(text))
  await leasesEnd(way)
  must(await two.run(['goal', 'add', `after ${asked.key}`]))
  await one.gov.store.fresh()
  const view = one.gov.store.read()
  const state = moneyIn(view, asked.key)
  const task = taskOf(view, asked.key)
  const sent = (): number =>
    one.inferences().filter(({ body }) => body.includes(asked.question)).length
  const before = sent()
  say(before <= 1, `${before} requests`)
  say((before === 1 ? ['settled', 'unknown'] : ['nothing held', 'released', 'unknown'])
    .includes(state), `${before} sent and ${state}`)
  say(asked.ran.status !== 0 || state === 'settled', `an answer, and ${state}`)
  for (const text of account(view, roomy.boundMicrousd)) broken.push(text)
  const [a, b] = [await one.json(['ledger', 'show']), await two.json(['ledger', 'show'])]
  say(JSON.stringify(a) === JSON.stringify(b), 'two ledgers')
  for (const at of [one, two]) {
    const { ok, problems } = await at.json(['state', 'check'])
    say(ok === true, `state check: ${JSON.stringify(problems)}`)
  }
  const line = ['alpha', 'ask', '-', '--json', '--idempotency-key', asked.key]
  await two.run(line, { stdin: asked.question })
  say(sent() - before === (task === undefined ? 1 : 0), `asked again: ${sent() - before} more`)
  return { end: `${state}, ${before === 0 ? 'nothing sent' : 'sent'}`, broken }
}
