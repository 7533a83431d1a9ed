/** One cell of the table: an order that is interrupted at one step, and what is left of it. */
import type { ChildProcess } from 'node:child_process'
import { alphaLimits } from '../../../src/alpha/constants.js'
import { systemClock, type Clock } from '../../../src/base/clock.js'
import { silentObserver } from '../../../src/base/observer.js'
import { recoverState } from '../../../src/fabric/recovery.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { collections, type Reservation, type Task } from '../../../src/governance/rows.js'
import type { SeenRequest } from '../../../src/sandbox/types.js'
import { openStore } from '../../../src/state/store.js'
import type { Store, View } from '../../../src/state/types.js'
import { keptFolders } from '../../support/kept-folders.js'
import { must } from '../../support/must.js'
import { holdWrites } from '../../support/net/held-writes.js'
import { until } from '../../support/until.js'
import type { Ran, Teardown } from '../../world/place.js'
import type { StateOptions } from '../../world/state.js'
import type { Placed } from '../../world/world.js'
import { newestTaskOf, type OrderWorld, type Outskirts, type TableOrder } from './orders.js'
import {
  atHost, billAtHost, endings, secondBillAtHost, writeWaits, type Interrupt, type Outcome,
} from './rule.js'

/** A world of an order, and what happens outside when a request has reached it. */
export interface Stage {
  readonly order: TableOrder
  readonly world: OrderWorld
  readonly outskirts: { at: Outskirts['at'] }
}

/** A world of an order that is put back as it was before each cell. */
export interface Bench extends Stage {
  /** Puts every file of the deployment back; gives what stands then. */
  restore(): Standing
}

/** Makes the world of an order; `state`: how its state is made. */
export const stageOf = async (
  t: Teardown, order: TableOrder, state?: StateOptions,
): Promise<Stage> => {
  const outskirts: { at: Outskirts['at'] } = { at: async () => undefined }
  const world = await order.world(t, { at: (request) => outskirts.at(request) }, state)
  if (order.fault !== undefined) world.sandbox.faults.set(order.fault)
  return { order, world, outskirts }
}

/** The same, with a second owner who may stay when the first one is disabled. */
export const benchOf = async (t: Teardown, order: TableOrder): Promise<Bench> => {
  const stage = await stageOf(t, order)
  const { place, run } = stage.world
  place.write('passphrase', 'another person')
  must(await run(['principal', 'add', 'other', '--passphrase-file', place.path('passphrase')]))
  const putBack = keptFolders(place)
  let before: Standing | undefined
  const bench: Bench = {
    ...stage,
    restore: () => {
      putBack()
      before ??= standingOf(bench)
      return { ...before, requests: requestsOf(bench) }
    },
  }
  return bench
}

/** Looks into the state of the order's world as the next command would find it. */
export const looking = <T>(
  { world: { place } }: { readonly world: Pick<Placed, 'place'> }, mode: 'read' | 'write',
  look: (store: Store) => T,
): T => {
  const { stateDir: dir, configDir } = place
  const store = openStore({ dir, configDir, mode })
  const close = (): void => store.close()
  const answer = look(store)
  if (answer instanceof Promise) return answer.finally(close) as T
  close()
  return answer
}

const newestTask = (bench: Stage): Task =>
  looking(bench, 'read', (store) => newestTaskOf(store.read()))

/** What others do, each by a command of its own in this process. */
const others = (bench: Stage): Partial<Record<Interrupt, () => Promise<unknown>>> => {
  const { world: { run }, order } = bench
  return {
    revoke: () => must(run(['policy', 'revoke'])),
    'owner disabled': () => must(run(['principal', 'disable', 'owner', '--yes'])),
    'route disabled': () => must(run([order.route ?? '', 'setup', '--disable', '--void-answers'])),
    'another key': async () => {
      const { place } = bench.world
      const route = order.route ?? ''
      const { policy_revision: revision } = must(await run([route, 'show', '--json'])).json()
      return must(run([
        route, 'setup', '--void-answers', '--api-key-file',
        place.write('another-key', 'ANOTHER-KEY-0123456789\n'), route === 'alpha'
          ? '--acknowledge-plaintext-egress' : '--acknowledge-cloud-egress',
        '--expected-policy-revision', String(revision),
      ]))
    },
    'switched off': () => must(run(['shots', 'config', 'set', '--cloud-upload', 'off'])),
    'cap lowered': async () => {
      const { route } = order
      if (route === null) throw new Error('what costs nothing has no cap')
      const shown = must(await run([route, 'show', '--json'])).json()
      // A cap that an order has room under stops nothing: no order may cost more than its bound.
      const bound = route === 'alpha' ? ['--request-cost-bound-microusd', '500'] : []
      return must(run([
        route, 'setup', '--spend-ceiling-microusd', '1000', ...bound,
        route === 'alpha' ? '--acknowledge-plaintext-egress' : '--acknowledge-cloud-egress',
        '--expected-policy-revision', String(shown.policy_revision),
      ]))
    },
    'session ended': () => must(run(['logout'])),
    'goal changed': () => must(run([
      'goal', 'update', newestTask(bench).goal_id, '--title', 'Another aim',
    ])),
    'goal closed': () => must(run(['goal', 'close', newestTask(bench).goal_id])),
    'taken over': async () => {
      must(await run(['login', '--replace', '--owner', 'owner']))
      must(await run(['task', 'recover', newestTask(bench).task_id]))
    },
  }
}

