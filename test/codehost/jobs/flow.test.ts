/** The flow of one issue and one comment, from connect to read back. */
import { must } from '../../support/must.js'
import { hostMark, working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

t.test('C-006 C-009 C-036 C-050 an issue is prepared, previewed, approved, sent once, read back and frees its connection', async (t) => {
  const at = await working(t)
  const job = await at.prepare('Fix the build')
  t.hasStrict(at.job(job), {
    state: 'prepared', task_id: null, reserved: false, native_kind: 'codehost_followthrough_v1',
    capability: 'work.codehost-followthrough.v1',
  })
  t.equal(at.requests().length, 0, 'preparing contacts nobody')
  const preview = await at.json(['codehost', 'preview', job])
  t.hasStrict(preview, {
    posts: 1, title: 'Fix the build', text: hostMark, digest: at.job(job).preview_sha256,
  })
  must(await at.approve(job))
  const { consent, root, approval } = at.job(job)
  const [shown] = await at.json(['codehost', 'jobs'])
  for (const one of [preview.consent, shown.consent]) {
    t.hasStrict(one, { id: consent.consent_id, revision: consent.revision })
  }
  t.strictSame([preview.root, shown.root, approval?.root], [root, root, root])
  t.hasStrict(approval, { consent_id: consent.consent_id, consent_revision: consent.revision })
  t.hasStrict(at.job(job), { state: 'approved', task_id: null })
  const ran = must(await at.runJob(job)).json()
  t.hasStrict(ran.jobs[0], { state: 'succeeded', reserved: false, remote_id: 1, failure: null })
  t.strictSame(at.requests().map(({ method, path }) => `${method} ${path}`), [
    'GET /repos/operator/notes', 'POST /repos/operator/notes/issues',
    'GET /repos/operator/notes/issues/1',
  ])
  t.strictSame(at.requests().flatMap(({ violations }) => violations), [])
  const row = at.job(job)
  t.hasStrict(at.connection(), { active_job_id: null, active_fence: 1, revision: 2 })
  t.hasStrict(at.task(row.task_id ?? ''), { state: 'succeeded', kind: 'codehost_followthrough_v1' })
  t.equal((await at.run(['state', 'check'])).status, 0, (await at.run(['state', 'check'])).stderr)
  const second = await at.approved('Another')
  must(await at.runJob(second))
  t.hasStrict(at.connection(), { active_job_id: null, active_fence: 2 })
  t.equal(at.job(second).consent.consent_id, row.consent.consent_id, 'one consent, two jobs')
})

t.test('a comment is written on the issue that it names, and read back from there', async (t) => {
  const at = await working(t)
  must(await at.runJob(await at.approved()))
  const job = await at.prepareComment(1)
  must(await at.approve(job))
  t.hasStrict(must(await at.runJob(job)).json().jobs[0], { state: 'succeeded' })
  t.strictSame(at.requests().slice(-4).map(({ method, route }) => `${method} ${route}`), [
    'GET repository', 'GET issue', 'POST comment_create', 'GET comment',
  ])
})
