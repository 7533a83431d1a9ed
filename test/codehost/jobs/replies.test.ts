/** What the host answers, loses or garbles: refused once, unknown, or proved; sent twice never. */
import t from 'tap'
import { failure, must } from '../../support/must.js'
import { working } from '../../support/codehost/working.js'

/** Faults of the creation, the state that they lead to, and its reason. */
const creations: readonly (readonly [string, string, string])[] = [
  ['write_close_before_headers', 'unknown_external_effect', 'reset'],
  ['write_truncate', 'unknown_external_effect', 'truncated'],
  ['write_status_500', 'unknown_external_effect', 'status_500'],
  ['write_timed_out', 'unknown_external_effect', 'status_422'],
  ['write_cut_422', 'unknown_external_effect', 'status_422'],
  ['write_malformed', 'unknown_external_effect', 'reply_malformed'],
  ['write_redirect_307', 'unknown_external_effect', 'status_307'],
  ['write_other_text', 'unknown_external_effect', 'reply_differs'],
  ['write_oversize', 'unknown_external_effect', 'reply_too_large'],
  ['write_gzip', 'unknown_external_effect', ''],
  ['write_not_done_422', 'failed', 'effect_refused'],
  ['write_too_many', 'failed', 'effect_refused'],
  ['write_limit_spent', 'failed', 'effect_refused'],
]

t.test('a creation without a whole confirmation is unknown or refused, keeps its connection and is never sent again', async (t) => {
  const at = await working(t)
  for (const [at_, [fault, state, reason]] of creations.entries()) {
    const posts = at.posts().length
    if (at_ > 0) {
      const { transact, id } = at
      const { connectionCollection } = await import('../../../src/governance/connections/rows.js')
      // Only a test frees it so.
      await transact((tx) => tx.put(connectionCollection, id, {
        ...at.connection(), active_job_id: null,
      }))
    }
    const job = await at.approved(`Issue ${fault}`)
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    const ran = await at.runJob(job)
    at.sandbox.faults.clear()
    t.ok([7, 9].includes(ran.status), `${fault}: ${ran.status}`)
    const row = at.job(job)
    t.equal(row.state, state, fault)
    if (reason !== '') t.equal(row.reason, reason, fault)
    t.hasStrict(row, { contacted: 1, created: 0, reserved: true, remote: null })
    t.equal(at.connection().active_job_id, job, fault)
    t.equal(at.posts().length, posts + 1, fault)
    for (const verb of ['run', 'resume']) {
      t.equal((await at.run(['codehost', verb, job, '--json'])).error().code, 'job_state')
    }
    const before = at.requests().length
    const back = await at.reconcile(job)
    t.equal(failure(back).code, state === 'failed' ? 'effect_refused' : 'remote_id_required')
    t.equal(at.requests().length, before, 'nothing is searched for')
    const isRefused = state === 'failed'
    t.equal((await at.json(['codehost', 'connections']))[0].occupied_for_good, isRefused, fault)
    t.match((await at.run(['codehost', 'job', job])).stdout, isRefused
      ? 'sallyport codehost connect' : `sallyport codehost close-capacity ${job} --remote-id N`)
  }
})

/** Faults of the readback alone, and why it is no evidence. */
const readbacks: readonly (readonly [string, string])[] = [
  ['read_close_before_headers', 'reset'],
  ['read_not_there', 'remote_not_found'],
  ['issue_other_body', 'readback_differs'],
  ['issue_elsewhere', 'readback_differs'],
  ['read_redirect_301', 'repository_moved'],
  ['read_malformed', 'codehost_reply'],
  ['read_status_500', 'codehost_reply'],
]

