/** Receipts of what was read back, and the adoption that rests on them. */
import { digestOf, sha256Hex } from '../../../src/base/canonical.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { collections } from '../../../src/governance/rows.js'
import {
  isSealed, receiptCollection, receiptRow, type ReadReceipt, type ReceiptRow,
} from '../../../src/codehost/jobs/receipt.js'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { failure, must } from '../../support/must.js'
import { reconciled } from '../../support/codehost/reconciled.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

const receiptOf = (at: Working, job: string): ReceiptRow => {
  const row = at.view().get(receiptCollection, at.job(job).receipt_id ?? '')
  if (row === undefined) throw new Error('no receipt')
  return row
}

t.test('C-059 C-061 C-062 C-063 C-065 C-066 C-067 C-068 a receipt binds the raw reply and everything that it rests on', async (t) => {
  const at = await working(t)
  const job = await reconciled(at)
  const row = at.job(job)
  const { receipt } = receiptOf(at, job)
  const get = at.requests().findLast(({ route }) => route === 'issue')
  const task = at.task(row.task_id ?? '')
  const post = at.posts()[0]
  t.hasStrict(receipt, {
    principal: row.owner, root: row.root, native_kind: 'codehost_followthrough_v1',
    capability: 'work.codehost-followthrough.v1', job_id: job, attempt: 1, count: 1,
    job_revision: row.revision - 1, authority_sha256: row.authority_sha256,
    input_sha256: row.input_sha256, run_sha256: row.run_sha256,
    task: { task_id: row.task_id, attempt: 1, fence: task?.lease_fence },
    write_binding: row.consent, read_revision: at.connection().revision,
    connection_id: at.id, repository: 'operator/notes', repository_id: row.repository_id,
    vault: row.vault, get_path: get?.path,
  })
  t.hasStrict(receipt.effect, {
    number: 1, action: 'issue.create', path: post?.path,
    body_sha256: sha256Hex(post?.body ?? ''), remote_id: 1,
  })
  const { readback_sha256: digest, ...unsigned } = receipt
  t.equal(digest, digestOf(unsigned))
  t.not(receipt.raw_sha256, receipt.payload_sha256)
  const { sandbox } = at
  const issue = sandbox.codehost.find('operator', 'notes')?.issues[0]
  t.equal(issue?.title, 'A title')
})

t.test('C-060 the same object in other spacing has another raw digest and the same digest of what it says; both are kept', async (t) => {
  const at = await working(t)
  const digests: (readonly [string, string])[] = []
  for (const fault of [null, 'read_spaced', 'read_reordered']) {
    const job = await at.approved()
    at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1, after: 1 })
    await at.runJob(job)
    at.sandbox.faults.clear()
    const { issues } = at.sandbox.codehost.find('operator', 'notes') ?? { issues: [] }
    const [first, last] = [issues[0], issues.at(-1)]
    if (first === undefined || last === undefined) throw new Error('it was made')
    // The one of the job, told as the first one was.
    if (fault !== null) at.sandbox.faults.set(fault, { service: 'codehost', after: 1, times: 1 })
    must(await at.reconcile(job))
    at.sandbox.faults.clear()
    const { receipt } = receiptOf(at, job)
    digests.push([receipt.raw_sha256, receipt.payload_sha256])
    const again = await at.run(['codehost', 'reconcile', job, '--json',
      '--expected-read-revision', String(at.connection().revision)])
    must(again)
    const other = receiptOf(at, job).receipt
    t.equal(other.payload_sha256, receipt.payload_sha256, `${fault}: it says the same`)
    t.equal(other.raw_sha256 === receipt.raw_sha256, fault === null,
      `${fault}: the bytes are ${fault === null ? 'the same' : 'others'}`)
    const { history } = await at.json(['codehost', 'job', job, '--history', 'reads'])
    t.equal(history.entries, 2, 'both are kept')
    must(await at.run(['codehost', 'adopt', job]))
  }
  t.equal(new Set(digests.flat()).size, digests.flat().length)
})

