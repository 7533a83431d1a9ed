/** A publication from its approval to the opened pull request. */
import { existsSync } from 'node:fs'
import { receiptCollection } from '../../../../src/codehost/jobs/receipt.js'
import { stagePath } from '../../../../src/codehost/producer/stage.js'
import { clientOf, settled } from '../../../support/sandbox/host-client.js'
import { filesBelow } from '../../../support/codehost/files-below.js'
import { must } from '../../../support/must.js'
import { publishing } from '../../../support/codehost/publishing.js'
import { t } from '../../../support/tests-in-slices.js'

t.test('C-015 C-024 C-059 C-109 a publication is made once on this machine, sent in order, each POST over a connection of its own, and read back whole', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  t.ok(existsSync(stagePath(at.place.stateDir, job)), 'its stage stands')
  const before = at.requests().length
  const ran = must(await at.runJob(job)).json()
  t.hasStrict(ran.jobs[0], {
    state: 'succeeded', failure: null, reserved: false, remote_id: 1,
    effects: { planned: 6, contacted: 6, created: 6 },
  })
  const seen = at.requests().slice(before)
  t.strictSame(seen.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{40}/g, 'ID')}`), [
    'GET /repos/operator/notes', 'GET /repos/operator/notes/git/ref/heads/main',
    'GET /repos/operator/notes/git/ref/heads/topic%2F1',
    'POST /repos/operator/notes/git/blobs', 'POST /repos/operator/notes/git/trees',
    'POST /repos/operator/notes/git/trees', 'POST /repos/operator/notes/git/commits',
    'POST /repos/operator/notes/git/refs', 'POST /repos/operator/notes/pulls',
    'GET /repos/operator/notes/pulls/1', 'GET /repos/operator/notes/git/ref/heads/topic%2F1',
    'GET /repos/operator/notes/git/commits/ID',
    'GET /repos/operator/notes/git/trees/ID?recursive=1',
  ])
  const posts = seen.filter(({ method }) => method === 'POST')
  t.equal(new Set(posts.map(({ connection }) => connection)).size, posts.length)
  t.strictSame(seen.flatMap(({ violations }) => violations), [])
  const row = at.job(job)
  t.equal(at.connection().active_job_id, null)
  t.equal(at.task(row.task_id ?? '')?.state, 'succeeded')
  t.notOk(existsSync(stagePath(at.place.stateDir, job)), 'its stage has gone')
  const { history } = await at.json(['codehost', 'job', job, '--history', 'effects'])
  t.strictSame(history.lines.map((line: string) => JSON.parse(line).type), [
    'plan', 'spawn', 'produced', ...posts.flatMap(() => ['contacted', 'outcome']),
  ])
  const receipts = at.view().all(receiptCollection)
  t.equal(receipts.length, 4, 'pull request, branch, commit and tree')
  t.hasStrict(at.view().get(receiptCollection, row.receipt_id ?? '')?.receipt.effect,
    { action: 'pull_request.create', number: 6, remote_id: 1 })
  await settled(t, clientOf(at.sandbox))
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
})

t.test('C-079 the token is in no file, no history and no line of a publication that is run', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const token = 'sandbox-codehost-token'
  const looked: string[] = []
  const ran = await at.run(['codehost', 'run', job, '--verbose'], {
    at: (step) => {
      if (step !== 'codehost.produced') return
      for (const [path, bytes] of filesBelow(at.place.stateDir)) {
        looked.push(path)
        t.notOk(bytes.includes(token), path)
      }
    },
  })
  must(ran)
  t.ok(looked.some((path) => path.includes('start.json')), 'the stage among them')
  t.notOk(`${ran.stdout}${ran.stderr}`.includes(token))
  const shown = await at.run(['codehost', 'job', job, '--history', 'effects'])
  t.notOk(shown.stdout.includes(token))
})

t.test('a terminal is told how many of how many were sent', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  // A reply that drips in is a whole one all the same.
  at.sandbox.faults.set('write_drip', { service: 'codehost', value: 2, times: 2 })
  const ran = must(await at.run(['codehost', 'run', job, '--verbose']))
  for (const number of [1, 2, 3, 4, 5, 6]) t.match(ran.stderr, `codehost.post_${number}_of_6`)
})

t.test('what was published once is not run, resumed or reconciled again', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  must(await at.runJob(job))
  const posts = at.posts().length
  for (const verb of ['run', 'resume']) {
    t.equal((await at.run(['codehost', verb, job, '--json'])).error().code, 'job_state')
  }
  t.equal((await at.reconcile(job)).error().code, 'nothing_to_reconcile')
  t.equal(at.posts().length, posts)
})

t.test('C-027 a scheduled run picks an approved publication as it picks an issue', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const waiting = await at.preparedPublication()
  const { jobs } = must(await at.run(['codehost', 'run', '--approved', '--json'])).json()
  t.strictSame(jobs.map((one: { id: string, state: string }) => [one.id, one.state]),
    [[job, 'succeeded']])
  t.equal(at.job(waiting).state, 'prepared', 'a publication has no standing approval')
})
