/** What a job rests on, taken away before it runs: nothing leaves, the job stays as it was. */
import { bindingOf } from '../../../src/governance/connections/grant.js'
import {
  connectionCollection, type Connection, type Grant,
} from '../../../src/governance/connections/connection-rows.js'
import { collections } from '../../../src/governance/rows.js'
import { codehostBase } from '../../../src/codehost/context.js'
import {
  authorityDigest, previewDigest, sealedApproval,
} from '../../../src/codehost/jobs/digests.js'
import { jobCollection, type Approval, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { openPlan } from '../../../src/codehost/jobs/plan.js'
import { must } from '../../support/must.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

const put = (at: Working, row: Connection): Promise<void> =>
  at.transact((tx) => tx.put(connectionCollection, at.id, row))

/** The consent with other values, bound as its own save would have bound it. */
const regranted = (row: Connection, change: Partial<Grant>): Connection => {
  if (row.consent === null) throw new Error('no consent')
  const { binding_sha256: was, ended, ...unbound } = { ...row.consent, ...change }
  if (was === '') throw new Error('not bound')
  return {
    ...row, consent: { ...unbound, ended, binding_sha256: bindingOf(row.connection_id, unbound) },
  }
}

/** Rows of the connection that deny, and the reason that is told. */
const defects: Readonly<Record<string, readonly [(row: Connection) => Connection, string]>> = {
  'no consent, as in a row of before': [(row) => ({ ...row, consent: null }), 'consent_missing'],
  'a consent that was revoked': [
    (row) => ({
      ...row,
      consent: row.consent && { ...row.consent, ended: { at: row.updated_at, as: 'revoked' } },
    }),
    'consent_revoked',
  ],
  'a consent whose time is over': [
    (row) => regranted(row, { expires_at: '2020-01-01T00:00:00.000Z' }), 'consent_expired',
  ],
  'a consent of another session': [
    (row) => regranted(row, { root: 'root_x' }), 'consent_stopped',
  ],
  'another consent of the same values': [
    (row) => regranted(row, { consent_id: 'con_x' }), 'consent_replaced',
  ],
  'a consent for another repository': [
    (row) => regranted({ ...row, repository: 'operator/other' }, { repository: 'operator/other' }),
    'repository_mismatch',
  ],
  'another number of the repository': [
    (row) => regranted({ ...row, repository_id: 9 }, { repository_id: 9 }), 'repository_mismatch',
  ],
  'a later revision of the connection': [
    (row) => regranted({ ...row, revision: 9 }, { revision: 9 }), 'consent_replaced',
  ],
  'a consent without the action': [
    (row) => regranted(row, { actions: ['comment.create'] }), 'consent_replaced',
  ],
  'a connection that is not active': [(row) => ({ ...row, mode: 'disabled' }), 'consent_stopped'],
  'a connection of somebody else': [(row) => ({ ...row, owner: 'prn_x' }), 'connection'],
}

t.test('C-001 C-010 C-212 C-213 C-214 a job leaves no byte without the very consent that it was prepared under', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const sound = at.connection()
  for (const [what, [altered, reason]] of Object.entries(defects)) {
    await put(at, altered(sound))
    const ran = await at.runJob(job)
    t.not(ran.status, 0, what)
    t.ok(`${ran.error().code} ${ran.error().reason} ${ran.error().details.reasons}`.includes(reason),
      `${what}: ${ran.stderr}`)
    t.equal(at.job(job).state, 'approved', what)
  }
  t.equal(at.requests().length, 0, 'no request')
  t.equal(at.dials(), 0, 'no hello')
  await put(at, sound)
  must(await at.runJob(job))
  t.equal(at.posts().length, 1, 'with its own consent it goes')
})

const resealed = (
  { job_id: id, approval }: Pick<Job, 'job_id' | 'approval'>, change: Partial<Approval>,
): Job['approval'] => {
  if (approval === null) throw new Error('it was given')
  const { sha256: was, ...parts } = { ...approval, ...change }
  if (was === '') throw new Error('not sealed')
  return sealedApproval(id, parts)
}

