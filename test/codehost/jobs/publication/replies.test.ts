/** What the host answers, loses or garbles at each POST of a publication: nothing is sent twice. */
import type { Test } from 'tap'
import { codehostActions } from '../../../../src/codehost/constants.js'
import { historyNames } from '../../../../src/codehost/jobs/jobs-contract.js'
import { receiptCollection } from '../../../../src/codehost/jobs/receipt.js'
import type { Job } from '../../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../../src/governance/connections/connection-rows.js'
import { clientOf, settled } from '../../../support/sandbox/host-client.js'
import { failure, must } from '../../../support/must.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { slice } from '../../../support/slice.js'
import { t } from '../../../support/tests-in-slices.js'

/** POSTs of a publication of these tests. */
const all = 6

const noneTwice = (t: Test, at: Publishing): void => {
  const sent = at.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  t.equal(new Set(sent).size, sent.length, 'no effect was sent twice')
}

const nextStep = async (at: Publishing, job: string): Promise<string> =>
  (await at.json(['codehost', 'job', job])).way_on.command

/** Runs with a fault of one POST; gives the row afterwards. */
const withFault = async (
  at: Publishing, job: string, number: number, fault: string, value?: number,
): Promise<{ readonly row: Job, readonly code: string }> => {
  at.sandbox.faults.set(fault, {
    service: 'codehost', after: number - 1, times: 1, ...(value === undefined ? {} : { value }),
  })
  const ran = await at.runJob(job)
  at.sandbox.faults.clear()
  return { row: at.job(job), code: ran.status === 0 ? '' : failure(ran).code }
}

t.test('C-104 C-105 C-107 a lost reply leaves the job unknown; what was made is found by its own id, and the rest goes on', async (t) => {
  const at = await publishing(t)
  const numbers = slice('reply lost of POST', [1, 2, 3, 4, 5], {
    axesOf: (number) => [number === all - 1 ? 'the branch' : 'an object'], idOf: String,
  })
  for (const number of numbers) {
    const job = await at.approvedPublication()
    const before = at.posts().length
    const { row, code } = await withFault(at, job, number, 'write_close_before_headers')
    t.equal(code, 'unknown_external_effect', `POST ${number}`)
    t.hasStrict(row, {
      state: 'unknown_external_effect', contacted: number, created: number - 1, reserved: true,
    })
    t.equal(at.posts().length, before + number, 'nothing later is sent')
    for (const verb of ['run', 'resume']) {
      t.equal((await at.run(['codehost', verb, job, '--json'])).error().code, 'job_state')
    }
    const back = await at.reconcile(job)
    t.hasStrict(back.error(), { code: 'codehost_incomplete', reason: 'incomplete' })
    t.match(await nextStep(at, job), `codehost run ${job} --resume`)
    t.hasStrict(at.job(job), {
      state: 'blocked', reason: 'incomplete', contacted: number, created: number, reserved: true,
    })
    t.equal((await at.reconcile(job)).error().code, 'nothing_to_reconcile')
    if (number === all - 1) {
      // The base is where it was; the branch that was made is not.
      at.sandbox.faults.set('ref_moved', { service: 'codehost', after: 1, times: 1 })
      t.equal(failure(await at.run(['codehost', 'resume', job, '--json'])).code, 'branch_differs')
      at.sandbox.faults.clear()
      t.equal(at.posts().length, before + number)
    }
    must(await at.run(['codehost', 'resume', job]))
    t.hasStrict(at.job(job), { state: 'succeeded', contacted: all, created: all, attempt: 2 })
    t.equal(at.connection().active_job_id, null)
    t.equal(at.task(at.job(job).task_id ?? '')?.state, 'succeeded')
  }
  noneTwice(t, at)
  await settled(t, clientOf(at.sandbox))
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
})

t.test('a pull request whose reply was lost has no number: nothing is searched for, and a person who finds it can free the connection', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  await withFault(at, job, all, 'write_close_before_headers')
  t.hasStrict(at.job(job), {
    state: 'unknown_external_effect', contacted: all, created: all - 1, remote: null,
  })
  const before = at.requests().length
  const back = await at.reconcile(job)
  t.equal(back.error().code, 'remote_id_required')
  const { revision, active_fence: fence } = at.connection()
  t.equal(await nextStep(at, job), `sallyport codehost close-capacity ${job} `
    + `--expected-job-revision ${at.job(job).revision} --expected-connection-revision ${revision} `
    + `--expected-connection-fence ${fence} --pr-number N`)
  t.equal(at.requests().length, before, 'nobody is asked')
  t.equal((await at.json(['codehost', 'connections']))[0].occupied_for_good, false)
  t.equal((await at.run(['codehost', 'resume', job, '--json'])).error().code, 'job_state')
})

