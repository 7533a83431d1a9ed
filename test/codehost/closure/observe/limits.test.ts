/** A look after a closure has the limits of the closure's reads, anew for itself. */
import t from 'tap'
import { SallyportError } from '../../../../src/base/errors.js'
import { closureKinds } from '../../../../src/codehost/closure/kinds.js'
import {
  followReadLimits, type ReadLimits,
} from '../../../../src/codehost/closure/closure-limits.js'
import { observeClosed } from '../../../../src/codehost/closure/observe/observe.js'
import { codehostBase } from '../../../../src/codehost/context.js'
import { followThroughKind } from '../../../../src/codehost/jobs/kinds.js'
import { deploymentProfile } from '../../../../src/governance/profile.js'
import { createHttpsClient } from '../../../../src/net/client.js'
import { must } from '../../../support/must.js'
import { closing, type Closing } from '../../../support/codehost/closing.js'

const observeWith = async (
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
    const { gets } = await observeClosed(ctx, at.session(), {
      jobId: job, limits: { ...followReadLimits, ...limits }, request: {
        acknowledged_closure_observation: true, expected_read_revision: at.connection().revision,
      },
    })
    return `observed by ${gets}`
  } catch (error) {
    if (error instanceof SallyportError) return error.reason ?? error.code
    throw error
  }
}

t.test('C-237 requests, bytes and time of a look are bounded as those of a closure, and counted for it alone', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Limits', 'numbered')
  must(await at.close(job, at.request(job)))
  t.equal(closureKinds[followThroughKind].limits, followReadLimits)
  t.equal(await observeWith(at, job, { getsMax: 1 }), 'gets_exceeded')
  t.equal(await observeWith(at, job, { replyBytesMax: 10 }), 'readback_too_large')
  t.equal(await observeWith(at, job, { rawBytesMax: 10 }), 'bytes_exceeded')
  let replies = 0
  t.equal(await observeWith(at, job, { windowMs: 1_000 }, (step) => {
    if (step !== 'observe.replied') return
    replies += 1
    if (replies === 1) at.clock.advance(1_001)
  }), 'deadline_elapsed')
  for (let again = 0; again < 3; again += 1) {
    t.equal(await observeWith(at, job, { getsMax: 2 }), 'observed by 2')
  }
})
