/** Closures as processes beside each other, and beside what else is done with the state. */
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import { failure, must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'
import type { Loose } from '../../world/place.js'

const words = (at: Closing, job: string, request: Loose): readonly string[] =>
  ['codehost', 'close-capacity', job, '--json', '--from',
    at.place.write(`${request['idempotency_key']}.json`, JSON.stringify(request))]

t.test('C-191 C-258 of processes with one request and one with another key one reads and closes, and all with its request get the same bytes', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Raced', 'numbered')
  const before = at.job(job)
  const [one, other] = [at.request(job), at.request(job)]
  const requests = [one, one, one, one, one, other]
  let ran: readonly Awaited<ReturnType<typeof at.run>>[] = []
  const seen = await at.during(async () => {
    ran = await Promise.all(requests.map((request) =>
      at.place.spawn(words(at, job, request), { coverage: false })))
  })
  t.strictSame(seen, ['GET /repos/operator/notes', 'GET /repos/operator/notes/issues/1'])
  const won = at.view().all(closureCollection).map(({ doc }) => doc.idempotency_key)
  t.equal(won.length, 1)
  const answers = ran.filter((_, n) => requests[n]?.['idempotency_key'] === won[0])
  t.equal(new Set(answers.map((each) => must(each).stdout)).size, 1)
  for (const [n, each] of ran.entries()) {
    if (requests[n]?.['idempotency_key'] !== won[0]) t.equal(failure(each).code, 'job_closed')
  }
  t.hasStrict(at.job(job), { revision: before.revision + 1, reserved: false })
})

t.test('a log that is folded and a backup that is made between the reads and the record keep nothing from being closed once', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Folded', 'numbered')
  const before = at.job(job)
  must(await at.close(job, at.request(job), {
    at: async (step) => {
      if (step !== 'closure.staged') return
      must(await at.place.spawn(['state', 'compact', '--json'], { coverage: false }))
      must(await at.run(['state', 'backup', at.place.path('kept')]))
    },
  }))
  t.hasStrict(at.job(job), { revision: before.revision + 1, reserved: false })
  t.equal(at.view().all(closureCollection).length, 1)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('C-216 a job that was read back and released, and one that was put back from a copy, between the reads and the record are not closed', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Released', 'numbered')
  const ran = await at.close(job, at.request(job), {
    at: async (step) => {
      if (step === 'closure.staged') must(await at.reconcile(job))
    },
  })
  t.not(ran.status, 0)
  t.hasStrict(at.job(job), { state: 'succeeded', closed: null, reserved: false })
  const next = await at.unknown('Put back', 'numbered')
  must(await at.run(['state', 'backup', at.place.path('kept')]))
  const restored = await at.close(next, at.request(next), {
    at: async (step) => {
      if (step !== 'closure.staged') return
      must(await at.run(['state', 'restore', at.place.path('kept'), '--yes']))
    },
  })
  t.not(restored.status, 0)
  t.hasStrict(at.job(next), { state: 'unknown_external_effect', closed: null, reserved: true })
  t.equal(at.connection().active_job_id, next)
})
