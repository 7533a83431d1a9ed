/** A readback that was sealed before serves in place of a request, and of nothing else. */
import { earlierReadbacks } from '../../../src/codehost/closure/earlier.js'
import { receiptCollection, receiptsByJob } from '../../../src/codehost/jobs/receipt.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { rowsUnder } from '../../../src/state/indexes.js'
import { failure, must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

/** A job whose readback was sealed, and which a change of its goal kept from its end. */
const readBack = async (at: Closing, title: string): Promise<string> => {
  const job = await at.approved(title)
  await at.runJob(job, {
    at: async (step) => {
      if (step !== 'codehost.sealed') return
      must(await at.run(['goal', 'update', at.job(job).goal_id, '--title', `Not ${title}`]))
    },
  })
  t.hasStrict(at.job(job), { state: 'blocked', reserved: true, created: 1 })
  return job
}

t.test('C-241 an earlier sealed readback of the same serialized intent closes without a request; of another intent it does not', async (t) => {
  const at = await closing(t)
  const job = await readBack(at, 'Read before')
  const [row] = rowsUnder(at.view(), receiptCollection, receiptsByJob, { under: [job] })
  if (row === undefined) throw new Error('it was sealed')
  const { effect } = row.doc.receipt
  const other = { ...effect, body_sha256: effect.body_sha256.replace(/^./, (one) =>
    (one === '0' ? '1' : '0')) }
  await at.transact((tx) => tx.put(receiptCollection, row.id, {
    ...row.doc, receipt: { ...row.doc.receipt, effect: other },
  }))
  const before = at.bytes()
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 9 })
  const asked = await at.during(async () => {
    t.hasStrict((await at.close(job, at.request(job))).error(), { code: 'closure_blocked' })
  })
  t.ok(asked.length > 0, 'it had to be read')
  t.strictSame([...at.bytes()], [...before])
  await at.transact((tx) => tx.put(receiptCollection, row.id, row.doc))
  t.strictSame(await at.during(async () => {
    t.hasStrict(must(await at.close(job, at.request(job))).json().receipt, {
      evidence: { fresh: 0, earlier: 1, gets: 0 }, effects: { observed: 1 },
      job: { state: 'blocked', reason: 'goal_changed' },
    })
  }), [])
})

t.test('C-242 an earlier readback serves no other attempt or run of its job', async (t) => {
  const at = await closing(t)
  const job = await readBack(at, 'Read before')
  const row = at.job(job)
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 9 })
  for (const change of [
    { attempt: row.attempt + 1 }, { attempt: row.attempt - 1 }, { run_sha256: 'f'.repeat(64) },
  ]) {
    await at.transact((tx) => tx.put(jobCollection, job, { ...row, ...change }))
    const asked = await at.during(async () => {
      t.equal(failure(await at.close(job, at.request(job))).code, 'closure_blocked')
    })
    t.ok(asked.length > 0, `${JSON.stringify(change)}: it had to be read`)
  }
  at.sandbox.faults.clear()
  await at.transact((tx) => tx.put(jobCollection, job, row))
  t.strictSame(await at.during(async () => must(await at.close(job, at.request(job)))), [])
})

type Intent = Parameters<ReturnType<typeof earlierReadbacks>>[0]

t.test('C-242 an earlier readback serves a job and an intent of which every value is the one it was sealed with', async (t) => {
  const at = await closing(t)
  const id = await readBack(at, 'Read before')
  const [job, view] = [at.job(id), at.view()]
  const [row] = rowsUnder(view, receiptCollection, receiptsByJob, { under: [id] })
  if (row === undefined) throw new Error('it was sealed')
  const { effect } = row.doc.receipt
  const intent = { effect, remoteId: effect.remote_id }
  const found = (change: object, other: object = {}) =>
    earlierReadbacks(at.gov, view, { ...job, ...change })({ ...intent, ...other } as Intent)
  t.strictSame(found({}), row.doc)
  for (const change of [
    { owner: 'prn_other' }, { root: 'root_other' }, { native_kind: 'other' },
    { capability: 'other' }, { attempt: job.attempt + 1 }, { contacted: job.contacted + 1 },
    { authority_sha256: 'f'.repeat(64) }, { input_sha256: 'f'.repeat(64) },
    { run_sha256: 'f'.repeat(64) }, { task_id: null }, { connection_id: 'con_other' },
    { consent: { ...job.consent, revision: job.consent.revision + 1 } },
    { vault: { ...job.vault, sha256: 'f'.repeat(64) } }, { repository: 'other/one' },
    { repository_id: job.repository_id + 1 },
  ]) t.equal(found(change), null, Object.keys(change).join())
  for (const change of [
    { effect_id: 'other' }, { number: effect.number + 1 }, { action: 'other' }, { path: '/other' },
    { body_sha256: 'f'.repeat(64) }, { idempotency: 'other' },
  ]) t.equal(found({}, { effect: { ...effect, ...change } }), null, Object.keys(change).join())
  t.equal(found({}, { remoteId: (effect.remote_id ?? 0) + 1 }), null)
  t.equal(found({}, { objectId: 'f'.repeat(40) }), null)
})

const spoilt: Readonly<Record<string, readonly [(at: Closing) => Promise<unknown>, RegExp]>> = {
  'session': [(at) => at.run(['login', '--replace', '--json']), /closure_root_ended/],
  'token': [(at) => at.run(['codehost', 'connect', '--connection', at.id, '--token-file',
    at.sandbox.keyFiles.codehost, '--expected-revision', String(at.connection().revision)]),
  /credential_changed/],
  'connection': [(at) => at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...at.connection(), repository_id: 99,
  })), /repository_changed|closure_|connection_/],
}

for (const [name, [spoil, code]] of Object.entries(spoilt)) {
  t.test(`C-242 an earlier readback serves nobody under another ${name}`, async (t) => {
    const at = await closing(t)
    const job = await readBack(at, 'Read before')
    await spoil(at)
    const before = at.bytes()
    t.strictSame(await at.during(async () => {
      t.match(failure(await at.close(job, at.request(job))).code, code)
    }), [])
    t.strictSame([...at.bytes()], [...before])
    t.equal(at.connection().active_job_id, job)
  })
}
