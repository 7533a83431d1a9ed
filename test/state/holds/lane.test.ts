import { existsSync, readdirSync, readFileSync, writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock, type Clock } from '../../../src/base/clock.js'
import { SallyportError } from '../../../src/base/errors.js'
import {
  acquireLane, laneHoldMsMax, lanePriorities, type Lane, type LanePriority,
} from '../../../src/state/holds/lane.js'
import { tryHoldFile } from '../../../src/state/holds/kernel-file.js'
import { chanceOf } from '../../support/chance.js'
import { startChild, type Child } from '../../support/children.js'
import { laneWaiters } from '../../support/lanes.js'
import { temporaryFolder, type Teardown } from '../../world/place.js'
import { until } from '../../support/until.js'

const longMs = 60_000

const take = (
  dir: string, priority: LanePriority, forMs = longMs, signal?: AbortSignal,
): Promise<Lane> =>
  acquireLane({
    dir, priority, deadlineMs: systemClock.monotonicMs() + forMs, clock: systemClock, signal,
  })

const codeOf = async (taken: Promise<unknown>): Promise<string> => {
  try {
    await taken
    return 'none'
  } catch (error) {
    return error instanceof SallyportError ? `${error.kind}/${error.code}` : String(error)
  }
}

const start = (
  t: Teardown, dir: string, label: string, priority: LanePriority, rounds = 1, holdMs = 2,
): Child =>
  startChild(t, 'lane', {
    dir, log: join(dir, 'log'), label, priority, rounds, holdMs, forMs: longMs,
  })

const waiting = (dir: string): number =>
  Object.values(laneWaiters(dir)).reduce((sum, count) => sum + count, 0)

const untilWaiting = (dir: string, count: number): Promise<void> =>
  until(`${count} waiters`, () => waiting(dir) >= count)

const logOf = (dir: string): [string, string][] =>
  readFileSync(join(dir, 'log'), 'utf8').trim().split('\n')
    .map((line) => line.split(' ') as [string, string])

const places = (dir: string): string[] =>
  lanePriorities.flatMap((priority) => {
    try {
      return readdirSync(join(dir, 'run', 'lane', priority))
    } catch {
      return []
    }
  })

t.test('A-197 over many processes only one holds the lane at a time', async (t) => {
  const dir = temporaryFolder(t)
  writeFileSync(join(dir, 'log'), '')
  const mix: LanePriority[] = ['interactive', 'high', 'normal', 'normal', 'high', 'interactive']
  const children = mix.map((priority, n) => start(t, dir, `p${n}`, priority, 8))
  for (const child of children) t.equal(await child.ended(), 0)
  const log = logOf(dir)
  t.equal(log.length, mix.length * 8 * 2, 'everyone had every turn')
  const broken = log.filter(([what, label], n) =>
    what === (n % 2 === 0 ? 'leave' : 'enter') || (n % 2 === 1 && label !== log[n - 1]?.[1]))
  t.strictSame(broken, [], 'every enter is followed by its own leave')
  t.strictSame(places(dir), [], 'no waiter file is left')
})

t.test('A-198 when the lane frees the higher priority goes first', async (t) => {
  const dir = temporaryFolder(t)
  const lane = await take(dir, 'normal')
  const order: [string, LanePriority][] = [
    ['n1', 'normal'], ['n2', 'normal'], ['h1', 'high'], ['h2', 'high'], ['i1', 'interactive'],
  ]
  const children: Child[] = []
  for (const [label, priority] of order) {
    children.push(start(t, dir, label, priority))
    await untilWaiting(dir, children.length)
  }
  t.strictSame(laneWaiters(dir), { interactive: 1, high: 2, normal: 2 })
  lane.release()
  for (const child of children) t.equal(await child.ended(), 0)
  const entered = logOf(dir).filter(([what]) => what === 'enter').map(([, label]) => label)
  t.strictSame(entered, ['i1', 'h1', 'h2', 'n1', 'n2'], 'and equals in the order they came')
})

t.test('A-198 a lower priority never takes a free lane past a live waiter above it', async (t) => {
  const dir = temporaryFolder(t)
  mkdirSync(join(dir, 'run', 'lane', 'high'), { recursive: true })
  const place = tryHoldFile(join(dir, 'run', 'lane', 'high', '0000000000000001-1-00000000'))
  t.ok(place, 'a live waiter of priority high')
  t.equal(await codeOf(take(dir, 'normal', 60)), 'locked/lane_busy')
  t.equal(await codeOf(take(dir, 'high', 60)), 'locked/lane_busy', 'nor an equal that came later')
  const above = await take(dir, 'interactive')
  above.release()
  place?.remove()
  const free = await take(dir, 'normal')
  free.release()
})

t.test('A-197 a killed holder frees the lane, a live one never does', async (t) => {
  const dir = temporaryFolder(t)
  const child = start(t, dir, 'holder', 'normal', 1, longMs)
  t.equal(await child.line(), 'entered')
  t.equal(await codeOf(take(dir, 'interactive', 80)), 'locked/lane_busy', 'age frees nothing')
  const taken = take(dir, 'interactive')
  await untilWaiting(dir, 1)
  await child.kill()
  const lane = await taken
  t.equal(await codeOf(take(dir, 'interactive', 30)), 'locked/lane_busy', 'it is one holder again')
  lane.release()
  t.strictSame(places(dir), [])
})

