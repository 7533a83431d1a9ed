/** What the one question of a write says of each row that is not as the job was sealed with. */
import t from 'tap'
import { writeDenials } from '../../../src/codehost/jobs/boundary.js'
import { sealedApproval } from '../../../src/codehost/jobs/digests.js'
import { standingCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { codehostBase } from '../../../src/codehost/context.js'
import { must } from '../../support/must.js'
import { publishing } from '../../support/codehost/publishing.js'
import { working, type Working } from '../../support/codehost/working.js'

/** Names of what stands against a job where its request goes out. */
const against = (at: Working, job: Job, askedHost = codehostBase(at.gov)): readonly string[] =>
  writeDenials({ gov: at.gov, sealedHost: codehostBase(at.gov), askedHost }, at.view(), job,
    'preflight').map(({ name }) => name)

/** A job whose approval is sealed anew with a change. */
const approvedWith = (job: Job, change: Partial<NonNullable<Job['approval']>>): Job => {
  if (job.approval === null) throw new Error('it was approved')
  const { sha256, ...of } = job.approval
  if (sha256 === '') throw new Error('it was sealed')
  return { ...job, approval: sealedApproval(job.job_id, { ...of, ...change }) }
}

t.test('a request to another host than the sealed one is refused by that alone', async (t) => {
  const at = await working(t)
  const job = at.job(await at.approved())
  t.strictSame(against(at, job), [])
  t.strictSame(against(at, job, 'https://other.example'), ['fixed_route_mismatch'])
})

t.test('a consent of another session than the job’s is none for it, and that alone stands against it', async (t) => {
  const at = await working(t)
  const job = at.job(await at.approved())
  const { root: { id: root } } = await at.json([
    'login', '--token-file', at.place.path('other'),
  ])
  t.strictSame(against(at, job), [], 'its own session lives on')
  t.strictSame(against(at, approvedWith({ ...job, root }, { root })), ['consent_root_mismatch'])
})

t.test('C-008 an approval with a producer is no approval of an issue, and one without is none of a publication', async (t) => {
  const at = await publishing(t)
  const job = at.job(await at.approvedPublication())
  const { producer } = job.approval ?? {}
  t.strictSame(against(at, job), [])
  t.strictSame(against(at, approvedWith(job, { producer: null })), ['approval_without_producer'])
  const other = await working(t)
  const issue = other.job(await other.approved())
  t.strictSame(against(other, approvedWith(issue, { producer: producer ?? null })),
    ['approval_without_producer'])
})

t.test('C-007 an approval by a standing authority ends with it: when it is over, full or gone', async (t) => {
  const at = await working(t)
  must(await at.run(['codehost', 'approve', '--standing', '--connection', at.id, '--action',
    'issue.create', '--until', new Date(at.clock.wallMs() + 600_000).toISOString(), '--max-jobs',
    '1']))
  const [standing] = at.view().all(standingCollection)
  if (standing === undefined) throw new Error('it was given')
  const job = approvedWith(at.job(await at.approved()), { standing_id: standing.id })
  t.strictSame(against(at, job), [])
  const put = (change: Partial<typeof standing.doc>): Promise<void> => at.transact((tx) =>
    tx.put(standingCollection, standing.id, { ...standing.doc, ...change }))
  for (const change of [
    { expires_at: standing.doc.issued_at }, { jobs: ['job_other'] }, { consent_id: 'cns_other' },
  ]) {
    await put(change)
    t.strictSame(against(at, job), ['standing_ended'], JSON.stringify(change))
  }
  await at.transact((tx) => tx.remove(standingCollection, standing.id))
  t.strictSame(against(at, job), ['standing_ended'])
})