t.test('C-064 a receipt has the write consent of then and the READ revision of now, whatever became of that consent', async (t) => {
  const at = await working(t)
  const unread = async (): Promise<string> => {
    const job = await at.approved()
    at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1, after: 1 })
    await at.runJob(job)
    at.sandbox.faults.clear()
    return job
  }
  const bound = (job: string, revision: number, what: string): void => {
    const { receipt } = receiptOf(at, job)
    t.strictSame(receipt.write_binding, { ...at.job(job).consent }, what)
    t.equal(receipt.write_binding['revision'], revision, `${what}: of its own save`)
    t.equal(receipt.read_revision, at.connection().revision, what)
  }
  const taken = await unread()
  const { revision } = at.connection()
  must(await at.run(['codehost', 'revoke', at.id]))
  t.ok(at.connection().revision > revision)
  must(await at.reconcile(taken))
  bound(taken, revision, 'revoked')
  must(await at.consent())
  must(await at.reconcile(taken))
  t.not(at.connection().consent?.consent_id, at.job(taken).consent.consent_id)
  bound(taken, revision, 'a newer one was given')
  must(await at.run(['codehost', 'adopt', taken]))
  must(await at.consent(['--action', 'issue.create', '--duration', '10m']))
  const late = await unread()
  const own = at.connection().revision
  at.clock.advance(600_000)
  t.equal((await at.json(['codehost', 'connections']))[0].consent.state, 'expired')
  must(await at.reconcile(late))
  bound(late, own, 'expired')
})

t.test('C-069 a receipt that was not made here, or altered in one value, proves nothing', async (t) => {
  const at = await working(t)
  const job = await reconciled(at)
  const row = receiptOf(at, job)
  const { store } = at.gov
  t.ok(isSealed(store, row))
  const flipped = (value: unknown): unknown => {
    if (typeof value === 'number') return value + 1
    if (typeof value === 'string') return `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`
    return null
  }
  for (const name of Object.keys(row.receipt) as (keyof ReadReceipt)[]) {
    const receipt = { ...row.receipt, [name]: flipped(row.receipt[name]) } as ReadReceipt
    t.notOk(isSealed(store, { ...row, receipt }), name)
    if (name === 'readback_sha256') continue
    const { readback_sha256: was, ...unsigned } = receipt
    t.equal(was, row.receipt.readback_sha256)
    const redone = { ...receipt, readback_sha256: digestOf(unsigned) }
    t.notOk(isSealed(store, { ...row, receipt: redone }), `${name}, with a digest of its own`)
  }
  const unsealed = { ...row, seal: 'a'.repeat(64) }
  await at.transact((tx) => tx.put(receiptCollection, row.readback_id, unsealed))
  const ran = await at.run(['codehost', 'adopt', job, '--json'])
  t.hasStrict(ran.error(), { code: 'codehost_not_adopted', reason: 'receipt_not_sealed' })
  const { readback_sha256: own, ...values } = {
    ...row.receipt, read_at: row.receipt.read_at.replace('2', '1'),
  }
  const forged = { ...values, readback_sha256: digestOf(values) }
  t.not(forged.readback_sha256, own)
  const planted = receiptRow(store, forged, row.journal)
  t.ok(isSealed(store, planted), 'whoever has the key can seal a row')
  await at.transact((tx) => tx.put(receiptCollection, row.readback_id, planted))
  t.equal((await at.run(['codehost', 'adopt', job, '--json'])).error().reason, 'receipt_not_sealed',
    'the sealed journal does not hold it')
})