t.test('C-009 C-032 C-041 C-051 what a job declares of itself is compared with its kind and its consent', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const sound = at.job(job)
  const altered: readonly (readonly [Partial<Job>, string])[] = [
    [{ capability: 'engineering.repo-publication.v1' }, 'capability_mismatch'],
    [{ actions: ['git.ref.create'] }, 'action_not_allowed'],
    [{ repository: 'operator/Notes-other' }, 'repository_mismatch'],
    [{ consent: { ...sound.consent, revision: 7 } }, 'stale_connection_revision'],
    [{ consent: { ...sound.consent, binding_sha256: '0'.repeat(64) } }, 'consent_replaced'],
    [{ vault: { ...sound.vault, sha256: '0'.repeat(64) } }, 'credential_changed'],
    [{ approval: null }, 'approval_missing'],
    // Whole ones of something else: their digests are their own.
    ...([
      { preview_sha256: '0'.repeat(64) }, { root: 'x' }, { consent_id: 'x' },
      { consent_revision: 9 },
    ] as const).map((change) => [{
      approval: resealed(sound, change),
    }, 'approval_of_other'] as const),
    ...([
      { at: '2026-01-01T00:00:00.000Z' }, { kind: 'standing' }, { sha256: '0'.repeat(64) },
    ] as const).map((change) => [{
      approval: sound.approval && { ...sound.approval, ...change },
    }, 'approval_of_other'] as const),
    [{ approval: resealed({ ...sound, job_id: 'job_other' }, {}) }, 'approval_of_other'],
    [{ goal_revision: 7 }, 'goal_changed'],
    [{ closed: { closure_id: 'x', at: sound.created_at, fence: 1 } }, 'job_closed'],
  ]
  for (const [change, reason] of altered) {
    await at.transact((tx) => tx.put(jobCollection, job, { ...sound, ...change }))
    const ran = await at.runJob(job)
    t.ok(String(ran.error().details.reasons).split(',').includes(reason), `${reason}: ${ran.stderr}`)
  }
  t.equal(at.dials(), 0)
  await at.transact((tx) => tx.put(jobCollection, job, { ...sound, state: 'prepared' }))
  t.equal((await at.run(['codehost', 'prepare', 'issue', '--connection', at.id, '--title', ' x',
    '--body-file', at.place.path('body.md'), '--json'])).error().code, 'host_text_invalid')
})

t.test('C-032 a consent is for one exact repository: a job for another name, another letter case, a wildcard or another number sends no byte', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const sound = at.job(job)
  const connection = at.connection()
  const { consent } = connection
  if (consent === null) throw new Error('it was given')
  const put = (row: Partial<Job>, of: Partial<typeof connection>) => at.transact((tx) => {
    tx.put(jobCollection, job, { ...sound, ...row })
    tx.put(connectionCollection, at.id, { ...connection, ...of })
  })
  for (const repository of [
    'operator/Notes', 'Operator/notes', 'operator/notes2', 'operator/note', 'operator/*', '*/notes',
    'operator/', 'operator', 'other/notes', 'operator/notes/x', 'operator/notes ',
  ]) {
    // The job alone, and the connection with it: the consent is for neither.
    for (const [of, reason] of [
      [{}, 'repository_mismatch'], [{ repository }, 'consent_repository_mismatch'],
    ] as const) {
      await put({ repository }, of)
      const ran = await at.runJob(job)
      t.match(String(ran.error().details.reasons ?? ran.error().code),
        new RegExp(`${reason}|plan_altered`), `${repository}: ${ran.stderr}`)
    }
  }
  for (const [row, of, reason] of [
    [{ repository_id: 9 }, {}, 'repository_mismatch'],
    [{ repository_id: 9 }, { repository_id: 9 }, 'consent_repository_mismatch'],
    [{}, { consent: { ...consent, repository: 'operator/*' } }, 'consent_repository_mismatch'],
    [{}, { consent: { ...consent, repository_id: 9 } }, 'consent_repository_mismatch'],
  ] as const) {
    await put(row, of)
    t.match(String((await at.runJob(job)).error().details.reasons), reason)
  }
  for (const repository of ['operator/*', '*', 'operator/notes*', 'operator/no?es']) {
    t.equal((await at.run(['codehost', 'connect', '--repo', repository, '--token-file',
      at.sandbox.keyFiles.codehost, '--json'])).error().code, 'repository_name_invalid')
  }
  t.equal(at.dials(), 0)
  await put({}, {})
  must(await at.runJob(job))
})

