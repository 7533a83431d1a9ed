/** Closing capacity over HTTP: the same rows as the verb, each by a real request. */
import { randomUUID } from 'node:crypto'
import { must } from '../support/must.js'
import { closing } from '../support/codehost/closing.js'
import { serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'

const jobs = '/capabilities/codehost/jobs'
const publications = '/capabilities/codehost/repo-publication/jobs'

t.test('C-113 C-114 C-115 C-116 C-117 C-118 C-127 C-129 C-130 C-131 a close request over HTTP is strict, and nothing is read for one that is none', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unknown', 'numbered')
  const service = await serving(t, at)
  const good = at.request(job)
  const bodies: readonly unknown[] = [
    { ...good, extra: 1 }, { ...good, expected: {} }, { ...good, grant: 'x' },
    { ...good, remote_commit_id: 'a'.repeat(40) }, { ...good, pr_number: 1 },
    { ...good, acknowledged_capacity_close: 1 }, { ...good, acknowledged_capacity_close: 'true' },
    { ...good, acknowledged_capacity_close: false },
    { ...good, expected_job_revision: true }, { ...good, expected_job_revision: 0 },
    { ...good, expected_connection_revision: '1' }, { ...good, expected_connection_fence: null },
    { ...good, idempotency_key: good.idempotency_key.toUpperCase().replace(/\d/, 'A') },
    { ...good, idempotency_key: `${good.idempotency_key}\n` }, { ...good, remote_id: 0 },
    JSON.stringify(good).replace('{', '{"remote_id":1,"remote_id":1,'),
    JSON.stringify(good).replace(/"expected_job_revision":(\d+)/, '"expected_job_revision":$1.0'),
    JSON.stringify(good).replace(/"expected_job_revision":(\d+)/, '"expected_job_revision":$1e0'),
    `\uFEFF${JSON.stringify(good)}`, [], '7',
  ]
  t.strictSame(await at.during(async () => {
    for (const body of bodies) {
      const got = await service.ask('POST', `${jobs}/${job}/close-capacity`, { body })
      t.equal(got.status, 400, JSON.stringify(body))
    }
  }), [], 'nobody was contacted')
  t.hasStrict(at.job(job), { reserved: true, closed: null })
})

t.test('C-112 C-122 C-123 C-124 C-128 C-132 C-134 C-135 C-137 C-138 C-142 C-157 a job is closed by its own route, inspected, answered again byte for byte', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unknown', 'numbered')
  const service = await serving(t, at)
  const body = at.request(job)
  const path = `${jobs}/${job}/close-capacity`
  t.equal((await service.ask('POST', `${publications}/${job}/close-capacity`, { body })).status,
    404, 'the route of the other kind knows no such job')
  const query = `request=${encodeURIComponent(JSON.stringify(body))}`
  const pending = `${path}/pending?${query}`
  t.equal((await service.get(pending)).verdict, 'inconclusive')
  t.strictSame(await at.during(async () => {
    const closed = await service.ask('POST', path, { body })
    t.equal(closed.status, 200)
    t.hasStrict(closed.json().receipt, {
      capacity_closed: true, no_learning: true, all_potentially_contacted_effects_observed: true,
    })
    const again = await service.ask('POST', path, { body })
    t.strictSame(again.bytes, closed.bytes)
    const verb = must(await at.close(job, body)).json()
    t.strictSame(verb, closed.json(), 'the verb answers the same')
    const found = await service.get(pending)
    t.equal(found.verdict, 'applied')
    t.strictSame(found.receipt, closed.json().receipt)
  }), ['GET /repos/operator/notes', 'GET /repos/operator/notes/issues/1'])
  const long = await service.ask('GET', `${path}/pending?request=${'a'.repeat(2_049)}`)
  t.equal(long.json().error.code, 'inspect_too_long')
  const [line] = await service.get('/capabilities/codehost/closures')
  t.hasStrict(line, { job, capacity_closed: true, no_learning: true, history_unchanged: true })
  const shown = await service.get(`/capabilities/codehost/closures/${String(line.closure)}`)
  t.equal(shown.closure, line.closure)
  const other = await service.ask('POST', path, {
    body: { ...body, idempotency_key: randomUUID() },
  })
  t.equal(other.status, 409)
})

