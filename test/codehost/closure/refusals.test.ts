/** What is no proof leaves the capacity occupied, with its reason, and every byte of the state. */
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { closureBlockers } from '../../../src/codehost/closure/blockers.js'
import { closableStates } from '../../../src/codehost/closure/eligible.js'
import { receiptCollection } from '../../../src/codehost/jobs/receipt.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { collections } from '../../../src/governance/rows.js'
import { must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

/** Faults of the two reads, or of the second alone, and the reason that each gives. */
const faults: readonly (readonly [string, number, string])[] = [
  ['read_not_there', 1, 'remote_not_found'],
  ['issue_other_body', 0, 'readback_differs'],
  ['read_malformed', 1, 'readback_malformed'],
  ['read_truncate', 1, 'readback_truncated'],
  ['read_oversize', 1, 'readback_too_large'],
  ['read_oversize_chunked', 1, 'readback_too_large'],
  ['read_gzip', 1, 'readback_encoded'],
  ['read_redirect_301', 1, 'readback_redirected'],
  ['read_status_500', 0, 'host_failed'],
  ['read_limit_spent', 0, 'rate_limited'],
  ['read_close_before_headers', 1, 'reply_lost'],
  ['read_error_beside', 1, 'readback_malformed'],
  ['read_first_line_http2', 1, 'readback_malformed'],
  ['read_first_line_nul', 1, 'readback_malformed'],
  ['read_switching', 1, 'readback_malformed'],
]

/** What a fault needs besides. */
const values: Readonly<Record<string, { readonly value: number }>> = {
  read_oversize: { value: 1_048_577 }, read_oversize_chunked: { value: 1_048_577 },
}

t.test('C-094 C-194 C-196 C-197 C-198 C-201 C-210 whatever is no proof leaves the capacity occupied with its reason, and the state byte for byte', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Refused', 'numbered')
  const before = at.bytes()
  for (const [fault, after, reason] of faults) {
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1, after, ...values[fault] })
    const seen = await at.during(async () => {
      const ran = await at.close(job, at.request(job))
      t.equal(ran.status, 7, `${fault}: ${ran.stderr}`)
      t.hasStrict(ran.error(), { code: 'closure_blocked', reason }, fault)
    })
    at.sandbox.faults.clear()
    t.ok(seen.every((one) => one.startsWith('GET ')), fault)
    t.ok(seen.length <= 2, `${fault}: nothing is tried again`)
    t.strictSame([...at.bytes()], [...before], fault)
    t.equal(at.connection().active_job_id, job)
  }
})

t.test('C-195 a list where one object was asked for is ambiguous', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('List', 'numbered')
  at.sandbox.faults.reply({ status: 200, body: '[]' }, { service: 'codehost', route: 'issue' })
  t.hasStrict((await at.close(job, at.request(job))).error(), { reason: 'readback_ambiguous' })
})

t.test('C-199 C-200 C-204 what is missing of plan or ledger blocks before anybody is asked', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Altered', 'numbered')
  const row = at.job(job)
  const states: readonly (readonly [string, Partial<typeof row>])[] = [
    ['prepared_bytes_missing', { plan: { ...row.plan, artifact_id: 'art_none' } }],
    ['prepared_bytes_altered', { plan: { ...row.plan, sha256: '0'.repeat(64) } }],
    ['inventory_incomplete', { contacted: 2 }],
    ['inventory_incomplete', { created: 0 }],
  ]
  for (const [reason, change] of states) {
    await at.transact((tx) => tx.put(jobCollection, job, { ...row, ...change }))
    t.strictSame(await at.during(async () => {
      t.hasStrict((await at.close(job, at.request(job))).error(), { reason }, reason)
    }), [])
    await at.transact((tx) => tx.put(jobCollection, job, row))
  }
})

t.test('the number that proved another job proves no second one, and nobody is asked', async (t) => {
  const at = await closing(t)
  const first = await at.unknown('The same title')
  must(await at.close(first, at.request(first, { remote_id: 1 })))
  const second = await at.unknown('The same title')
  const before = at.bytes()
  t.strictSame(await at.during(async () => {
    const ran = await at.close(second, at.request(second, { remote_id: 1 }))
    t.equal(ran.status, 7, ran.stderr)
    t.hasStrict(ran.error(), { code: 'closure_blocked', reason: 'remote_taken' })
  }), [])
  t.strictSame([...at.bytes()], [...before])
  t.equal(at.connection().active_job_id, second)
  must(await at.close(second, at.request(second, { remote_id: 2 })))
  t.equal(at.connection().active_job_id, null)
})

t.test('a number that comes to prove another job during the reads closes nothing more', async (t) => {
  const at = await closing(t)
  const first = await at.unknown('The same title')
  const other = await at.beside()
  const second = await other.approved('The same title')
  must(await other.runJob(second))
  let after: ReadonlyMap<string, string> = new Map()
  const ran = await at.close(first, at.request(first, { remote_id: 1 }), {
    at: async (step) => {
      if (step !== 'closure.staged') return
      // As if the other job had been proved by that number meanwhile.
      const row = at.view().get(receiptCollection, at.job(second).receipt_id ?? '')
      if (row === undefined) throw new Error('it was proved')
      const effect = { ...row.receipt.effect, remote_id: 1 }
      await at.transact((tx) => tx.put(receiptCollection, row.readback_id, {
        ...row, receipt: { ...row.receipt, effect },
      }))
      after = at.bytes()
    },
  })
  t.hasStrict(ran.error(), { code: 'closure_blocked', reason: 'remote_taken' }, ran.stderr)
  t.strictSame([...at.bytes()], [...after], 'as the other closure left it')
  t.equal(at.connection().active_job_id, first)
  t.equal(other.connection().active_job_id, null)
})

