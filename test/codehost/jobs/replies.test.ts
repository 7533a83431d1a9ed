/** What the host answers, loses or garbles: refused once, unknown, or proved; sent twice never. */
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { failure, must } from '../../support/must.js'
import { closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

/** Faults of the creation, the state that they lead to, and its reason. */
const creations: readonly (readonly [string, string, string])[] = [
  ['write_close_before_headers', 'unknown_external_effect', 'reset'],
  ['write_truncate', 'unknown_external_effect', 'truncated'],
  ['write_status_500', 'unknown_external_effect', 'status_500'],
  ['write_timed_out', 'unknown_external_effect', 'status_422'],
  ['write_cut_422', 'unknown_external_effect', 'status_422'],
  ['write_malformed', 'unknown_external_effect', 'reply_malformed'],
  ['write_redirect_307', 'unknown_external_effect', 'status_307'],
  ['write_oversize', 'unknown_external_effect', 'reply_too_large'],
  ['write_gzip', 'unknown_external_effect', ''],
  ['write_exists_422', 'unknown_external_effect', 'status_422'],
  ['write_not_done_404', 'unknown_external_effect', 'status_404'],
  ['write_not_done_408', 'unknown_external_effect', 'status_408'],
  ['write_not_done_409', 'unknown_external_effect', 'status_409'],
  ['write_not_done_422', 'failed', 'status_422'],
  ['write_status_401', 'failed', 'codehost_token_refused'],
  ['write_too_many', 'failed', 'codehost_rate_limited'],
  ['write_too_fast', 'failed', 'codehost_rate_limited'],
  ['write_limit_named', 'failed', 'codehost_rate_limited'],
  ['write_limit_spent', 'failed', 'codehost_rate_limited'],
  ['write_error_beside', 'unknown_external_effect', 'reply_malformed'],
  ['write_first_line_http2', 'unknown_external_effect', 'reply_malformed'],
  ['write_first_line_nul', 'unknown_external_effect', 'reply_malformed'],
  ['write_switching', 'unknown_external_effect', 'reply_malformed'],
]

t.test('a creation without a whole confirmation is unknown or refused, keeps its connection and is never sent again', async (t) => {
  const at = await closing(t)
  for (const [at_, [fault, state, reason]] of creations.entries()) {
    const posts = at.posts().length
    if (at_ > 0) {
      // Only a test frees it so.
      await at.transact((tx) => tx.put(connectionCollection, at.id, {
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
    const { way_on: way, retry_at: until } = await at.json(['codehost', 'job', job])
    const { revision, active_fence: fence } = at.connection()
    t.equal(way.command, isRefused
      ? 'sallyport codehost connect --repo operator/notes --token-file F'
      : `sallyport codehost close-capacity ${job} --expected-job-revision ${row.revision} `
        + `--expected-connection-revision ${revision} --expected-connection-fence ${fence} `
        + '--remote-id N', fault)
    t.match(way.text, isRefused ? 'its whole reply proves that' : 'Look on the host', fault)
    const status = /^status_(\d+)$/.exec(reason)?.[1]
    if (status !== undefined) t.match(way.text, `status ${status}`, fault)
    const waits = ['write_too_many', 'write_too_fast', 'write_limit_spent'].includes(fault)
    t.equal(until !== null, waits, fault)
    if (waits) t.match(way.text, `limit of its token, which lasts until ${until}`)
  }
})

t.test('C-020 C-021 a limit that the host names says when the token may come back, and frees nothing', async (t) => {
  const at = await closing(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_too_fast', { service: 'codehost', times: 1, value: 90 })
  const ran = (await at.runJob(job)).error()
  at.sandbox.faults.clear()
  t.hasStrict(ran, { code: 'effect_refused', reason: 'codehost_rate_limited' })
  const { retry_at: until } = at.job(job)
  const marked = Date.parse(at.job(job).updated_at)
  t.ok(Math.abs(Date.parse(until ?? '') - marked - 90_000) < 10_000, String(until))
  const { history } = await at.json(['codehost', 'job', job, '--history', 'effects'])
  t.hasStrict(JSON.parse(history.lines.at(-1)), {
    outcome: 'refused', reason: 'codehost_rate_limited', status: 403, retry_at: until,
  })
  t.equal(at.connection().active_job_id, job)
  t.hasStrict((await at.close(job, at.request(job, { remote_id: 1 }))).error(), {
    code: 'closure_blocked', reason: 'remote_not_found',
  })
  t.equal(at.connection().active_job_id, job)
  t.equal((await at.run(['state', 'check'])).status, 0)
  const other = await at.beside()
  const second = await other.approved('Another')
  at.sandbox.faults.set('read_limit_spent', { service: 'codehost', times: 1 })
  const refused = (await other.runJob(second)).error()
  at.sandbox.faults.clear()
  t.equal(refused.code, 'codehost_rate_limited')
  const { retry_after_s: seconds } = refused.details as { retry_after_s: number }
  t.ok(seconds > 0 && seconds <= 3_600, String(seconds))
  t.match(refused.hint, `Try again in ${seconds} s.`)
  const unknown = await other.unknown('Unknown', 'numbered')
  at.sandbox.faults.set('read_limit_spent', { service: 'codehost', times: 1 })
  const closed = (await other.close(unknown, other.request(unknown))).error()
  at.sandbox.faults.clear()
  t.hasStrict(closed, { code: 'closure_blocked', reason: 'rate_limited' })
  t.ok((closed.details as { retry_after_s: number }).retry_after_s > 0)
})

t.test('C-104 a whole 201 that differs in its text alone keeps its number: reading that one back settles the job', async (t) => {
  const at = await closing(t)
  at.sandbox.faults.set('write_other_text', { service: 'codehost', times: 2 })
  const job = await at.approved()
  await at.runJob(job)
  const issue = must(await at.run(['codehost', 'job', job, '--json'])).json().remote_id
  t.hasStrict(at.job(job), {
    state: 'unknown_external_effect', reason: 'reply_differs', contacted: 1, created: 0,
    remote: { effect: 1, id: issue }, reserved: true,
  })
  t.ok(issue > 0)
  const { way_on: way } = await at.json(['codehost', 'job', job])
  t.match(way.text, 'told another text than was sent')
  t.match(way.command, `codehost recover reconcile ${job}`)
  t.hasStrict((await at.close(job, at.request(job, { remote_id: issue + 1 }))).error(),
    { reason: 'remote_id_differs' })
  at.sandbox.faults.set('issue_other_body', { service: 'codehost', times: 1 })
  t.equal((await at.reconcile(job)).error().code, 'readback_differs')
  at.sandbox.faults.clear()
  must(await at.reconcile(job))
  t.hasStrict(at.job(job), { state: 'succeeded', created: 1, reserved: false })
  t.equal((await at.run(['state', 'check'])).status, 0)
  const { way_on: open } = await at.json(['codehost', 'job', job])
  t.equal(open.command, `sallyport codehost recover adopt ${job}`)
  must(await at.run(['codehost', 'adopt', job]))
  t.equal((await at.json(['codehost', 'job', job])).way_on.command, null)
  at.sandbox.faults.set('write_other_text', { service: 'codehost', times: 1 })
  const comment = await at.prepareComment(issue)
  must(await at.approve(comment))
  await at.runJob(comment)
  at.sandbox.faults.clear()
  t.hasStrict(at.job(comment), { reason: 'reply_differs', remote: { effect: 1 } })
  must(await at.close(comment, at.request(comment)))
  t.equal(at.connection().active_job_id, null)
})

t.test('C-021 a 201 that differs in more than its text has no number of this effect', async (t) => {
  const at = await closing(t)
  for (const faults of [
    ['write_other_text', 'write_old_time'], ['write_other_text', 'write_other_author'],
    ['write_other_text', 'write_no_time'], ['write_elsewhere'],
  ]) {
    const job = await at.approved(faults.join(' '))
    for (const fault of faults) at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    await at.runJob(job)
    at.sandbox.faults.clear()
    t.hasStrict(at.job(job), {
      state: 'unknown_external_effect', reason: 'reply_differs', remote: null, created: 0,
    }, faults.join())
    await at.transact((tx) =>
      tx.put(connectionCollection, at.id, { ...at.connection(), active_job_id: null }))
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
  ['read_error_beside', 'codehost_reply'],
  ['read_first_line_foreign', 'reply_malformed'],
  ['read_first_line_nul', 'reply_malformed'],
  ['read_switching', 'reply_malformed'],
]

t.test('C-104 C-107 C-109 C-110 what was created and not read back is unknown, until a readback matches', async (t) => {
  const at = await closing(t)
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

t.test('an error of null in what the host tells is none, of a creation and of every read', async (t) => {
  const at = await closing(t)
  for (const fault of ['write_error_null', 'read_error_null']) {
    at.sandbox.faults.set(fault, { service: 'codehost' })
  }
  must(await at.consent())
  const job = await at.approved()
  must(await at.runJob(job))
  t.equal(at.job(job).state, 'succeeded')
})

t.test('a repository that is told beside an error, or by no reply, gets no consent', async (t) => {
  const at = await closing(t)
  const faults = [
    'read_error_beside', 'read_first_line_http2', 'read_first_line_nul', 'read_switching',
  ]
  for (const fault of faults) {
    const before = at.connection()
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    const ran = await at.consent()
    t.equal(ran.status, 9, `${fault}: ${ran.stderr}`)
    t.strictSame(at.connection(), before, fault)
  }
})

t.test('what another job was proved by proves no second one', async (t) => {
  const at = await closing(t)
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
  const at = await closing(t)
  const job = await at.approved()
  const { jobCollection } = await import('../../../src/codehost/jobs/job-rows.js')
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
  const at = await closing(t)
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