t.test('C-124 C-158 what the answer says of job, task and histories is what the records say, and the verbs print the same', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unknown', 'numbered')
  const other = await at.prepare('Another one')
  const service = await serving(t, at)
  const lines = [['goal', 'list'], ['ledger', 'show'], ['ledger', 'reservations']]
  const histories = () => Promise.all(lines.map(async (line) =>
    JSON.parse(must(await at.run([...line, '--json'])).stdout)))
  const standing = () => {
    const { state, approval, contacted } = at.job(job)
    return { state, approval, contacted, task: at.task(job)?.state ?? null }
  }
  const [before, stood] = [await histories(), standing()]
  const closed = await service.ask('POST', `${jobs}/${job}/close-capacity`, {
    body: at.request(job),
  })
  t.hasStrict(closed.json().receipt, {
    job: { state: 'unknown_external_effect' }, job_and_task_unresolved: true,
    execution_fenced_for_good: true, no_learning: true, approval_history_unchanged: true,
    goal_history_unchanged: true, finance_history_unchanged: true,
  })
  t.match(closed.json().receipt.statement, /unchanged/)
  t.strictSame(standing(), stood, 'job, task and approval stand as they stood')
  t.strictSame(await histories(), before, 'and so do goals and money')
  const closure = String((await service.get('/capabilities/codehost/closures'))[0].closure)
  for (const [path, ...line] of [
    [`${jobs}/${job}`, 'job', job], [`${jobs}?limit=1`, 'jobs', '--limit', '1'],
    [`${jobs}?state=prepared&limit=1`, 'jobs', '--state', 'prepared', '--limit', '1'],
    [`${jobs}?after=${other}&limit=9`, 'jobs', '--after', other, '--limit', '9'],
    ['/capabilities/codehost/closures', 'closures'],
    [`/capabilities/codehost/closures/${closure}`, 'closures', closure, '--receipt'],
  ] as const) {
    const ran = await at.run(['codehost', ...line, '--json'])
    const own = ran.status === 0 ? JSON.parse(ran.stdout) : { error: ran.error() }
    t.strictSame((await service.ask('GET', path)).json(), own, line.join(' '))
  }
})

t.test('C-136 C-152 an observation over HTTP needs its own acknowledgment and the exact revision, and a session', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unknown', 'numbered')
  const service = await serving(t, at)
  t.equal((await service.ask('POST', `${jobs}/${job}/close-capacity`, {
    body: at.request(job),
  })).status, 200)
  const path = `${jobs}/${job}/observe-closure`
  const good = {
    acknowledged_closure_observation: true, expected_read_revision: at.connection().revision,
  }
  for (const [body, status] of [
    [{}, 400], [{ ...good, acknowledged_closure_observation: 'true' }, 400],
    [{ ...good, acknowledged_closure_observation: 1 }, 400],
    [{ ...good, expected_read_revision: good.expected_read_revision + 1 }, 409],
    [{ ...good, more: 1 }, 400],
  ] as const) {
    t.strictSame(await at.during(async () => {
      t.equal((await service.ask('POST', path, { body })).status, status, JSON.stringify(body))
    }), [])
  }
  const pending = `${jobs}/${job}/close-capacity/pending?request={}`
  for (const path of [pending, `${jobs}/${job}`]) {
    t.equal((await service.ask('GET', encodeURI(path), { token: null })).status, 401)
  }
  const seen = await service.ask('POST', path, { body: good })
  t.equal(seen.status, 200, seen.bytes.toString())
  t.hasStrict(seen.json(), { job, still_fenced: true, nothing_else_changed: true })
})

t.test('a run that takes longer than a moment goes on behind 202, and the job tells of it', async (t) => {
  const at = await closing(t)
  const job = await at.approved('A run')
  const service = await serving(t, at)
  const got = await service.ask('POST', `${jobs}/${job}/run`)
  t.ok(got.status === 202 || got.status === 200, got.bytes.toString())
  await until('the job to succeed', async () =>
    (await service.get(`${jobs}/${job}`)).state === 'succeeded')
  const twice = await service.ask('POST', `${jobs}/${job}/run`)
  t.not(twice.status, 200)
  t.equal(at.requests().filter(({ method }) => method === 'POST').length, 1)
})

t.test('a run that the host refuses while it is looked at is told so, however long the look takes: no 202 hides it', async (t) => {
  const at = await closing(t)
  const job = await at.prepareComment(404)
  must(await at.approve(job))
  const service = await serving(t, at)
  at.sandbox.faults.set('read_delay', { service: 'codehost', times: 1, value: 1_200 })
  const got = await service.ask('POST', `${jobs}/${job}/run`)
  t.equal(got.json().error.code, 'issue_not_seen', got.bytes.toString())
  t.hasStrict(at.job(job), { state: 'approved', attempt: 0 })
})

t.test('a connection is saved over HTTP, its token is in no answer, and it allows nothing', async (t) => {
  const at = await closing(t)
  const service = await serving(t, at)
  const base = '/capabilities/codehost/connections'
  const token = 'MARK-TOKEN-over-http'
  for (const body of [
    {}, { repo: 'operator/notes' }, { repo: 'operator/notes', token, mode: 'active' },
    { repo: 'operator/notes', token, extra: 1 }, { repo: 'no slash', token },
  ]) t.equal((await service.ask('POST', base, { body })).status, 400, JSON.stringify(body))
  const made = await service.ask('POST', base, { body: { repo: 'operator/notes', token } })
  t.equal(made.status, 201, made.bytes.toString())
  t.hasStrict(made.json(), { mode: 'disabled', opt_in: false, consent: null })
  const { id, revision } = made.json()
  const stale = await service.ask('PUT', `${base}/${String(id)}`, {
    body: { mode: 'reconcile_only', expected_revision: revision + 1 },
  })
  t.equal(stale.status, 409)
  const changed = await service.ask('PUT', `${base}/${String(id)}`, {
    body: { mode: 'reconcile_only', expected_revision: revision, token: `${token}-2` },
  })
  t.equal(changed.status, 200, changed.bytes.toString())
  for (const got of [made, stale, changed, await service.ask('GET', base)]) {
    t.notOk(got.bytes.includes('MARK-TOKEN'))
  }
})