/** Faults of one POST, whether it was done, and what the job comes to. */
const faults: readonly (readonly [string, boolean, Job['state'], number?])[] = [
  ['write_status_500', true, 'unknown_external_effect'],
  ['write_timed_out', true, 'unknown_external_effect'],
  ['write_cut_422', true, 'unknown_external_effect'],
  ['write_other_id', true, 'unknown_external_effect'],
  ['write_error_beside', true, 'unknown_external_effect'],
  ['write_first_line_foreign', true, 'unknown_external_effect'],
  ['write_switching', true, 'unknown_external_effect'],
  ['write_not_done_500', false, 'unknown_external_effect'],
  ['write_exists_422', true, 'unknown_external_effect'],
  ['write_not_done_404', false, 'unknown_external_effect'],
  ['write_not_done_422', false, 'failed'], ['write_too_many', false, 'failed'],
]

t.test('a POST without a whole confirmation ends the run: refused for good, or unknown until it is read back', async (t) => {
  const at = await publishing(t)
  // The commit: its own readback, a tree and a blob before it.
  const numbered = faults.map((one, place) => [2 + (place % 3), ...one] as const)
  const cells = slice('POST not confirmed', numbered, {
    axesOf: ([number, , isDone, state]) => [`${isDone} ${state}`, String(number)],
    idOf: ([, fault]) => fault,
  })
  for (const [number, fault, isDone, state] of cells) {
    const job = await at.approvedPublication()
    const { row } = await withFault(at, job, number, fault)
    t.hasStrict(row, { state, contacted: number, created: number - 1, reserved: true }, fault)
    const before = at.requests().length
    const back = await at.reconcile(job)
    const { code } = back.error()
    if (state === 'failed') {
      t.equal(code, 'effect_refused', fault)
      t.equal(at.requests().length, before)
      t.equal((await at.json(['codehost', 'connections']))[0].occupied_for_good, true)
      t.equal((await at.run(['codehost', 'resume', job, '--json'])).error().code, 'job_state')
    } else if (isDone) {
      t.equal(code, 'codehost_incomplete', fault)
      must(await at.run(['codehost', 'resume', job]))
    } else {
      t.equal(code, 'remote_not_found', fault)
      const text = await at.run(['codehost', 'reconcile', job, '--expected-read-revision',
        String(at.connection().revision)])
      t.match(text.stderr, 'codehost connect', 'a lasting 404 has a way on')
      t.equal(at.job(job).state, state)
    }
    if (at.connection().active_job_id !== null) await at.free(job)
  }
  noneTwice(t, at)
})

t.test('a branch that somebody else made first is told before, or is what may have been sent: it is read by its name, and never sent again', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication({}, { '--branch': 'taken' })
  const kept = await clientOf(at.sandbox).seed()
  const ran = await at.runJob(job, {
    at: async (step) => {
      if (step === 'codehost.post_4_of_5' || step === 'codehost.post_3_of_4') {
        await at.sandbox.codehost.commit(kept, 'taken', { 'x.txt': 'x\n' }, 'Taken\n')
      }
    },
  })
  t.equal(failure(ran).code, 'unknown_external_effect', ran.stderr)
  t.hasStrict(at.job(job), {
    state: 'unknown_external_effect', reason: 'status_422', reserved: true,
  })
  t.equal((await at.reconcile(job)).error().code, 'readback_differs', 'it is not where it was put')
  await at.free(job)
  const second = await at.approvedPublication({}, { '--branch': 'taken-too' })
  await at.sandbox.codehost.commit(kept, 'taken-too', { 'x.txt': 'x\n' }, 'Taken\n')
  const before = at.posts().length
  t.hasStrict((await at.runJob(second)).error(), { code: 'branch_exists' })
  t.hasStrict(at.job(second), { state: 'approved', reserved: false })
  t.equal(at.posts().length, before)
})

t.test('C-104 a pull request that the host told with another text is read back by its number, with all that it stands for', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const { row } = await withFault(at, job, all, 'write_other_text')
  t.hasStrict(row, {
    state: 'unknown_external_effect', reason: 'reply_differs', contacted: all, created: all - 1,
    remote: { effect: all }, reserved: true,
  })
  t.match(await nextStep(at, job), `codehost recover reconcile ${job}`)
  at.sandbox.faults.set('pull_retitled', { service: 'codehost', times: 1 })
  t.equal((await at.reconcile(job)).error().code, 'readback_differs')
  at.sandbox.faults.clear()
  must(await at.reconcile(job))
  t.hasStrict(at.job(job), { state: 'succeeded', created: all, reserved: false })
  must(await at.run(['codehost', 'adopt', job]))
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
})

t.test('an account that may not push is told before anything is sealed or sent, where the host tells it', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const fault = (times: number) =>
    at.sandbox.faults.set('repository_no_push', { service: 'codehost', times })
  fault(1)
  t.hasStrict((await at.runJob(job)).error(), { code: 'push_not_allowed' })
  t.hasStrict(at.job(job), { state: 'approved', reserved: false, contacted: 0 })
  fault(1)
  const refused = await at.publish(at.folder({ 'x.txt': 'x\n' }, 'no-push'), {
    '--branch': 'no-push',
  })
  at.sandbox.faults.clear()
  t.hasStrict(refused.error(), { code: 'push_not_allowed' })
  t.equal(at.posts().length, 0)
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.post_3_of_6') stop.abort()
    },
  })
  const sent = at.posts().length
  fault(1)
  const resume = () => at.run(['codehost', 'resume', job, '--json'])
  t.hasStrict((await resume()).error(), { code: 'push_not_allowed' })
  at.sandbox.faults.clear()
  t.equal(at.posts().length, sent, 'a run that goes on asks, too')
  must(await resume())
  must(await at.consent())
  const issue = await at.approved()
  fault(2)
  must(await at.runJob(issue))
  at.sandbox.faults.clear()
  t.equal(at.job(issue).state, 'succeeded', 'an issue needs no more than to read')
})

