/**
 * Asks and gateway proofs of several real processes at once: one outstanding ask for each owner,
 * one request at a time to the outside over both services, the higher priority first, and a dead
 * holder in nobody's way.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { acquireLane, type LanePriority } from '../../src/state/holds/lane.js'
import { collections } from '../../src/governance/rows.js'
import type { SandboxHooks, SeenRequest } from '../../src/sandbox/types.js'
import { laneWaiters, liveIn } from '../support/lanes.js'
import { checkLedger, recover } from '../support/ledger.js'
import { timeOf } from '../support/speed.js'
import { question } from '../world/alpha.js'
import type { Ran } from '../world/place.js'
import { sessionOf } from '../world/session.js'
import { World, type AlphaWorld, type RoutesWorld } from '../world/world.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'

interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
}

const deferred = <T>(): Deferred<T> => {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((done) => { resolve = done })
  return { promise, resolve }
}

/** A door in front of the outside world: requests wait behind it until it is opened. */
interface Door {
  readonly hooks: SandboxHooks
  /** Resolves with the first request that stands before it. */
  readonly arrived: Promise<SeenRequest>
  open(): void
}

const makeDoor = (): Door => {
  const opened = deferred<void>()
  const first = deferred<SeenRequest>()
  return {
    hooks: {
      onRequest: async (_service, request) => {
        first.resolve(request)
        await opened.promise
      },
    },
    arrived: first.promise,
    open: () => opened.resolve(),
  }
}

const untilWaiting = (rig: AlphaWorld, priority: LanePriority, count: number): Promise<void> =>
  until(`${count} waiting with priority ${priority}`,
    () => laneWaiters(rig.place.stateDir)[priority] === count)

interface SpawnAsk {
  readonly session?: string
  readonly key?: string
  /** More flags. */
  readonly flags?: readonly string[]
  readonly onChild?: (child: ChildProcess) => void
}

/** An ask of a process of its own. */
const spawnAsk = (
  rig: AlphaWorld, { session, key = randomUUID(), flags = [], onChild }: SpawnAsk = {},
): Promise<Ran> =>
  rig.place.spawn(['alpha', 'ask', '-', '--json', '--idempotency-key', key, ...flags], {
    stdin: question, coverage: false,
    ...(session === undefined ? {} : { env: { SALLYPORT_SESSION: session } }),
    ...(onChild === undefined ? {} : { onChild }),
  })

/** Adds an owner; gives the session token. */
const addOwner = async (rig: AlphaWorld, name: string): Promise<string> => {
  const file = rig.place.path(`${name}-passphrase`)
  writeFileSync(file, `the passphrase of ${name}`)
  const token = rig.place.path(`${name}-token`)
  for (const argv of [
    ['principal', 'add', name, '--passphrase-file', file],
    ['login', '--owner', name, '--passphrase-file', file, '--token-file', token],
  ]) {
    const ran = await rig.run(argv)
    if (ran.status !== 0) throw new Error(ran.stderr)
  }
  const session = readFileSync(token, 'utf8').trim()
  const acknowledged = await rig.run(
    ['alpha', 'acknowledge', '--acknowledge-plaintext-egress'],
    { env: { SALLYPORT_SESSION: session } },
  )
  if (acknowledged.status !== 0) throw new Error(acknowledged.stderr)
  return session
}

const tasksOf = (rig: AlphaWorld): number => {
  const view = rig.view()
  return view.all(collections.openTasks).length + view.all(collections.closedTasks).length
}

t.test('A-196 a second ask of the same owner is refused while one is outstanding', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session().alpha()
  const first = spawnAsk(rig)
  await door.arrived
  const seconds = await Promise.all([spawnAsk(rig), spawnAsk(rig)])
  for (const second of seconds) {
    t.equal(second.status, 5, second.stderr)
    t.equal(second.error().status, 409)
    t.equal(second.stdout, '')
  }
  t.equal(rig.inferences().length, 1, 'no second request')
  door.open()
  const ran = await first
  t.equal(ran.status, 0, ran.stderr)
  t.equal(rig.inferences().length, 1)
  t.equal(tasksOf(rig), 1, 'a refused ask leaves no task')
  checkLedger(t, rig)
  t.equal((await rig.ask()).status, 0, 'afterwards the owner asks again')
})

