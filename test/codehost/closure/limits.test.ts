/** The limits of the reads, each at its value and one past it, by small limits. */
import t from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import { closeCapacity } from '../../../src/codehost/closure/close.js'
import { followReadLimits, type ReadLimits } from '../../../src/codehost/closure/limits.js'
import { closeRequestOf } from '../../../src/codehost/closure/request.js'
import { codehostBase } from '../../../src/codehost/context.js'
import { followThroughKind } from '../../../src/codehost/jobs/kinds.js'
import { holdGuard } from '../../../src/governance/guard.js'
import { deploymentProfile } from '../../../src/governance/profile.js'
import { createHttpsClient } from '../../../src/net/client.js'
import { closing, type Closing } from '../../support/codehost/closing.js'

/** Closes by the use case itself; gives the reason of the refusal, or `closed`. */
const closeWith = async (
  at: Closing, job: string, limits: Partial<ReadLimits>,
  step: (name: string) => void = () => undefined,
): Promise<string> => {
  const { gov } = at
  const client = createHttpsClient({
    clock: at.clock, env: {}, execArgv: [], resolve: async () => [], loopbackOnly: true,
    ca: [deploymentProfile(gov.store).ca_pem ?? ''],
  })
  const ctx = {
    gov: { ...gov, observer: { at: step } }, signal: new AbortController().signal,
    baseUrl: codehostBase(gov), client: async () => client,
  }
  try {
    await closeCapacity(ctx, at.session(), {
      jobId: job, read: closeRequestOf(at.request(job), followThroughKind),
      limits: { ...followReadLimits, ...limits },
    })
    return 'closed'
  } catch (error) {
    if (error instanceof SallyportError) return error.reason ?? error.code
    throw error
  }
}

t.test('C-202 C-231 C-232 C-233 C-234 C-203 each limit of a follow-through closure holds at its value and blocks one past it', async (t) => {
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

t.test('C-220 a wall clock that moves does not move the window', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Clock', 'numbered')
  t.equal(await closeWith(at, job, {}, (step) => {
    if (step === 'closure.replied') at.clock.stepWall(30_000)
  }), 'closed')
})

t.test('who waits for another closure of the job waits no longer than one closure takes', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Waits', 'numbered')
  const guard = await holdGuard(at.place.stateDir, `close_${job}`)
  t.equal(await closeWith(at, job, { windowMs: 30 }), 'closure_under_way')
  guard.release()
})
