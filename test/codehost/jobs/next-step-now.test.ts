/** The way on is told by all that a job rests on, and is the same wherever it is told. */
import type { Test } from 'tap'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { must } from '../../support/must.js'
import { reconciled } from '../../support/codehost/reconciled.js'
import { publishing } from '../../support/codehost/publishing.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

/** An issue whose readback was lost: its number is known. */
const numbered = async (at: Working, title: string): Promise<string> => {
  const job = await at.approved(title)
  await at.runJob(job, {
    at: (step) => {
      if (step !== 'codehost.created') return
      at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
    },
  })
  at.sandbox.faults.clear()
  return job
}

const wayOf = async (at: Working, job: string) =>
  (await at.json(['codehost', 'job', job])).way_on

/** Job, list of jobs and list of connections say the same. */
const told = async (t: Test, at: Working, job: string, forGood: boolean): Promise<string> => {
  const way = await wayOf(at, job)
  t.equal(way.for_good, forGood, way.text)
  const listed = (await at.json(['codehost', 'jobs'])).find(({ id }: { id: string }) => id === job)
  t.strictSame(listed.way_on, way)
  const [own] = await at.json(['codehost', 'connections'])
  if (own.active_job_id === job) t.equal(own.occupied_for_good, forGood)
  t.notMatch(way.command ?? '', /OWNER|NAME|\bN\b|\bID\b/, 'what is known is filled in')
  return way.command ?? ''
}

const typed = async (at: Working, command: string): Promise<number> =>
  (await at.run(command.replace(/ F$/, ` ${at.sandbox.keyFiles.codehost}`).split(' ').slice(1)))
    .status

t.test('a job that waits under a consent that was taken back says that it is to be prepared anew', async (t) => {
  const at = await working(t)
  const jobs = [await at.prepare(), await at.approved()]
  t.match(await told(t, at, jobs[1] ?? '', false), /codehost run/)
  must(await at.run(['codehost', 'revoke', at.id]))
  for (const job of jobs) {
    const command = await told(t, at, job, false)
    t.equal(command, `sallyport codehost cancel ${job}`)
    t.match((await wayOf(at, job)).text, /prepare it anew/)
    t.equal(await typed(at, command), 0)
  }
})

t.test('an unknown job names the revision to read it at, and nothing to read it by where that is gone', async (t) => {
  const at = await working(t)
  const first = await numbered(at, 'First')
  const command = await told(t, at, first, false)
  t.equal(command, `sallyport codehost recover reconcile ${first} --expected-revision `
    + String(at.connection().revision))
  t.equal(await typed(at, command), 0)
  const second = await numbered(at, 'Second')
  const row = at.connection()
  const put = (change: Partial<typeof row> | null) => at.transact((tx) => (change === null
    ? tx.remove(connectionCollection, at.id)
    : tx.put(connectionCollection, at.id, { ...row, ...change })))
  must(await at.run(['codehost', 'connect', '--connection', at.id, '--token-file',
    at.sandbox.keyFiles.codehost, '--expected-revision', String(row.revision)]))
  t.match(await told(t, at, second, true), /codehost connect --repo operator\/notes/)
  t.match((await wayOf(at, second)).text, /another token/)
  await put(null)
  t.match((await wayOf(at, second)).text, /knows no such connection/)
  t.equal(await typed(at, (await wayOf(at, second)).command), 0)
})

t.test('a publication that was sent in part says that the rest is never sent once its consent was taken back', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.post_3_of_6') stop.abort()
    },
  })
  t.equal(await told(t, at, job, false), `sallyport codehost run ${job} --resume`)
  must(await at.run(['codehost', 'revoke', at.id]))
  const { revision, active_fence: fence } = at.connection()
  const line = `sallyport codehost close-capacity ${job} --expected-job-revision `
    + `${at.job(job).revision} --expected-connection-revision ${revision} `
    + `--expected-connection-fence ${fence}`
  t.equal(await told(t, at, job, false), line)
  t.match((await wayOf(at, job)).text, /the rest is never sent/)
  const refused = await at.run(['codehost', 'resume', job, '--json'])
  t.match(refused.error().hint, `\`${line}\``, 'a refusal names the same line')
  const typed = line.split(' ').slice(1)
  const [request] = (await at.run([...typed, '--json'])).stderr.trim().split('\n').slice(-1)
  t.match(request, 'acknowledged_capacity_close', 'only the acknowledgment is missing')
  must(await at.run(typed, { terminal: { stdin: true, stdout: true, stderr: true },
    answers: [true] }))
  t.equal(at.connection().active_job_id, null)
})

t.test('a job of a session that ended says so, in place of a line that would be refused', async (t) => {
  const at = await working(t)
  const waiting = await at.approved('Waiting')
  const unknown = await numbered(at, 'Unknown')
  must(await at.run(['logout']))
  must(await at.run(['login']))
  t.match(await told(t, at, unknown, true), /codehost connect --repo operator\/notes/)
  t.match((await wayOf(at, unknown)).text, /session has ended/)
  t.equal(await told(t, at, waiting, false), `sallyport codehost cancel ${waiting}`)
  t.match((await at.run(['codehost', 'run', unknown])).stderr, /session/)
})

t.test('a success that does not count names the line that frees its connection, once what changed is for good', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await at.runJob(job, {
    at: async (step) => {
      if (step !== 'codehost.sealed') return
      must(await at.run(['goal', 'update', at.job(job).goal_id, '--title', 'Otherwise']))
    },
  })
  t.hasStrict(at.job(job), { state: 'blocked', reason: 'goal_changed', reserved: true })
  const { revision, active_fence: fence } = at.connection()
  const line = await told(t, at, job, false)
  t.equal(line, `sallyport codehost close-capacity ${job} --expected-job-revision `
    + `${at.job(job).revision} --expected-connection-revision ${revision} `
    + `--expected-connection-fence ${fence}`)
  t.equal((await wayOf(at, job)).unattended, false, 'no script goes round')
  const before = at.requests().length
  must(await at.run(line.split(' ').slice(1), {
    terminal: { stdin: true, stdout: true, stderr: true }, answers: [true],
  }))
  t.equal(at.requests().length, before, 'the readback of before proves it')
  t.equal(at.connection().active_job_id, null)
})

t.test('a success that its task waits for names no adoption once its connection is gone or has another token', async (t) => {
  for (const words of [
    (at: Working) => ['disconnect', at.id],
    (at: Working) => ['connect', '--connection', at.id, '--token-file',
      at.sandbox.keyFiles.codehost, '--expected-revision', String(at.connection().revision)],
  ]) {
    const at = await working(t)
    const job = await reconciled(at)
    t.match((await wayOf(at, job)).command, /recover adopt/)
    must(await at.run(['codehost', ...words(at)]))
    const way = await wayOf(at, job)
    t.hasStrict(way, { command: null, for_good: false })
    t.match(way.text, /its task stays blocked/)
    t.not((await at.run(['codehost', 'adopt', job])).status, 0)
  }
})