/** An owner's line of waiters, and how many are alive in it. */
const untilInLine = async (rig: AlphaWorld, count: number): Promise<void> => {
  const owner = sessionOf(rig).principal.principal_id
  const folder = join(rig.place.stateDir, 'run', 'turn', owner)
  await until(`${count} in line`, () => liveIn(folder) === count)
}

const reserved = (rig: AlphaWorld): number =>
  rig.view().all(collections.ledgerRows).filter(({ doc }) => doc.kind === 'reserve').length

const keysInOrder = (rig: AlphaWorld): readonly string[] => {
  const view = rig.view()
  return [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
    .sort((one, other) => (one.id < other.id ? -1 : 1)).map(({ doc }) => doc.idempotency_key)
}

t.test('A-193 A-196 with --wait-turn asks of one owner run as they came, and hold nothing until it is their turn', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session().alpha()
  const keys = [randomUUID(), randomUUID(), randomUUID()] as const
  const first = spawnAsk(rig, { key: keys[0] })
  await door.arrived
  const second = spawnAsk(rig, { key: keys[1], flags: ['--wait-turn', '60'] })
  await untilInLine(rig, 1)
  const third = spawnAsk(rig, { key: keys[2], flags: ['--wait-turn', '60'] })
  await untilInLine(rig, 2)
  const refused = await spawnAsk(rig)
  t.equal(refused.status, 5, 'whoever does not wait is refused')
  t.notMatch(refused.stderr, /task cancel/, 'what may be paid for is not proposed to be cancelled')
  t.match(refused.stderr, /--wait-turn/)
  t.equal(tasksOf(rig), 1)
  t.equal(reserved(rig), 1, 'nothing is held for a waiter')
  await new Promise((resolve) => { setTimeout(resolve, 1_500) })
  door.open()
  for (const ran of await Promise.all([first, second, third])) t.equal(ran.status, 0, ran.stderr)
  t.strictSame(keysInOrder(rig), keys)
  t.equal(rig.inferences().length, 3)
  const { doc: last } = rig.view().all(collections.closedTasks)
    .find(({ doc }) => doc.idempotency_key === keys[2]) ?? { doc: undefined }
  const left = Date.parse(last?.deadline_at ?? '') - Date.parse(last?.created_at ?? '')
  t.ok(left > 0 && left <= 118_600, `${left} ms of 120 s are left to one that waited`)
  await untilInLine(rig, 0)
  checkLedger(t, rig)
})

t.test('A-193 A-196 a wait that ends, is interrupted or killed leaves no task and nobody in the way', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session().alpha()
  const first = spawnAsk(rig)
  await door.arrived
  const flags = ['--wait-turn', '60']
  const waiting = async (signal: NodeJS.Signals): Promise<Ran> => {
    let child: ChildProcess | undefined
    const ran = spawnAsk(rig, { flags, onChild: (one) => { child = one } })
    await untilInLine(rig, 1)
    child?.kill(signal)
    return ran
  }
  t.equal((await waiting('SIGINT')).status, 130)
  await untilInLine(rig, 0)
  await waiting('SIGKILL')
  const patient = spawnAsk(rig, { flags })
  await untilInLine(rig, 1)
  const short = await spawnAsk(rig, { flags: ['--wait-turn', '1'] })
  t.strictSame([short.status, short.error().code], [5, 'operation_outstanding'])
  t.equal(tasksOf(rig), 1)
  door.open()
  for (const ran of await Promise.all([first, patient])) t.equal(ran.status, 0, ran.stderr)
  t.equal(tasksOf(rig), 2)
  checkLedger(t, rig)
})