t.test('C-007 a job without an approval of exactly what was previewed is not run', async (t) => {
  const at = await working(t)
  const job = await at.prepare()
  const ran = await at.runJob(job)
  t.hasStrict(ran.error(), { code: 'codehost_write_denied', reason: 'approval_missing' })
  for (const digest of ['0'.repeat(64), 'x', '']) {
    t.equal((await at.run(['codehost', 'approve', job, '--preview-digest', digest, '--json']))
      .error().code, 'preview_changed')
  }
  t.equal(at.job(job).state, 'prepared')
  t.equal(at.dials(), 0)
})

t.test('C-007 what a job would send is compared with what its preview showed, whatever digest is named', async (t) => {
  const at = await working(t)
  const job = await at.prepare()
  const sound = at.job(job)
  const altered: readonly Partial<Job>[] = [
    { preview_sha256: '0'.repeat(64) }, { input_sha256: '0'.repeat(64) },
    { plan: { ...sound.plan, effects: sound.plan.effects + 1 } },
    { plan: { ...sound.plan, sha256: '0'.repeat(64) } },
  ]
  for (const change of altered) {
    const row = { ...sound, ...change }
    await at.transact((tx) => tx.put(jobCollection, job, row))
    for (const digest of [row.preview_sha256, previewDigest(row, codehostBase(at.gov))]) {
      const ran = await at.run(['codehost', 'approve', job, '--preview-digest', digest, '--json'])
      t.equal(ran.error().code, 'preview_changed', Object.keys(change).join())
    }
    t.strictSame(at.job(job), row)
  }
  await at.transact((tx) => tx.put(jobCollection, job, sound))
  must(await at.approve(job))
})

t.test('a sealed plan opens under the very authority that it was registered with, and under no other, whole as that is', async (t) => {
  const at = await working(t)
  const sound = at.job(await at.prepare())
  t.equal(openPlan(at.gov, at.gov.store.read(), sound).job_id, sound.job_id)
  const other = { ...sound, root: 'root_x' }
  const job = { ...other, authority_sha256: authorityDigest(other) }
  t.throws(() => openPlan(at.gov, at.gov.store.read(), job), { code: 'plan_altered' })
})

t.test('C-004 C-044 C-167 a new session takes over no job, whatever it consents to', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  must(await at.run(['logout']))
  must(await at.run(['login']))
  must(await at.consent())
  const before = at.requests().length
  for (const verb of ['run', 'preview']) {
    const ran = await at.run(['codehost', verb, job, '--json'])
    t.equal(ran.status, 4)
    t.equal(ran.error().code, 'root_replaced')
  }
  t.equal(at.requests().length, before)
  must(await at.run(['codehost', 'cancel', job]))
  t.equal(at.job(job).state, 'cancelled', 'giving it up only narrows')
})

t.test('what the session ends, the goal changes or the token is, is asked when a job runs', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const row = at.job(job)
  const goal = at.view().get(collections.goals, row.goal_id)
  must(await at.run(['goal', 'update', row.goal_id, '--title', 'Otherwise']))
  t.equal((await at.runJob(job)).error().reason, 'goal_changed')
  if (goal !== undefined) await at.transact((tx) => tx.put(collections.goals, row.goal_id, goal))
  at.clock.advance(1_800_000)
  t.equal((await at.runJob(job)).status, 4, 'idle or expired')
  t.equal(at.dials(), 0)
})
