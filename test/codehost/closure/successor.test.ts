/** What comes after a closed job, and what no operation does: undo anything on the host. */
import t from 'tap'
import { failure, must } from '../../support/must.js'
import { closing } from '../../support/codehost/closing.js'

t.test('C-111 C-038 what comes after a closed job is another job, with a consent of after the closure, a preview and an approval of its own', async (t) => {
  const at = await closing(t)
  const waiting = await at.approved('It waited meanwhile')
  const job = await at.unknown('Closed', 'numbered')
  must(await at.close(job, at.request(job)))
  const { active_fence: fence } = at.connection()
  const posts = at.posts().length
  const denied = { code: 'codehost_write_denied', reason: 'consent_before_closure' }
  t.hasStrict((await at.runJob(waiting)).error(), denied, 'the consent of the closed job')
  const anew = await at.run(['codehost', 'prepare', 'issue', '--connection', at.id, '--title', 'T',
    '--body-file', at.place.write('b.md', 'b'), '--json'])
  t.hasStrict(anew.error(), denied)
  t.match((await at.run(['codehost', 'job', waiting])).stdout, /prepare it anew/)
  must(await at.consent())
  t.equal(failure(await at.runJob(job)).code, 'job_closed', 'the closed job itself')
  t.not((await at.runJob(waiting)).status, 0, 'one of before, under the consent of after')
  const successor = await at.prepare('A successor')
  t.hasStrict((await at.runJob(successor)).error(), {
    code: 'codehost_write_denied', reason: 'approval_missing',
  })
  t.equal(failure(await at.run(['codehost', 'approve', successor, '--preview-digest',
    at.job(job).preview_sha256, '--json'])).code, 'preview_changed', 'not its own preview')
  t.equal(at.posts().length, posts, 'nothing was sent so far')
  must(await at.approve(successor))
  must(await at.runJob(successor))
  t.equal(at.posts().length, posts + 1)
  t.equal(at.connection().active_fence, fence + 1)
})

t.test('C-019 C-235 C-236 nothing that is done after a contact undoes or repeats it: revoke, close, retry, discard, reconcile and cancel read at most', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Stands', 'numbered')
  const posts = at.posts().length
  const before = at.job(job)
  const asked = at.requests().length
  must(await at.run(['codehost', 'revoke', at.id]))
  t.not((await at.run(['codehost', 'cancel', job])).status, 0)
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
  const request = at.request(job)
  t.hasStrict((await at.close(job, request)).error(), { code: 'closure_blocked' })
  at.sandbox.faults.clear()
  t.strictSame(at.job(job), before, 'no deadline, attempt or state of it has moved')
  const retried = await at.during(async () => {
    must(await at.run(['codehost', 'close-capacity', job, '--retry', '--json']))
  })
  t.equal(retried.length, 2, 'counted from nothing again')
  must(await at.run(['codehost', 'discard', job]))
  t.not((await at.reconcile(job)).status, 0)
  t.equal(at.posts().length, posts)
  t.strictSame([...new Set(at.requests().slice(asked).map(({ method }) => method))], ['GET'])
})