t.test('A-198 a killed waiter holds nobody up and its place is cleared', async (t) => {
  const dir = temporaryFolder(t)
  const lane = await take(dir, 'normal')
  const child = start(t, dir, 'waiter', 'interactive')
  await untilWaiting(dir, 1)
  const taken = take(dir, 'normal')
  await untilWaiting(dir, 2)
  await child.kill()
  t.strictSame(laneWaiters(dir), { interactive: 0, high: 0, normal: 1 })
  lane.release()
  const next = await taken
  t.strictSame(places(dir), [], 'the dead place went once its lock could be had')
  next.release()
})

t.test('A-197 kills at any moment never let two in', async (t) => {
  const dir = temporaryFolder(t)
  writeFileSync(join(dir, 'log'), '')
  const moments = chanceOf('kills in the lane')
  const children = lanePriorities.flatMap((priority, n) =>
    [0, 1].map((m) => start(t, dir, `p${n}${m}`, priority, 400)))
  await Promise.all(children.slice(0, 2).map((child) => child.line()))
  for (const child of [...children].reverse()) {
    await systemClock.sleep(40 + moments.next() * 60)
    await child.kill()
  }
  const log = logOf(dir)
  t.ok(log.length > 10, 'there was traffic')
  const broken = log.filter(([what, label], n) => {
    const before = log[n - 1]
    if (what === 'leave') return before?.[0] !== 'enter' || before[1] !== label
    const isLast = log.slice(n).every(([, later]) => later !== before?.[1])
    return before?.[0] === 'enter' && !isLast
  })
  t.strictSame(broken, [], 'an enter without its leave is the last that its process wrote')
  const lane = await take(dir, 'normal')
  t.strictSame(places(dir), [], 'dead places do not pile up')
  lane.release()
})

t.test('a deadline ends the wait, leaves no place and takes nothing', async (t) => {
  const dir = temporaryFolder(t)
  t.equal(await codeOf(take(dir, 'interactive', 0)), 'locked/lane_busy', 'also when it is past')
  const lane = await take(dir, 'interactive')
  t.equal(await codeOf(take(dir, 'interactive', 40)), 'locked/lane_busy')
  t.strictSame(places(dir), [])
  lane.release()
  lane.release()
  const again = await take(dir, 'interactive')
  t.equal(await codeOf(take(dir, 'interactive', 20)), 'locked/lane_busy', 'released once')
  again.release()
})

t.test('an aborted wait rejects with the reason and leaves no place', async (t) => {
  const dir = temporaryFolder(t)
  const lane = await take(dir, 'normal')
  const abort = new AbortController()
  const taken = codeOf(take(dir, 'normal', longMs, abort.signal))
  await untilWaiting(dir, 1)
  abort.abort(new Error('stopped'))
  t.match(await taken, /stopped/)
  t.strictSame(places(dir), [])
  lane.release()
  t.match(await codeOf(take(dir, 'normal', longMs, abort.signal)), /stopped/, 'aborted before')
  const free = await take(dir, 'normal')
  free.release()
})

t.test('an uncontended lane is taken without a sleep or a place', async (t) => {
  const dir = temporaryFolder(t)
  const clock: Clock = { ...systemClock, sleep: () => Promise.reject(new Error('slept')) }
  const steps: string[] = []
  const observer = { at: (step: string) => void steps.push(step) }
  const deadlineMs = clock.monotonicMs() + longMs
  const lane = await acquireLane({ dir, priority: 'normal', deadlineMs, clock, observer })
  t.equal(lane.holdUntilMs, deadlineMs, 'the holder has until its own deadline')
  lane.release()
  const far = await acquireLane({
    dir, priority: 'high', deadlineMs: clock.monotonicMs() + 10 * laneHoldMsMax, clock, observer,
  })
  t.ok(far.holdUntilMs <= clock.monotonicMs() + laneHoldMsMax, 'and never longer than the limit')
  far.release()
  t.strictSame(steps, ['lane.taken', 'lane.taken'])
  t.strictSame(readdirSync(join(dir, 'run', 'lane')), ['holder'])
})

t.test('a wait is announced, and an observer that throws frees what was taken', async (t) => {
  const dir = temporaryFolder(t)
  const lane = await take(dir, 'normal')
  const steps: string[] = []
  const observed = (stop: string): Promise<Lane> => acquireLane({
    dir, priority: 'normal', deadlineMs: systemClock.monotonicMs() + longMs, clock: systemClock,
    observer: {
      at: (step) => {
        steps.push(step)
        if (step === stop) throw new Error(stop)
      },
    },
  })
  t.match(await codeOf(observed('lane.waiting')), /lane.waiting/)
  const taken = codeOf(observed('lane.taken'))
  await untilWaiting(dir, 1)
  lane.release()
  t.match(await taken, /lane.taken/)
  t.strictSame(steps, ['lane.waiting', 'lane.waiting', 'lane.taken'])
  const free = await take(dir, 'normal')
  free.release()
  t.strictSame(places(dir), [])
})

t.test('a lane that is free is not taken behind its deadline or for whoever gave up, nor kept for whoever gives up as it is taken', async (t) => {
  const dir = temporaryFolder(t)
  const gone = new AbortController()
  gone.abort(new Error('gone'))
  t.equal(await codeOf(take(dir, 'normal', 0)), 'locked/lane_busy')
  t.equal(await codeOf(take(dir, 'normal', longMs, gone.signal)), 'Error: gone')
  t.notOk(existsSync(join(dir, 'run')), 'nobody asked for it')
  const going = new AbortController()
  const taken = acquireLane({
    dir, priority: 'normal', deadlineMs: systemClock.monotonicMs() + longMs, clock: systemClock,
    signal: going.signal, observer: { at: async () => going.abort(new Error('gone meanwhile')) },
  })
  t.equal(await codeOf(taken), 'Error: gone meanwhile')
  const next = await take(dir, 'normal', longMs)
  next.release()
})
