/**
 * The record that claims a job asks everything itself: what changed since the job was looked at,
 * reads of the host among it, begins nothing.
 */
import t from 'tap'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { runJob } from '../../../src/codehost/jobs/run.js'
import { listAudit } from '../../../src/governance/audit.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { minute } from '../../support/clock.js'
import { atStep } from '../../support/codehost/at-step.js'
import { remote } from '../../support/codehost/elsewhere.js'
import { working, type Working } from '../../support/codehost/working.js'

const closed = { closure_id: 'cls_other', at: '2026-01-01T00:00:00.000Z', fence: 1 }

const altered = (change: (job: Job, at: Working) => Partial<Job>) =>
  async (at: Working, id: string): Promise<void> => {
    const job = at.job(id)
    await at.transact((tx) => tx.put(jobCollection, id, { ...job, ...change(job, at) }))
  }

const after = (at: Working, ms: number): string => new Date(at.clock.wallMs() + ms).toISOString()

/** The consent is over, in its own row and in what the job was sealed with. */
const consentEnds = async (at: Working, id: string): Promise<void> => {
  await altered((job) => ({ consent: { ...job.consent, expires_at: after(at, 0) } }))(at, id)
  const connection = at.connection()
  if (connection.consent === null) throw new Error('it was consented')
  const consent = { ...connection.consent, expires_at: after(at, 0) }
  await at.transact((tx) => tx.put(connectionCollection, at.id, { ...connection, consent }))
}

/** What happens behind the reads of a run, and how its claim tells it. */
const changes: readonly (readonly [
  { readonly code: string, readonly reason?: string },
  (at: Working, id: string) => Promise<void>,
])[] = [
  [{ code: 'job_closed' }, altered(() => ({ closed }))],
  [{ code: 'root_replaced' }, altered(() => ({ root: 'root_other' }))],
  [{ code: 'codehost_write_denied', reason: 'consent_expired' }, consentEnds],
  [{ code: 'codehost_too_short', reason: 'consent' }, altered(({ plan, consent }, at) => ({
    plan: { ...plan, effects: 600 }, consent: { ...consent, expires_at: after(at, 5 * minute) },
  }))],
]

/** Routes at which the fence has refused a run, in their order. */
const routes = (at: Working): readonly unknown[] => listAudit(at.view())
  .filter(({ what }) => what === 'codehost.fenced').map(({ facts }) => facts['route'])

for (const [told, change] of changes) {
  t.test(`C-011 C-097 what changes behind the reads of a run is refused where it is claimed: ${told.code}`, async (t) => {
    const at = await working(t)
    const id = await at.approved()
    let seen: Job | undefined
    const ctx = atStep(remote(at), 'preflight.finished', async () => {
      await change(at, id)
      seen = at.job(id)
    })
    await t.rejects(runJob(ctx, at.session(), id), told)
    t.strictSame(at.job(id), seen, 'nothing of it changed')
    t.hasStrict(at.connection(), { active_job_id: null })
    t.equal(at.posts().length, 0)
    t.strictSame(routes(at), told.code === 'job_closed' ? ['lease_claim'] : [])
  })
}

t.test('C-097 C-180 a job that was closed behind the reads of a run that goes on with it is refused as what it is', async (t) => {
  const at = await working(t)
  const id = await at.approved()
  const stop = new AbortController()
  await at.runJob(id, { stop: stop.signal, at: (step) => {
    if (step === 'codehost.claimed') stop.abort()
  } })
  t.hasStrict(at.job(id), { state: 'blocked', attempt: 1 })
  const ctx = atStep(remote(at), 'preflight.finished', () => altered(() => ({ closed }))(at, id))
  await t.rejects(runJob(ctx, at.session(), id, { verb: 'resume' }), { code: 'job_closed' })
  t.strictSame(routes(at), ['recover'])
  t.hasStrict(at.job(id), { state: 'blocked', attempt: 1, closed })
})