/** The moment in which a host has a request, by name. */
const nameAtHost = ({ route, attempt }: SeenRequest): string => {
  if (route !== 'billing') return atHost
  return attempt === 1 ? billAtHost : secondBillAtHost
}

/** Calls back at the step, once; at the host the reply waits for it. */
export interface Stops {
  at(step: string): Promise<void>
  /** At a moment that no step and no host tells. */
  now(): Promise<void>
  /** Throws what the callback threw: in the order itself it would only look like another end. */
  requireDone(ran: Ran): void
}

/** Lets something happen at a step of the order; `step#n`: at its n-th announcement. */
export const stopsAt = (
  bench: Stage, step: string, happens: () => Promise<unknown>,
): Stops => {
  const [word, number = '1'] = step.split('#')
  let seen = 0
  let done = false
  let failure: Error | null = null
  const once = async (): Promise<void> => {
    if (done) return
    done = true
    await happens().catch((error: Error) => { failure = error })
  }
  bench.outskirts.at = async (request) => {
    if (step === nameAtHost(request)) await once()
  }
  return {
    at: async (name) => {
      if (name === `${bench.order.steps}.${word}` && (seen += 1) === Number(number)) await once()
    },
    now: once,
    requireDone: ({ status, stderr }) => {
      if (failure !== null) throw failure
      if (!done) throw new Error(`the order did not come to ${step}: ${status}, ${stderr}`)
    },
  }
}

const stdinOf = ({ order: { stdin } }: Stage) => (stdin === undefined ? {} : { stdin })

/** How the line of the order is run in this process. */
export const optionsOf = (bench: Stage) => {
  const { own } = bench.order
  return { ...stdinOf(bench), ...(own === undefined ? {} : { commands: own.commands }) }
}

/** Nobody waits for the pause before a second bill. */
export const withoutPause: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === alphaLimits.billingPauseMs ? 0 : ms, signal),
}

/** The whole operation's time and more, milliseconds. */
const tooLateMs = 130_000

/** Interrupts whose process lives: the order and what interrupts it share this one. */
const runHere = async (bench: Stage, step: string, interrupt: Interrupt): Promise<Ran> => {
  const stop = new AbortController()
  let late = 0
  const happens = others(bench)[interrupt] ?? (async () => {
    if (interrupt === 'signal') stop.abort()
    else if (interrupt === 'deadline') late = tooLateMs
    else throw new Error(`nothing is known of ${interrupt}`)
  })
  const clock = {
    ...withoutPause,
    monotonicMs: () => systemClock.monotonicMs() + late, wallMs: () => systemClock.wallMs() + late,
  }
  const stops = stopsAt(bench, step, happens)
  const held = step === writeWaits ? whileHeld(stops) : null
  const ran = await bench.world.run(bench.order.argv(bench.world), {
    ...optionsOf(bench), stop: stop.signal, clock, at: stops.at,
  })
  await held?.end()
  stops.requireDone(ran)
  return ran
}

/** Holds the first write of the order back until it has happened. */
export const whileHeld = (stops: Stops): { end(): Promise<void> } => {
  let undo = (): void => undefined
  let isOver = false
  const writes = holdWrites({ teardown: (done) => { undo = done } })
  const happening = until('the first byte waits', () => isOver || writes.begun() > 0)
    .then(() => stops.now()).finally(() => writes.go())
  return {
    end: async () => {
      isOver = true
      await happening
      undo()
    },
  }
}

const signalTwice = (child: ChildProcess): void => {
  // Two of one kind that come at once are one to the kernel.
  child.kill('SIGINT')
  child.kill('SIGTERM')
}