t.test('A-196 whoever waits behind an ask whose process is killed is next, and pays from what is left', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session()
    .alpha({ money: { boundMicrousd: 50_000, ceilingMicrousd: 100_000 } })
  let child: ChildProcess | undefined
  const first = spawnAsk(rig, { onChild: (one) => { child = one } })
  await door.arrived
  const patient = spawnAsk(rig, { flags: ['--wait-turn', '60'] })
  await untilInLine(rig, 1)
  child?.kill('SIGKILL')
  await first
  door.open()
  const ran = await patient
  t.equal(ran.status, 0, ran.stderr)
  t.equal(tasksOf(rig), 2)
  t.equal(checkLedger(t, rig)?.unknown_microusd, 50_000, 'what the killed one may have spent')
})

t.test('whoever waits is not refused for money that only the ask before holds, and is where it stays spent', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session()
    .alpha({ money: { boundMicrousd: 60_000, ceilingMicrousd: 100_000 } })
  let child: ChildProcess | undefined
  const first = spawnAsk(rig, { onChild: (one) => { child = one } })
  await door.arrived
  const short = await spawnAsk(rig, { flags: ['--wait-turn', '1'] })
  t.strictSame([short.status, short.error().code], [5, 'operation_outstanding'],
    'whose wait is over is told of the other ask')
  const [patient, other] = [1, 2].map(() => spawnAsk(rig, { flags: ['--wait-turn', '60'] }))
  await untilInLine(rig, 2)
  child?.kill('SIGKILL')
  await first
  door.open()
  for (const ran of await Promise.all([patient, other])) {
    t.strictSame([ran?.status, ran?.error().code], [8, 'ceiling_exceeded'])
  }
  t.equal(rig.inferences().length, 1, 'the bound of the killed one is held')
  t.equal(tasksOf(rig), 1)
  checkLedger(t, rig)
})

t.test('A-186 a waiter whose key another one has asked meanwhile finds that task at once', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session().alpha()
  const other = await addOwner(rig, 'other')
  const key = randomUUID()
  const first = spawnAsk(rig)
  await door.arrived
  const flags = ['--wait-turn', '60']
  const waiters = [spawnAsk(rig, { key, flags }), spawnAsk(rig, { key, flags })]
  await untilInLine(rig, 2)
  door.open()
  const statuses = (await Promise.all(waiters)).map(({ status }) => status)
  t.ok(statuses.includes(0) && statuses.every((one) => one === 0 || one === 5), statuses.join())
  t.equal((await first).status, 0)
  t.equal(tasksOf(rig), 2)
  t.equal(rig.inferences().length, 2, 'one request for the key')
  t.equal((await spawnAsk(rig, { session: other, flags })).status, 0, 'a line is of one owner')
})

t.test('A-186 A-026 one key at once from several processes is one task and one request', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session().alpha()
  const key = randomUUID()
  const asks = [spawnAsk(rig, { key }), spawnAsk(rig, { key }), spawnAsk(rig, { key })]
  await door.arrived
  // Two of them end while the one that was admitted is held at the provider.
  const ended: Ran[] = []
  for (const one of asks) void one.then((ran) => ended.push(ran))
  await until('two are refused', () => ended.length === 2)
  t.strictSame(ended.map(({ status }) => status), [5, 5])
  door.open()
  const statuses = (await Promise.all(asks)).map(({ status }) => status).sort()
  t.strictSame(statuses, [0, 5, 5])
  t.equal(rig.inferences().length, 1)
  t.equal(tasksOf(rig), 1)
  const reserves = rig.view().all(collections.ledgerRows)
    .filter(({ doc }) => doc.kind === 'reserve')
  t.equal(reserves.length, 1)
  const replay = await spawnAsk(rig, { key })
  t.equal(replay.status, 0, replay.stderr)
  t.equal(rig.inferences().length, 1, 'later the key reads the answer back')
})

