/** Closures in a state that is looked after: checked, copied, put back. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { failure, must } from '../../support/must.js'
import { closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

t.test('a closure that contradicts its request, job, checkpoint or account is found', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Checked', 'numbered')
  must(await at.close(job, at.request(job)))
  const row = at.job(job)
  const id = row.closed?.closure_id ?? ''
  const closure = at.view().get(closureCollection, id)
  if (closure === undefined) throw new Error('it is there')
  const codes = async (): Promise<string> => (await at.run(['state', 'check', '--json'])).stdout
  t.notMatch(await codes(), /codehost_closure/)
  const changes: readonly (readonly [Partial<typeof closure>, RegExp])[] = [
    [{ closure_id: 'cls_other' }, /codehost_closure_id/],
    [{ request: '{}' }, /codehost_closure_request/],
    [{ fence: 9 }, /codehost_closure_job/],
    [{ receipt: { ...closure.receipt, statement: 'Other.' } }, /codehost_closure_checkpoint/],
    [{ artifact: { ...closure.artifact, artifact_id: 'art_none' } }, /codehost_closure_account/],
  ]
  for (const [change, code] of changes) {
    await at.transact((tx) => tx.put(closureCollection, id, { ...closure, ...change }))
    t.match(await codes(), code)
    await at.transact((tx) => tx.put(closureCollection, id, closure))
  }
  const connection = at.connection()
  for (const [change, of] of [
    [{ reserved: true }, {}], [{ closed: { ...row.closed, fence: 9 } }, {}],
    [{}, { active_job_id: job }],
  ] as const) {
    await at.transact((tx) => {
      tx.put(jobCollection, job, { ...row, ...change } as typeof row)
      tx.put(connectionCollection, at.id, { ...connection, ...of })
    })
    t.match(await codes(), /codehost_closure_job/, JSON.stringify([change, of]))
  }
  await at.transact((tx) => {
    tx.put(jobCollection, job, row)
    tx.put(connectionCollection, at.id, connection)
  })
  await at.transact((tx) => tx.remove(closureCollection, id))
  t.match(await codes(), /codehost_closure_missing/)
})

t.test('an old copy that is put back knows the closure, and its job still never runs', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Copied', 'numbered')
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  const request = at.request(job)
  must(await at.close(job, request))
  const { closed, state, reason } = at.job(job)
  t.equal(state, 'unknown_external_effect')
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  t.hasStrict(at.job(job), { closed, reserved: false, state, reason }, 'as it was closed')
  t.equal(at.connection().active_job_id, null)
  t.ok(at.view().get(closureCollection, closed?.closure_id ?? ''))
  t.equal(failure(await at.run(['codehost', 'resume', job, '--json'])).code, 'job_closed')
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('kept requests are in a copy, byte for byte, and are looked at by a check', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Pending', 'numbered')
  const request = at.request(job)
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 2 })
  await at.close(job, request)
  at.sandbox.faults.clear()
  const name = `pending/${request['idempotency_key']}.json`
  const path = join(at.place.stateDir, name)
  const bytes = readFileSync(path)
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  t.strictSame(readFileSync(join(kept, 'state', name)), bytes)
  chmodSync(path, 0o644)
  writeFileSync(join(at.place.stateDir, 'pending', 'strange'), 'x')
  const check = await at.run(['state', 'check', '--json'])
  t.equal(check.status, 0, check.stdout)
  t.match(check.stdout, /pending_mode/)
  t.match(check.stdout, /pending_strange/)
  must(await at.run(['state', 'restore', kept, '--yes']))
  t.strictSame(readFileSync(path), bytes)
  t.equal(at.view().get(jobCollection, job)?.closed, null)
})
