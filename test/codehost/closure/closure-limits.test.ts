/** The limits of the reads, each at its value and one past it, by small limits. */
import { followReadLimits } from '../../../src/codehost/closure/closure-limits.js'
import { holdGuard } from '../../../src/state/holds/guard.js'
import { closeWith } from '../../support/codehost/close-with.js'
import { closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

t.test('C-202 C-229 C-231 C-232 C-233 C-234 C-203 each limit of a follow-through closure holds at its value and blocks one past it', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Limits', 'numbered')
  t.strictSame(followReadLimits, {
    windowMs: 120_000, getsMax: 4, rawBytesMax: 4_194_304, replyBytesMax: 1_048_576,
  })
  const before = at.bytes()
  t.equal(await closeWith(at, job, { getsMax: 1 }), 'gets_exceeded')
  t.equal(await closeWith(at, job, { replyBytesMax: 10 }), 'readback_too_large')
  t.equal(await closeWith(at, job, { rawBytesMax: 10 }), 'bytes_exceeded')
  let replies = 0
  t.equal(await closeWith(at, job, {}, (step) => {
    if (step === 'closure.replied' && (replies += 1) === 1) at.clock.advance(120_000)
  }), 'deadline_elapsed')
  t.strictSame([...at.bytes()], [...before])
  t.equal(at.connection().active_job_id, job)
  t.equal(await closeWith(at, job, { getsMax: 2 }), 'closed')
})

t.test('C-220 a wall clock that moves either way does not move the window', async (t) => {
  const at = await closing(t)
  for (const ms of [-30_000, 30_000]) {
    const job = await at.unknown(`Clock ${ms}`, 'numbered')
    t.equal(await closeWith(at, job, { windowMs: 20_000 }, (step) => {
      if (step === 'closure.replied') at.clock.stepWall(ms)
    }), 'closed', `${ms}`)
  }
})

t.test('C-250 a wall clock that moves so far that the session has ended, or does not begin yet, closes nothing', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Far', 'numbered')
  const before = at.bytes()
  for (const ms of [3_600_000, -3_600_000]) {
    for (const moment of ['closure.replied', 'closure.staged']) {
      let moved = false
      t.match(await closeWith(at, job, {}, (step) => {
        if (step !== moment || moved) return
        moved = true
        at.clock.stepWall(ms)
      }), /^session_/, `${moment} ${ms}`)
      at.clock.stepWall(-ms)
      t.strictSame([...at.bytes()], [...before])
    }
  }
  t.equal(at.connection().active_job_id, job)
})

t.test('who waits for another closure of the job waits no longer than one closure takes', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Waits', 'numbered')
  const guard = await holdGuard(at.place.stateDir, `close_${job}`)
  t.equal(await closeWith(at, job, { windowMs: 30 }), 'closure_under_way')
  guard.release()
})