t.test('A-197 A-196 two owners at once are served one after the other', async (t) => {
  const rig = await World.in(t)
    .sandbox({ hooks: { onRequest: () => new Promise((resolve) => setTimeout(resolve, 100)) } })
    .state().session().alpha()
  const session = await addOwner(rig, 'other')
  const both = await Promise.all([spawnAsk(rig), spawnAsk(rig, { session })])
  t.strictSame(both.map(({ status }) => status), [0, 0], both.map(({ stderr }) => stderr).join())
  t.equal(rig.inferences().length, 2)
  t.equal(rig.sandbox.log.maxConcurrent(), 1, 'never two open together')
  t.strictSame(rig.sandbox.log.violations(), [])
  const [a, b] = both.map((ran) => ran.json().task.id)
  t.not(a, b)
  const account = checkLedger(t, rig)
  t.equal(account?.held_microusd, 0)
})

/** The services in the order in which they were asked for a completion. */
const order = (rig: AlphaWorld): string[] =>
  rig.sandbox.log.all({ route: 'completion' }).map(({ service }) => service)

const prove = (rig: RoutesWorld, slot: string): Promise<Ran> =>
  rig.place.spawn(['gateway', 'prove', slot, '--json'], { coverage: false })

t.test('A-197 A-198 asks pass the proofs that waited before them, and the peak is one', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session().alpha().gateway()
  const sessions = [await addOwner(rig, 'second'), await addOwner(rig, 'third')]
  const holder = prove(rig, 'chat')
  await door.arrived
  const proofs = [prove(rig, 'report'), prove(rig, 'screenshot')]
  await until('the proofs wait', () => {
    const { high, normal } = laneWaiters(rig.place.stateDir)
    return high + normal === 2
  })
  const asks = [spawnAsk(rig), ...sessions.map((session) => spawnAsk(rig, { session }))]
  await untilWaiting(rig, 'interactive', 3)
  t.strictSame(order(rig), ['gateway'], 'everybody else waits')
  door.open()
  for (const ran of await Promise.all([holder, ...proofs, ...asks])) {
    t.equal(ran.status, 0, ran.stderr)
  }
  t.strictSame(order(rig), [
    'gateway', 'provider', 'provider', 'provider', 'gateway', 'gateway',
  ], 'every ask before every proof that had come earlier')
  t.equal(rig.sandbox.log.maxConcurrent(), 1, 'never two open together, over both services')
  t.strictSame(rig.sandbox.log.violations(), [])
  const account = checkLedger(t, rig)
  t.equal(account?.held_microusd, 0)
  t.equal(account?.unknown_microusd, 0)
})

t.test('A-197 A-182 a holder killed at the provider frees the lane for the next', async (t) => {
  let victim: ChildProcess | null = null
  const seen = deferred<void>()
  const waiting = deferred<void>()
  const rig = await World.in(t).sandbox({
      hooks: {
        onRequest: async (_service, request) => {
          if (rig.inferences()[0] !== request) return
          seen.resolve()
          await waiting.promise
          victim?.kill('SIGKILL')
          await until('the connection of the dead ends', () => request.aborted)
        },
      },
    }).state().session().alpha()
  const session = await addOwner(rig, 'other')
  const killed = spawnAsk(rig, { onChild: (child) => { victim = child } })
  await seen.promise
  const next = spawnAsk(rig, { session })
  await untilWaiting(rig, 'interactive', 1)
  waiting.resolve()
  const [first, second] = await Promise.all([killed, next])
  t.equal(first.status, 137)
  t.equal(second.status, 0, second.stderr)
  t.equal(rig.inferences().length, 2)
  t.equal(rig.sandbox.log.maxConcurrent(), 1)
  await recover(rig)
  const account = checkLedger(t, rig)
  t.equal(account?.unknown_microusd, 50_000, 'what the dead one had sent stays owed')
  t.equal(account?.held_microusd, 0)
  t.equal(rig.inferences().length, 2, 'and is not sent again')
})