type Act = (at: Closing, job: string) => Promise<unknown>

const acts: Readonly<Record<string, readonly [Act, string]>> = {
  'C-250 the session is revoked': [
    async (at) => must(await at.run(['logout'])), 'unauthorized session_ended'],
  'C-251 the job moves on': [
    async (at, job) => at.transact((tx) => tx.put(jobCollection, job, {
      ...at.job(job), revision: at.job(job).revision + 1,
    })), 'conflict closure_binding_changed'],
  ...Object.fromEntries((['authority_sha256', 'input_sha256', 'run_sha256'] as const).map(
    (name): readonly [string, readonly [Act, string]] => [`C-252 ${name} of the job changes`, [
      async (at, job) => at.transact((tx) => tx.put(jobCollection, job, {
        ...at.job(job), [name]: '0'.repeat(64),
      })), 'conflict closure_binding_changed']])),
  'C-253 a process takes the lease': [
    async (at, job) => at.transact((tx) => {
      const task = at.task(at.job(job).task_id ?? '')
      if (task === undefined) throw new Error('it has one')
      tx.put(collections.openTasks, task.task_id, {
        ...task, lease: { holder: 'op', fence: 1, expires_at: '2100-01-01T00:00:00.000Z' },
      })
    }), 'conflict closure_binding_changed'],
  'C-253 the write binding changes': [
    async (at, job) => at.transact((tx) => tx.put(jobCollection, job, {
      ...at.job(job), consent: { ...at.job(job).consent, binding_sha256: '0'.repeat(64) },
    })), 'conflict closure_binding_changed'],
  'C-255 the connection is saved anew': [
    async (at) => must(await at.run(['codehost', 'mode', at.id, 'disabled'])),
    'conflict closure_binding_changed'],
  'C-256 another job holds the connection': [
    async (at) => at.transact((tx) => tx.put(connectionCollection, at.id, {
      ...at.connection(), active_job_id: 'job_other', active_fence: 9,
    })), 'conflict closure_binding_changed'],
  'C-257 the token is another one': [
    async (at) => must(await at.run(['codehost', 'connect', '--connection', at.id, '--token-file',
      at.sandbox.keyFiles.codehost, '--expected-revision', String(at.connection().revision)])),
    'unauthorized credential_changed'],
}

for (const [name, [act, expected]] of Object.entries(acts)) {
  t.test(`C-216 ${name} between the reads and the record: nothing is closed`, async (t) => {
    const at = await closing(t)
    const job = await at.unknown('Raced', 'numbered')
    let after: ReadonlyMap<string, string> = new Map()
    let active: string | null = null
    const ran = await at.close(job, at.request(job), {
      at: async (step) => {
        if (step !== 'closure.staged') return
        await act(at, job)
        after = at.bytes()
        active = at.connection().active_job_id
      },
    })
    t.not(ran.status, 0)
    const { code } = ran.error()
    if (expected !== '') t.ok(expected.endsWith(code), `${code}: ${ran.stderr}`)
    t.equal(at.job(job).closed, null)
    t.equal(at.connection().active_job_id, active)
    t.strictSame([...at.bytes()], [...after], 'as the other act left it')
  })
}

t.test('C-083 a job that is leased, in whatever state, or that runs has no capacity to close: its reservation stays', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Leased', 'numbered')
  const sound = at.job(job)
  const task = at.task(sound.task_id ?? '')
  if (task === undefined) throw new Error('it has one')
  const lease = { holder: 'op', fence: 1, expires_at: '2100-01-01T00:00:00.000Z' }
  const put = (row: Partial<typeof sound>, more: Partial<typeof task>) => at.transact((tx) => {
    tx.put(jobCollection, job, { ...sound, ...row })
    tx.put(collections.openTasks, task.task_id, { ...task, ...more })
  })
  const refused = async (what: string, reason: string): Promise<void> => {
    const before = at.bytes()
    const asked = await at.during(async () => {
      t.hasStrict((await at.close(job, at.request(job))).error(), {
        code: 'job_not_closable', reason,
      }, what)
    })
    t.strictSame(asked, [], `${what}: nobody is asked`)
    t.strictSame([...at.bytes()], [...before], `${what}: every byte is as it was`)
    t.hasStrict(at.connection(), { active_job_id: job, active_fence: sound.fence }, what)
    t.equal(at.job(job).reserved, true, what)
  }
  for (const state of closableStates) {
    await put({ state }, { lease })
    await refused(`${state}, leased`, 'leased')
    for (const busy of ['queued', 'running'] as const) {
      await put({ state }, { state: busy, lease: null, blocked: null })
      await refused(`${state}, its task ${busy}`, 'leased')
    }
  }
  await put({ state: 'running' }, {})
  await refused('running', 'running')
  await put({}, {})
  must(await at.close(job, at.request(job)))
})

t.test('every named reason says what is missing and what a person can do', async (t) => {
  for (const [name, { text, next }] of Object.entries(closureBlockers)) {
    t.match(text, /\.$/, name)
    t.ok(next.length > 10, name)
  }
})
