import fc from 'fast-check'
import t from 'tap'
import type { Clock } from '../../src/base/clock.js'
import { resumeDeadline, startDeadline } from '../../src/net/remaining.js'
import type { Deadline } from '../../src/net/remaining.js'
import { forAll } from '../support/for-all.js'

/** A clock moved by hand; each process has its own monotonic zero. */
const handClock = (wallMs: number, monotonicMs = 0) => {
  const state = { wallMs, monotonicMs }
  const clock: Clock = {
    wallMs: () => state.wallMs,
    monotonicMs: () => state.monotonicMs,
    sleep: async () => undefined,
  }
  return { state, clock }
}
const noon = Date.parse('2030-01-01T12:00:00.000Z')

t.test('a deadline counts down on the monotonic clock alone', async (t) => {
  const { state, clock } = handClock(noon)
  const deadline = startDeadline(clock, 120_000)
  t.equal(deadline.remainingMs(), 120_000)
  state.monotonicMs += 50_000.4
  t.equal(deadline.remainingMs(), 69_999)
  state.wallMs -= 3_600_000
  t.equal(deadline.remainingMs(), 69_999, 'a wall clock set back lengthens nothing')
  state.monotonicMs += 70_000
  t.equal(deadline.remainingMs(), 0)
  t.ok(deadline.expired())
  state.monotonicMs = 0
  t.equal(deadline.remainingMs(), 0, 'a clock that gives time back lengthens nothing either')
  t.ok(deadline.expired())
})

t.test('another process goes on with the smaller of stored budget and wall time', async (t) => {
  const { state, clock } = handClock(noon)
  const deadline = startDeadline(clock, 120_000)
  state.monotonicMs += 20_000
  state.wallMs += 20_000
  const stored = deadline.stored()
  t.strictSame(stored, { deadline_at: '2030-01-01T12:02:00.000Z', budget_ms: 100_000 })
  const later = (wall: number) => resumeDeadline(handClock(wall, 777).clock, stored)
  t.equal(later(noon + 20_000).remainingMs(), 100_000)
  t.equal(later(noon + 90_000).remainingMs(), 30_000, 'time between the processes counts')
  t.equal(later(noon - 9e6).remainingMs(), 100_000, 'a step back gives only the stored budget')
  t.ok(later(noon + 9e6).expired())
  t.ok(resumeDeadline(clock, { ...stored, deadline_at: 'never' }).expired())
  t.ok(resumeDeadline(clock, { ...stored, budget_ms: Number.NaN }).expired())
  t.equal(later(noon + 90_000).stored().deadline_at, stored.deadline_at, 'the deadline stays')
})

t.test('a stage never outlives the whole', async (t) => {
  const { state, clock } = handClock(noon)
  const whole = startDeadline(clock, 20_000)
  t.equal(whole.stage(15_000).remainingMs(), 15_000)
  t.equal(whole.stage(15_000).stored().deadline_at, '2030-01-01T12:00:15.000Z')
  state.monotonicMs += 10_000
  t.equal(whole.stage(15_000).remainingMs(), 10_000)
  t.equal(whole.stage(-1).remainingMs(), 0)
})

t.test('over any clock steps, stages and restarts the remaining time never grows', async (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('run' as const), ms: fc.double({ min: 0, max: 5e4,
      noNaN: true }) }),
    fc.record({ kind: fc.constant('wall' as const), ms: fc.integer({ min: -1e6, max: 1e6 }) }),
    fc.record({ kind: fc.constant('restart' as const), ms: fc.integer({ min: 0, max: 1e5 }) }),
    fc.record({ kind: fc.constant('stage' as const), ms: fc.integer({ min: -5, max: 2e5 }) }),
  )
  forAll(
    t,
    fc.property(fc.nat({ max: 200_000 }), fc.array(step, { maxLength: 30 }), (budget, steps) => {
      let { state, clock } = handClock(noon)
      let deadline: Deadline = startDeadline(clock, budget)
      let least = budget
      let ran = 0
      for (const { kind, ms } of steps) {
        if (kind === 'run') {
          state.monotonicMs += ms
          state.wallMs += ms
          ran += ms
        } else if (kind === 'wall') state.wallMs += ms
        else if (kind === 'stage') deadline = deadline.stage(ms)
        else {
          const stored = deadline.stored()
          const next = handClock(state.wallMs, ms)
          state = next.state
          clock = next.clock
          deadline = resumeDeadline(clock, stored)
        }
        const left = deadline.remainingMs()
        if (!(left <= least && left >= 0 && Number.isInteger(left))) throw new Error('it grew')
        if (left > Math.max(0, budget - ran) + 1) throw new Error('time was not charged')
        least = left
      }
    }),
    { numRuns: 500 },
  )
})
