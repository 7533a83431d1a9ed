/**
 * One cell: an order of one of two machines that share a state, and something that happens at one
 * of its steps to the way to the server, or to the process; and what is left of it once the other
 * machine has written.
 */
import { rmSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { silentObserver } from '../../../src/base/observer.js'
import { recoverState } from '../../../src/fabric/recovery.js'
import { checkWhole } from '../../../src/fabric/state-care.js'
import { stateRules } from '../../../src/fabric/state-rules.js'
import type { View } from '../../../src/state/types.js'
import { keptFolders } from '../../support/kept-folders.js'
import { must } from '../../support/must.js'
import {
  endLeases, envOf, strike, type Fault, type FaultyWay, type WayFault,
} from '../../support/place/faults.js'
import { keptRows } from '../../support/place/kept-rows.js'
import { goBy } from '../../support/place/links.js'
import { nextMachine } from '../../support/place/machines.js'
import type { Postgres } from '../../support/place/postgres.js'
import { startProxy } from '../../support/place/proxy.js'
import { until } from '../../support/until.js'
import type { Ran } from '../../world/place.js'
import type { Placed } from '../../world/world.js'
import {
  endIn, isNoBill, looking, optionsOf, runApart, stageOf, standingIn, stopsAt, whileHeld,
  withoutPause,
  type Stage, type Standing,
} from '../interrupts/cell.js'
import type { OrderWorld, TableOrder } from '../interrupts/orders.js'
import { expected, writeWaits, type Outcome } from '../interrupts/rule.js'

/** An order that may be other than those of docs/dev/interrupts.md. */
export interface SharedOrder extends TableOrder {
  /** Ends that it may have where nothing of it was sent, and where something was. */
  readonly ends?: Readonly<Record<'sent' | 'unsent', readonly Outcome['end'][]>>
  /** Requests that it sends; one, unless said. */
  readonly sends?: number
  /** Reads what stands outside; what it gives puts that back. */
  outside?(world: OrderWorld): () => void
  /** What has to be done anew each time, because it rests on the very files that are there. */
  begin?(world: OrderWorld): Promise<unknown>
  /** The same order given on the other machine, which knows it again. */
  again?(two: Placed): Promise<unknown>
  /** What a person does then on its own machine; gives where that ends. */
  goOn?(world: OrderWorld): Promise<string>
}

/** Two machines of an order, the first gives it; put back as they were before each cell. */
export interface SharedBench extends Stage, FaultyWay<OrderWorld> {
  readonly order: SharedOrder
  /** Where its line is run; by a process of its own each time, or in this one. */
  readonly apart: boolean
  restore(): Promise<Standing>
}

const viewOf = <T>(world: Pick<Placed, 'place'>, look: (view: View) => T): T =>
  looking({ world }, 'read', (store) => look(store.read()))

const programs = "select from pg_stat_activity where application_name = 'sallyport'"

/** Makes it. */
export const sharedBenchOf = async (
  t: Test, server: Postgres, order: SharedOrder, apart = false,
): Promise<SharedBench> => {
  const stage = await stageOf(t, order, { more: ['--shared', server.url, '--machine-name', 'a'] })
  const { world: one } = stage
  const two = await nextMachine(t, one)
  const proxy = await startProxy(t, () => server.port)
  goBy(one, proxy)
  const alone = async (): Promise<void> => {
    // What was held on the way and comes late is of the cell before.
    proxy.cut()
    await server.terminateAll()
    await until('nobody asks the server', async () => (await server.query(programs)).length === 0)
  }
  await alone()
  const putBack = [...[one, two].map(({ place }) => keptFolders(place)), order.outside?.(one)]
  const storeId = looking(stage, 'read', (store) => store.storeId)
  const rowsBack = await keptRows(server, storeId)
  const bench: SharedBench = {
    ...stage, order, server, proxy, one, two, apart,
    restore: async () => {
      await alone()
      for (const put of putBack) put?.()
      await rowsBack()
      await order.begin?.(one)
      return viewOf(one, (view) => standingIn(bench, view))
    },
  }
  return bench
}

/** In this process. */
const runHere = async (bench: SharedBench, step: string, fault: WayFault): Promise<Ran> => {
  let over = Promise.resolve()
  const stops = stopsAt(bench, step, async () => { over = strike(bench, fault) })
  const held = step === writeWaits ? whileHeld(stops) : null
  const ran = await bench.world.run(bench.order.argv(bench.world), {
    ...optionsOf(bench), clock: withoutPause, at: stops.at,
  })
  await held?.end()
  await over
  stops.requireDone(ran)
  return ran
}

/** In a process that waits at the step until it has begun to happen. */
const runWaiting = async (bench: SharedBench, step: string, fault: WayFault): Promise<Ran> => {
  const { order, world: { place } } = bench
  const goFile = place.path('go')
  rmSync(goFile, { force: true })
  let over = Promise.resolve()
  const stops = stopsAt(bench, step, async () => { over = strike(bench, fault) })
  const ran = await place.spawn(order.argv(bench.world), {
    entry: 'test', coverage: false, ...(order.stdin === undefined ? {} : { stdin: order.stdin }),
    env: {
      ...envOf(fault), TEST_STOP_AT: `${order.steps}.${step}`, TEST_STOP_DO: 'wait',
      TEST_GO_FILE: goFile,
    },
    onChild: (child) => child.stderr?.on('data', (bytes: Buffer) => {
      if (!bytes.includes('stopped at')) return
      void stops.now()
      writeFileSync(goFile, '')
    }),
  })
  await over
  stops.requireDone(ran)
  return ran
}

const run = (bench: SharedBench, step: string, fault: Fault): Promise<Ran> => {
  if (fault === 'killed') return runApart(bench, step, 'kill')
  // What is no step of the program is a moment of this process.
  const isStep = /^[a-z_0-9#]+$/.test(step)
  return (bench.apart && isStep ? runWaiting : runHere)(bench, step, fault)
}

/** How an order ended, and every rule that was broken. */
export interface Left {
  readonly ran: Ran
  readonly outcome: Outcome
  /** Where it ended when a person went on; undefined where nobody did. */
  readonly goesOn: string | undefined
  readonly broken: readonly string[]
}

const usual = {
  sent: ['settled', 'done', 'unknown'],
  unsent: ['nothing held', 'released', 'cancelled', 'failed', 'unknown'],
} as const satisfies SharedOrder['ends']

const mayEnd = ({ ends = usual }: SharedOrder, { end, requests }: Outcome): boolean =>
  ends[requests === 0 ? 'unsent' : 'sent'].includes(end)

/** Every row that there is, but those that tests alone have. */
const books = (await stateRules()).collections
const booksOf = (view: View): string =>
  JSON.stringify(books.map((collection) => view.all(collection)))

const livingLeases = async ({ server }: SharedBench): Promise<string> =>
  (await server.query<{ name: string }>(
    'select name from sallyport.leases where ends > clock_timestamp()',
  )).map(({ name }) => name).join()

const outcomeOf = (bench: SharedBench, world: Pick<Placed, 'place'>, before: Standing): Outcome =>
  viewOf(world, (view) => {
    const after = standingIn(bench, view)
    const end = endIn(bench.order, view, before, after)
    return {
      end, kept: end === 'settled' ? after.kept > before.kept : null,
      requests: after.requests - before.requests,
    }
  })

/** Bodies that were sent more than once since so many requests had been counted. */
const twice = ({ world, order }: SharedBench, since: number): readonly string[] => {
  const sent = world.sandbox.log.all().filter(order.counts ?? isNoBill).slice(since)
    .map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  return sent.filter((one, at) => sent.indexOf(one) !== at)
}

/** The other machine opens the state to write, as a program with that capability would. */
const otherWrites = async ({ two, order: { own } }: SharedBench): Promise<void> => {
  if (own === undefined) return void must(await two.run(['goal', 'add', 'behind it']))
  await looking({ world: two }, 'write', async (store) => {
    await store.fresh()
    await recoverState(
      { store, clock: systemClock, observer: silentObserver, face: 'cli' }, own.registry)
  })
}

/** Runs one cell. */
export const leftAt = async (bench: SharedBench, step: string, fault: Fault): Promise<Left> => {
  const before = await bench.restore()
  const { one, two, order } = bench
  const broken: string[] = []
  const say = (ok: boolean, text: string): void => void (ok || broken.push(text))
  const ran = await run(bench, step, fault)
  if (fault === 'killed') await endLeases(bench)
  else {
    // One that was got while nobody was there to hear of it goes with the next look.
    await looking(bench, 'write', (store) => store.fresh())
    await until('no lease is left', async () => await livingLeases(bench) === '')
  }
  await otherWrites(bench)
  await looking(bench, 'write', (store) => store.fresh())
  const [outcome, there] = [one, two].map((at) => outcomeOf(bench, at, before))
  if (outcome === undefined) throw new Error('there are two')
  const { end, requests } = outcome
  say(requests <= (order.sends ?? 1), `${requests} requests`)
  say(mayEnd(order, outcome), `${requests} sent and ${end}`)
  say(JSON.stringify(outcome) === JSON.stringify(there), `elsewhere it is ${there?.end}`)
  const answered = end === 'settled' ? outcome.kept === true : end === 'done'
  // The line of tests says what came of it, and so ends well each time.
  say(ran.status !== 0 || answered || order.own !== undefined, `an answer, and ${end}`)
  if (fault === 'killed' && order.ends === undefined) {
    const wanted = JSON.stringify(expected(order, step, 'kill'))
    say(JSON.stringify(outcome) === wanted, `${JSON.stringify(outcome)} in place of ${wanted}`)
  }
  await sayWhole(bench, say)
  await order.again?.(two)
  const goesOn = await order.goOn?.(one)
  if (goesOn !== undefined) await sayWhole(bench, say)
  const sent = viewOf(one, (view) => standingIn(bench, view)).requests - before.requests
  say(goesOn !== undefined || sent === requests, `asked again it is sent ${sent} times`)
  say(twice(bench, before.requests).length === 0, 'the same was sent twice')
  return { ran, outcome, goesOn, broken }
}

/** The two machines know the same, and all of it is sound. */
const sayWhole = async (
  bench: SharedBench, say: (ok: boolean, text: string) => void,
): Promise<void> => {
  const { one, two } = bench
  for (const world of [one, two]) await looking({ world }, 'write', (store) => store.fresh())
  say(viewOf(one, booksOf) === viewOf(two, booksOf), 'the books differ')
  for (const { place: { stateDir: dir, configDir } } of [one, two]) {
    const site = {
      dir, configDir, waitMs: 0, clock: systemClock, observer: silentObserver, face: 'cli',
    } as const
    const { ok, problems } = await checkWhole(site, bench.order.own?.registry)
    say(ok, `state check: ${JSON.stringify(problems)}`)
  }
}