/** Faults of the readback: which of its GETs, and why it is no evidence. */
const readbacks: readonly (readonly [string, string])[] = [
  ['pull_closed', 'readback_differs'],
  ['ref_moved', 'readback_differs'], ['commit_other_message', 'readback_differs'],
  ['tree_cut', 'readback_differs'],
  ['tree_truncated', 'readback_truncated'], ['read_not_there', 'remote_not_found'],
]

t.test('C-104 C-109 only tree, commit, branch and pull request as they were sent count as done', async (t) => {
  const at = await publishing(t)
  const cells = slice('readback', readbacks, {
    axesOf: ([, reason]) => [reason], idOf: ([fault]) => fault,
  })
  for (const [fault, reason] of cells) {
    const job = await at.approvedPublication()
    const ran = await at.runJob(job, {
      at: (step) => {
        if (step === 'codehost.created') {
          at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
        }
      },
    })
    at.sandbox.faults.clear()
    t.equal(failure(ran).code, 'unknown_external_effect', fault)
    t.hasStrict(at.job(job), {
      state: 'unknown_external_effect', reason, created: all, reserved: true,
    }, fault)
    must(await at.reconcile(job))
    t.hasStrict(at.job(job), { state: 'succeeded', reserved: false })
    t.equal(at.connection().active_job_id, null)
    must(await at.run(['codehost', 'adopt', job]))
    t.equal(at.task(at.job(job).task_id ?? '')?.state, 'succeeded')
  }
  noneTwice(t, at)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
})

t.test('what the host has is looked at before the connection is occupied', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  for (const [fault, code] of [
    ['repository_renumbered', 'repository_replaced'],
    ['repository_archived', 'repository_archived'],
    ['read_limit_spent', 'codehost_rate_limited'], ['read_status_401', 'codehost_token_refused'],
    ['ref_moved', 'base_moved'],
  ] as const) {
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    t.equal(failure(await at.runJob(job)).code, code)
    at.sandbox.faults.clear()
    t.hasStrict(at.job(job), { state: 'approved', reserved: false })
  }
  t.equal(at.posts().length, 0)
  must(await at.runJob(job))
})

t.test('C-023 reading back asks by GET alone, whatever the kind of the job', async (t) => {
  const at = await publishing(t)
  must(await at.consent(['--action', ...codehostActions]))
  const first = await at.approved('First')
  must(await at.runJob(first))
  const comment = await at.prepareComment(at.job(first).remote?.id ?? 0)
  must(await at.approve(comment))
  const kinds = [
    async () => at.approved('Issue'), async () => comment, async () => at.approvedPublication(),
  ]
  for (const made of kinds) {
    const job = await made()
    await at.runJob(job, {
      at: (step) => {
        if (step !== 'codehost.created') return
        at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
      },
    })
    at.sandbox.faults.clear()
    const before = at.requests().length
    must(await at.reconcile(job))
    const methods = at.requests().slice(before).map(({ method }) => method)
    t.ok(methods.length > 0)
    t.strictSame(methods.filter((method) => method !== 'GET'), [], at.job(job).native_kind)
    t.equal(at.job(job).state, 'succeeded')
  }
})

t.test('C-288 the two kinds and the two capabilities have their v1 everywhere', async (t) => {
  const at = await publishing(t)
  must(await at.consent(['--action', ...codehostActions]))
  const jobs: string[] = []
  for (const prepared of [() => at.approved(), () => at.approvedPublication()]) {
    const job = await prepared()
    must(await at.runJob(job))
    jobs.push(job)
  }
  const view = at.view()
  const texts = [JSON.stringify([
    ...jobs.map((job) => [at.job(job), at.task(at.job(job).task_id ?? '')]),
    view.all(receiptCollection), view.all(connectionCollection),
  ])]
  for (const line of [
    ['codehost', 'jobs'], ['task', 'list'],
    ...jobs.flatMap((job) => [
      ['codehost', 'job', job], ...historyNames.map((name) =>
        ['codehost', 'job', job, '--history', name]),
    ]),
  ]) texts.push(must(await at.run([...line, '--json'])).stdout, must(await at.run(line)).stdout)
  const names = texts.join('\n').matchAll(
    /[\w.-]*(?:repo-publication|codehost[-_]followthrough)[\w.-]*/g)
  t.strictSame([...new Set([...names].map(([name]) => name))].sort(), [
    'codehost_followthrough_v1', 'engineering.repo-publication.v1',
    'work.codehost-followthrough.v1',
  ])
})