/** Interrupts that end the process: a real one. */
export const runApart = async (bench: Stage, step: string, interrupt: Interrupt): Promise<Ran> => {
  const { place } = bench.world
  let child: ChildProcess | null = null
  let gone: Promise<unknown> = Promise.resolve()
  stopsAt(bench, step, async () => {
    if (child === null) throw new Error('nobody runs')
    if (interrupt === 'kill') child.kill('SIGKILL')
    else signalTwice(child)
    await gone
  })
  const { steps, own } = bench.order
  const stop = {
    TEST_STOP_AT: `${steps}.${step}`, ...(own === undefined ? {} : { TEST_COMMANDS: own.name }),
  }
  return place.spawn(bench.order.argv(bench.world), {
    ...stdinOf(bench), entry: 'test', coverage: false,
    env: { ...stop, ...(interrupt === 'kill' ? {} : { TEST_STOP_DO: 'insist' }) },
    onChild: (one) => {
      child = one
      gone = new Promise((resolve) => one.once('exit', resolve))
      one.stderr?.on('data', (chunk: Buffer) => {
        if (chunk.includes('stopped at')) signalTwice(one)
      })
    },
  })
}

const reservationsOf = (view: View): Map<string, Reservation> =>
  new Map([...view.all(collections.openReservations), ...view.all(collections.closedReservations)]
    .map(({ id, doc }) => [id, doc]))

/** What a state has of money and results, and what reached hosts. */
export interface Standing {
  readonly reservations: Map<string, Reservation>
  readonly kept: number
  readonly requests: number
}

/** Whether a request is one that must not be sent twice, where an order says nothing else. */
export const isNoBill = ({ route }: SeenRequest): boolean => route !== 'billing'

const requestsOf = ({ world, order }: Stage): number =>
  world.sandbox.log.all().filter(order.counts ?? isNoBill).length

/** What a view has, and what reached hosts until now. Throws where the ledger is wrong. */
export const standingIn = (bench: Stage, view: View): Standing => {
  const wrong = verifyLedger(view)
  if (wrong.length > 0) throw new Error(`the ledger does not balance: ${JSON.stringify(wrong)}`)
  return {
    reservations: reservationsOf(view), kept: bench.order.kept(view),
    requests: requestsOf(bench),
  }
}

const standingOf = (bench: Stage): Standing =>
  looking(bench, 'read', (store) => standingIn(bench, store.read()))

const moneyOf = (before: Standing, after: Standing): Outcome['end'] => {
  const states = [...after.reservations].filter(([id]) => !before.reservations.has(id))
    .map(([, { state }]) => state)
  if (states.length > 1) throw new Error(`one order held money ${states.length} times`)
  const [state = 'nothing held'] = states
  return state === 'reserved' || state === 'contacted' ? 'held' : state
}

/** How an order ended, in a view behind which it stands so. */
export const endIn = (
  order: TableOrder, view: View, before: Standing, after: Standing,
): Outcome['end'] => {
  const money = moneyOf(before, after)
  if (order.end === undefined) return money
  if (money !== 'nothing held') throw new Error('an order without money held some')
  return order.end(view)
}

/** A cell as it was seen. */
export interface Seen {
  readonly outcome: Outcome
  readonly ran: Ran
}

/** Runs one cell. Leftovers of an ended process are resolved as the next command would. */
export const seen = async (bench: Bench, step: string, interrupt: Interrupt): Promise<Seen> => {
  const before = bench.restore()
  const ends = endings.includes(interrupt)
  const ran = await (ends ? runApart : runHere)(bench, step, interrupt)
  if (ends) {
    await looking(bench, 'write', (store) =>
      recoverState(
        { store, clock: systemClock, observer: silentObserver, face: 'cli' },
        bench.order.own?.registry,
      ))
  }
  const after = standingOf(bench)
  const end = looking(bench, 'read', (store) => endIn(bench.order, store.read(), before, after))
  return {
    ran,
    outcome: {
      end, kept: end === 'settled' ? after.kept > before.kept : null,
      requests: after.requests - before.requests,
    },
  }
}

/** The steps of an order that nobody interrupts, from its claim to its closing record. */
export const stepsOf = async (
  bench: Stage & { restore(): unknown },
): Promise<readonly string[]> => {
  await bench.restore()
  const steps: string[] = []
  const { order } = bench
  bench.outskirts.at = async (request) => void steps.push(nameAtHost(request))
  must(await bench.world.run(order.argv(bench.world), {
    ...optionsOf(bench),
    at: (name) => {
      const [first, ...rest] = name.split('.')
      if (first === order.steps) steps.push(rest.join('.'))
    },
  }))
  const first = order.from === undefined ? ['claimed', 'admitted'] : [order.from]
  const begin = steps.findIndex((step) => first.includes(step))
  const finished = steps.indexOf('finished')
  if (begin < 0 || finished < 0) throw new Error(`not an order's steps: ${steps.join(', ')}`)
  return steps.slice(begin, finished + 1)
}
