/** What lists and single views tell of closures, and how little they read for it. */
import { listClosures } from '../../../src/codehost/closure/look.js'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import { listJobs } from '../../../src/codehost/jobs/list.js'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import type { View } from '../../../src/state/types.js'
import { must } from '../../support/must.js'
import { closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

/** Counts what is read of a view: rows by id, and entries of ranges. */
const counting = (view: View): { readonly view: View, readonly read: () => number } => {
  let read = 0
  return {
    read: () => read,
    view: new Proxy(view, {
      get: (of, name) => {
        const own = Reflect.get(of, name) as (...args: unknown[]) => unknown
        if (typeof own !== 'function') return own
        return (...args: unknown[]) => {
          const found = own.apply(of, args)
          read += Array.isArray(found) ? found.length : 1
          return found
        }
      },
    }),
  }
}

t.test('C-157 C-160 lists and views show what was closed and what was not resolved, each time the same, and offer nothing checked', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Shown', 'numbered')
  const open = await at.json(['codehost', 'job', job])
  t.hasStrict(open, { closure: null, closable: { now: true, reason: null, acknowledged: false } })
  const { receipt } = must(await at.close(job, at.request(job))).json()
  const told = {
    id: receipt.closure_id, closed_at: receipt.closed_at, job, connection: at.id,
    observed_effects: receipt.effects.observed, job_state: 'unknown_external_effect',
    task_state: receipt.task.state, capacity_closed: true, job_and_task_unresolved: true,
    no_learning: true, history_unchanged: true,
  }
  const closable = { now: false, reason: 'closed', acknowledged: false }
  for (const argv of [['codehost', 'job', job, '--json'], ['codehost', 'jobs', '--json']]) {
    const ran = must(await at.place.run(argv)).json()
    t.strictSame([ran].flat()[0].closure, told)
    t.strictSame([ran].flat()[0].closable, closable)
  }
  const shown = must(await at.run(['codehost', 'job', job])).stdout
  t.match(shown, new RegExp(`closed: .*${receipt.closure_id}; 1 observed`))
  t.hasStrict((await at.json(['codehost', 'closures']))[0], {
    closure: receipt.closure_id, closed_at: receipt.closed_at, job, connection: at.id,
    observed_effects: 1, capacity_closed: true, no_learning: true, history_unchanged: true,
  })
})

t.test('C-159 a row of another kind, plan, copy or session is not offered to be closed', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Offered', 'numbered')
  const row = at.job(job)
  const wrong: readonly (readonly [string, Partial<Job>])[] = [
    ['kind', { capability: 'engineering.repo-publication.v1' }],
    ['plan', { plan: { ...row.plan, sha256: '0'.repeat(64) } }],
    ['plan', { authority_sha256: '0'.repeat(64) }],
    ['restored', { restored: true }],
    ['root', { root: 'root_other' }],
    ['capacity_free', { reserved: false }],
    ['state', { state: 'succeeded' }],
  ]
  for (const [reason, change] of wrong) {
    await at.transact((tx) => tx.put(jobCollection, job, { ...row, ...change }))
    for (const words of [['job', job], ['jobs']]) {
      const shown = [await at.json(['codehost', ...words])].flat()[0]
      t.strictSame(shown.closable, { now: false, reason, acknowledged: false }, reason)
    }
  }
  await at.transact((tx) => tx.put(jobCollection, job, row))
  t.equal((await at.json(['codehost', 'job', job])).closable.now, true)
})

t.test('C-158 C-161 a page reads no more than it shows, however many rows lie before it that do not match', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('First', 'numbered')
  must(await at.close(job, at.request(job)))
  const row = at.job(job)
  const closure = at.view().get(closureCollection, row.closed?.closure_id ?? '')
  if (closure === undefined) throw new Error('it is there')
  const later = (number: number): string =>
    `job_ffffffff-ffff-7fff-8fff-${String(number).padStart(12, '0')}`
  await at.transact((tx) => {
    for (let number = 0; number < 600; number += 1) {
      const id = later(number)
      tx.put(jobCollection, id, { ...row, job_id: id, state: 'blocked', idempotency_key: id })
      tx.put(closureCollection, id, { ...closure, closure_id: id, job_id: id })
    }
  })
  const session = at.session()
  const filter = { connection: at.id, state: 'unknown_external_effect' as const, limit: 5 }
  const { view, read } = counting(at.view())
  t.strictSame(listJobs(at.gov, view, session, filter).map((one) => one.job.job_id), [job])
  t.ok(read() < 60, `${read()} rows for one`)
  const pages: string[] = []
  for (let after: string | undefined; ;) {
    const page = listJobs(at.gov, at.view(), session, { limit: 250, after })
    pages.push(...page.map((one) => one.job.job_id))
    if (page.length < 250) break
    after = pages.at(-1)
  }
  t.equal(pages.length, 601)
  t.equal(new Set(pages).size, 601)
  const last = counting(at.view())
  t.strictSame(listClosures(last.view, session, { after: later(0), limit: 5 })
    .map(({ job_id: of }) => of), [job])
  t.ok(last.read() < 60, `${last.read()} rows for the last page`)
  t.strictSame(await at.during(async () => {
    t.equal((await at.json(['codehost', 'jobs', '--limit', '10', '--after', later(3)])).length, 4)
    t.equal((await at.json(['codehost', 'closures', '--limit', '1000'])).length, 601)
  }), [])
})