t.test('C-104 C-107 C-109 C-110 what was created and not read back is unknown, until a readback matches', async (t) => {
  const at = await working(t)
  for (const [fault, reason] of readbacks) {
    const job = await at.approved(`Issue ${fault}`)
    const ran = await at.runJob(job, {
      at: (step) => {
        if (step !== 'codehost.created') return
        at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
      },
    })
    t.equal(failure(ran).code, 'unknown_external_effect', fault)
    t.hasStrict(at.job(job), {
      state: 'unknown_external_effect', reason, created: 1, reserved: true,
    })
    const stale = await at.run([
      'codehost', 'reconcile', job, '--expected-read-revision', '99', '--json',
    ])
    t.equal(stale.error().code, 'stale_read_revision')
    must(await at.reconcile(job))
    t.hasStrict(at.job(job), { state: 'succeeded', reason: null, reserved: false })
    t.equal(at.connection().active_job_id, null)
    const { history } = await at.json(['codehost', 'job', job, '--history', 'reads'])
    const [entry] = history.lines.map((line: string) => JSON.parse(line))
    t.hasStrict(entry, { purpose: 'reconcile', read_revision: at.connection().revision })
  }
  t.equal(at.posts().length, readbacks.length, 'each was sent once')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('what another job was proved by proves no second one', async (t) => {
  const at = await working(t)
  const { receiptCollection } = await import('../../../src/codehost/jobs/receipt.js')
  const first = await at.approved('The same title')
  must(await at.runJob(first))
  const second = await at.approved('The same title')
  const ran = await at.run(['codehost', 'run', second, '--json'], {
    // As if the host had answered with the number that it gave before.
    at: async (step) => {
      if (step !== 'codehost.created') return
      const row = at.view().get(receiptCollection, at.job(first).receipt_id ?? '')
      if (row === undefined) throw new Error('it was proved')
      const effect = { ...row.receipt.effect, remote_id: at.job(second).remote?.id ?? 0 }
      await at.transact((tx) => tx.put(receiptCollection, row.readback_id, {
        ...row, receipt: { ...row.receipt, effect },
      }))
    },
  })
  t.not(ran.status, 0)
  t.hasStrict(at.job(second), { state: 'blocked', reason: 'remote_taken', reserved: true })
  t.equal(at.connection().active_job_id, second)
  t.match((await at.run(['codehost', 'job', second])).stdout, /one of the\s+two was never made/)
})

t.test('C-106 a job whose sealed bytes are not its own is neither run nor read back', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const { jobCollection } = await import('../../../src/codehost/jobs/rows.js')
  const row = at.job(job)
  await at.transact((tx) => tx.put(jobCollection, job, {
    ...row, plan: { ...row.plan, sha256: '0'.repeat(64) },
  }))
  t.hasStrict((await at.runJob(job)).error(), { code: 'plan_altered' })
  t.equal(at.dials(), 0)
  t.equal((await at.run(['state', 'check'])).status, 12, 'and a check tells')
  await at.transact((tx) => tx.put(jobCollection, job, row))
  await at.runJob(job, {
    at: (step) => {
      if (step !== 'codehost.created') return
      at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
    },
  })
  at.sandbox.faults.clear()
  const unknown = at.job(job)
  const before = at.requests().length
  const { consent } = unknown
  for (const [change, code] of [
    [{ plan: { ...unknown.plan, sha256: '0'.repeat(64) } }, 'plan_altered'],
    [{ consent: { ...consent, binding_sha256: '0'.repeat(64) } }, 'plan_altered'],
    [{ consent: { ...consent, consent_id: 'con_x' } }, 'plan_altered'],
  ] as const) {
    await at.transact((tx) => tx.put(jobCollection, job, { ...unknown, ...change }))
    t.equal(failure(await at.reconcile(job)).code, code)
  }
  t.equal(at.requests().length, before, 'nobody is asked')
  await at.transact((tx) => tx.put(jobCollection, job, unknown))
  must(await at.reconcile(job))
})

t.test('what the host has is looked at before the connection is occupied', async (t) => {
  const at = await working(t)
  for (const [fault, code] of [
    ['repository_renumbered', 'repository_replaced'],
    ['repository_archived', 'repository_archived'],
    ['read_limit_spent', 'codehost_rate_limited'], ['read_status_401', 'codehost_token_refused'],
    ['read_close_before_headers', 'codehost_unreachable'],
  ] as const) {
    const job = await at.approved()
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    t.equal(failure(await at.runJob(job)).code, code)
    at.sandbox.faults.clear()
    t.equal(at.job(job).state, 'approved')
  }
  const comment = await at.prepareComment(77)
  must(await at.approve(comment))
  t.equal(failure(await at.runJob(comment)).code, 'issue_not_seen')
  t.equal(at.posts().length, 0)
  t.hasStrict(at.connection(), { active_job_id: null, active_fence: 0 })
})