t.test('A-197 a killed waiter is in nobody\'s way', async (t) => {
  const door = makeDoor()
  const rig = await World.in(t).sandbox({ hooks: door.hooks }).state().session().alpha()
  const [second, third] = [await addOwner(rig, 'second'), await addOwner(rig, 'third')]
  const holder = spawnAsk(rig)
  await door.arrived
  let victim: ChildProcess | null = null
  const waiter = spawnAsk(rig, { session: second, onChild: (child) => { victim = child } })
  await untilWaiting(rig, 'interactive', 1)
  const behind = spawnAsk(rig, { session: third })
  await untilWaiting(rig, 'interactive', 2)
  ;(victim as ChildProcess | null)?.kill('SIGKILL')
  t.equal((await waiter).status, 137)
  door.open()
  t.equal((await holder).status, 0)
  const ran = await behind
  t.equal(ran.status, 0, ran.stderr)
  t.equal(rig.inferences().length, 2, 'the dead one never sent anything')
  const account = checkLedger(t, rig)
  t.equal(account?.unknown_microusd, 0)
})

/** A clock that can be moved on; its sleeps are real. */
const movedClock = (): Clock & { skip(ms: number): void } => {
  let skipped = 0
  return {
    wallMs: () => systemClock.wallMs() + skipped,
    monotonicMs: () => systemClock.monotonicMs() + skipped,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    skip: (ms) => void (skipped += ms),
  }
}

/** Asks with the lane held until the ask waits and so much of its 120 seconds has gone by. */
const askAfterWaiting = async (t: Test, rig: AlphaWorld, waitedMs: number): Promise<Ran> => {
  const lane = await acquireLane({
    dir: rig.place.stateDir, priority: 'interactive', clock: systemClock,
    deadlineMs: systemClock.monotonicMs() + 60_000,
  })
  t.teardown(() => lane.release())
  const clock = movedClock()
  const asking = rig.ask({ clock })
  await untilWaiting(rig, 'interactive', 1)
  clock.skip(waitedMs)
  lane.release()
  return asking
}

t.test('A-193 A-194 an ask has left what its wait in the queue has left of 120 seconds', async (t) => {
  await t.test('with twelve seconds left a hanging inference ends long before its 20', async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set('hang_before_headers')
    const started = performance.now()
    const ran = await askAfterWaiting(t, rig, 108_000)
    t.equal(ran.status, 7, ran.stderr)
    t.equal(rig.inferences().length, 1)
    t.ok(performance.now() - started < 12_000 + timeOf(100))
    t.equal(checkLedger(t, rig)?.unknown_microusd, 50_000)
  })

  await t.test('with less than a second left nothing is sent', async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const ran = await askAfterWaiting(t, rig, 119_500)
    t.equal(ran.status, 11, ran.stderr)
    t.equal(rig.inferences().length, 0)
    t.equal(checkLedger(t, rig)?.held_microusd, 0)
  })

  await t.test('with nothing left it ends in the queue', async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const ran = await askAfterWaiting(t, rig, 121_000)
    t.equal(ran.status, 11, ran.stderr)
    t.equal(rig.inferences().length, 0)
    t.equal(checkLedger(t, rig)?.held_microusd, 0)
  })
})

t.test('A-140 A-194 billing ends with the operation, not with its own 15 seconds', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.reply({ delayMs: 60_000, body: '{}' }, { route: 'billing' })
  const clock = movedClock()
  let repliedMs = Number.NaN
  const ran = await rig.ask({
    clock,
    at: (step) => {
      if (step !== 'ask.replied') return
      clock.skip(117_000)
      repliedMs = performance.now()
    },
  })
  t.equal(ran.status, 7, ran.stderr)
  t.ok(performance.now() - repliedMs < 3_000 + timeOf(150), 'all within what was left')
  t.ok(rig.billings().length <= 2)
  t.equal(checkLedger(t, rig)?.unknown_microusd, 50_000)
})