t.test('C-280 C-281 C-282 C-283 C-284 C-285 each value that an adoption rests on is compared in its own record', async (t) => {
  const at = await working(t)
  const job = await reconciled(at)
  const row = at.job(job)
  const task = at.task(row.task_id ?? '')
  if (task === undefined) throw new Error('no task')
  const changedJob: readonly (readonly [Partial<Job>, string])[] = [
    [{ state: 'unknown_external_effect' }, 'job_not_succeeded'],
    [{ receipt_id: 'rdb_x' }, 'receipt_missing'],
    [{ attempt: 2 }, 'receipt_overtaken'], [{ revision: row.revision + 1 }, 'receipt_overtaken'],
    [{ authority_sha256: '0'.repeat(64) }, 'fingerprint_mismatch'],
    [{ input_sha256: '0'.repeat(64) }, 'fingerprint_mismatch'],
    [{ run_sha256: '0'.repeat(64) }, 'fingerprint_mismatch'],
    [{ consent: { ...row.consent, consent_id: 'con_x' } }, 'binding_mismatch'],
    [{ vault: { ...row.vault, updates: 9 } }, 'binding_mismatch'],
    [{ goal_revision: 9 }, 'goal_changed'],
    [{ closed: { closure_id: 'x', at: row.created_at, fence: 1 } }, 'job_closed'],
  ]
  const adopt = async (): Promise<string> =>
    String((await at.run(['codehost', 'adopt', job, '--json'])).error().details.reasons)
  for (const [change, reason] of changedJob) {
    await at.transact((tx) => tx.put(jobCollection, job, { ...row, ...change }))
    t.ok((await adopt()).split(',').includes(reason), reason)
  }
  await at.transact((tx) => tx.put(jobCollection, job, row))
  for (const [change, reason] of [
    [{ attempt: 2 }, 'attempt_overtaken'], [{ lease_fence: 9 }, 'attempt_overtaken'],
    [{ current_root: 'root_x' }, 'task_mismatch'], [{ goal_revision: 9 }, 'task_mismatch'],
    [{ kind: 'engineering.repo-publication.v1' }, 'kind_mismatch'],
    [{ request_digest: '0'.repeat(64) }, 'idempotency_mismatch'],
  ] as const) {
    await at.transact((tx) => tx.put(collections.openTasks, task.task_id, { ...task, ...change }))
    t.ok((await adopt()).split(',').includes(reason), reason)
  }
  await at.transact((tx) => tx.put(collections.openTasks, task.task_id, task))
  t.equal(at.task(task.task_id)?.state, 'blocked')
  const refusal = (await at.run(['task', 'cancel', task.task_id, '--json'])).error()
  t.equal(refusal.code, 'task_blocked')
  t.equal(refusal.message, 'A blocked task cannot be cancelled: what it did stands.',
    'it has no money to speak of')
  const before = at.requests().length
  must(await at.run(['codehost', 'adopt', job]))
  t.equal(at.task(task.task_id)?.state, 'succeeded')
  must(await at.run(['codehost', 'adopt', job]))
  t.equal(at.requests().length, before, 'nobody is contacted')
  must(await at.run(['task', 'review', task.task_id, '--approve']))
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('C-286 C-287 a connection that changed since needs another readback, a session that ended gets none', async (t) => {
  const at = await working(t)
  const job = await reconciled(at)
  must(await at.run(['codehost', 'revoke', at.id]))
  const ran = await at.run(['codehost', 'adopt', job, '--json'])
  t.hasStrict(ran.error(), { code: 'codehost_not_adopted', reason: 'readback_stale' })
  must(await at.reconcile(job))
  must(await at.run(['codehost', 'adopt', job]))
  must(await at.consent())
  const second = await reconciled(at)
  const later = { ...at.connection(), revision: 99 }
  await at.transact((tx) => tx.put(connectionCollection, at.id, later))
  must(await at.run(['logout']))
  must(await at.run(['login']))
  t.equal((await at.run(['codehost', 'adopt', second, '--json'])).error().code, 'root_replaced')
})

t.test('a success that was proved stays one when it is read again over a goal that changed, and nothing names an adoption that would be refused', async (t) => {
  const at = await working(t)
  const job = await reconciled(at)
  const row = at.job(job)
  const way = async () => (await at.json(['codehost', 'job', job])).way_on
  t.equal((await way()).command, `sallyport codehost recover adopt ${job}`)
  must(await at.run(['goal', 'update', row.goal_id, '--title', 'Otherwise']))
  const told = await way()
  t.equal(told.command, null)
  t.match(told.text, /does not stand any more: its task stays blocked/)
  const refused = await at.run(['codehost', 'adopt', job, '--json'])
  t.hasStrict(refused.error(), { code: 'codehost_not_adopted', reason: 'goal_changed' })
  must(await at.reconcile(job))
  t.strictSame(at.job(job), row)
  t.strictSame(await way(), told)
  const { history } = await at.json(['codehost', 'job', job, '--history', 'reads'])
  t.equal(history.entries, 2, 'what was read is kept')
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('C-024 C-065 another token, or another connection of the same name, reads nothing back', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await at.runJob(job, {
    at: (step) => {
      if (step === 'codehost.created') {
        at.sandbox.faults.set('read_close_before_headers', { service: 'codehost', times: 1 })
      }
    },
  })
  must(await at.run(['codehost', 'connect', '--connection', at.id, '--token-file',
    at.sandbox.keyFiles.codehost, '--expected-revision', String(at.connection().revision)]))
  const before = at.requests().length
  t.equal(failure(await at.reconcile(job)).code, 'credential_changed')
  t.equal(at.requests().length, before)
  t.equal(at.connection().active_job_id, job)
  t.equal((await at.json(['codehost', 'connections']))[0].occupied_for_good, true)
})
