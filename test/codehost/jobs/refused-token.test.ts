/** A token or a name that the host refuses is saved anew only where no job rests on it. */
import type { Test } from 'tap'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { publishing, type Publishing } from '../../support/codehost/publishing.js'
import type { Working } from '../../support/codehost/working.js'
import { must } from '../../support/must.js'
import { t } from '../../support/tests-in-slices.js'
import type { Ran } from '../../world/place.js'

const refusals = [
  ['read_status_401', 'codehost_token_refused', /token its rights back on the host/],
  ['read_redirect_301', 'repository_moved', /repository its old name back on the host/],
] as const

/** The host refuses a read of a route; the way on keeps what the job that occupies rests on. */
const keeps = async (
  t: Test, at: Working, job: string, route: string, reads: number, run: () => Promise<Ran>,
): Promise<void> => {
  for (const [fault, code, text] of refusals) {
    for (let after = 0; after < reads; after += 1) {
      at.sandbox.faults.set(fault, { service: 'codehost', after, times: 1 })
      const refused = (await run()).error()
      at.sandbox.faults.clear()
      const told = `${route}: ${fault} of read ${after + 1}: ${refused.hint}`
      t.equal(refused.code, code, told)
      t.notMatch(refused.hint, /Store another|Save its|codehost connect/, told)
      t.match(refused.hint, text, told)
      t.match(refused.hint, `\`sallyport codehost jobs ${job}\``, told)
      t.equal(at.connection().active_job_id, job, told)
    }
  }
  must(await at.run(['codehost', 'job', job]))
}

t.test('C-104 a token or name that the host refuses while a job occupies the connection is not told to be saved anew, and reading back settles the job', async (t) => {
  const at: Closing = await closing(t)
  must(await at.consent(['--action', 'issue.create', 'git.object.create', 'git.ref.create',
    'pull_request.create']))
  const other = await at.approved('Another')
  const job = await at.unknown('Unknown', 'numbered')
  await keeps(t, at, job, 'reconcile', 2, () => at.reconcile(job))
  await keeps(t, at, job, 'run of another job', 1, () => at.runJob(other))
  const source = at.folder({ 'one.txt': 'One\n' })
  await keeps(t, at, job, 'prepare', 5, () => at.publish(source))
  must(await at.reconcile(job))
  must(await at.runJob(other))
})

t.test('a publication that was sent in part and whose token is refused goes on once that has its rights back', async (t) => {
  const at: Publishing = await publishing(t)
  const job = await at.approvedPublication()
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.post_3_of_6') stop.abort()
    },
  })
  await keeps(t, at, job, 'resume', 3, () => at.run(['codehost', 'resume', job, '--json']))
  must(await at.run(['codehost', 'resume', job]))
})

t.test('a token that the host refuses of a free connection is stored anew by the line that is told', async (t) => {
  const at = await closing(t)
  const job = await at.approved()
  at.sandbox.faults.set('read_status_401', { service: 'codehost', times: 1 })
  const { hint } = (await at.runJob(job)).error()
  at.sandbox.faults.clear()
  const { revision } = at.connection()
  const line = `codehost connect --connection ${at.id} --token-file F `
    + `--expected-revision ${revision}`
  t.match(hint, `\`sallyport ${line}\``)
  must(await at.run(line.replace(' F ', ` ${at.sandbox.keyFiles.codehost} `).split(' ')))
})
