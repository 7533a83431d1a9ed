/** Closing capacity by proof: what it changes, what it leaves, and what is answered again. */
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import { receiptCollection, receiptsByJob } from '../../../src/codehost/jobs/receipt.js'
import { rowsUnder } from '../../../src/state/indexes.js'
import { failure, must } from '../../support/must.js'
import { closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

t.test('C-020 C-022 C-037 C-058 C-082 C-087 C-088 C-089 C-090 C-091 C-092 C-123 C-128 C-154 C-262 C-263 an unknown issue whose number is known is read back, and its connection is free', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unknown', 'numbered')
  const [row, connection, task] = [at.job(job), at.connection(), at.task(at.job(job).task_id ?? '')]
  t.hasStrict(row, { state: 'unknown_external_effect', created: 1, reserved: true })
  let receipt
  t.strictSame(await at.during(async () => {
    receipt = must(await at.close(job, at.request(job))).json().receipt
  }), ['GET /repos/operator/notes', 'GET /repos/operator/notes/issues/1'])
  const { closed, ...after } = at.job(job)
  const { closed: none, ...before } = row
  t.equal(none, null)
  t.strictSame(after, { ...before, revision: row.revision + 1, reserved: false })
  t.strictSame(at.connection(), { ...connection, active_job_id: null }, 'nothing else of it')
  t.strictSame(at.task(row.task_id ?? ''), task, 'the task is as it was')
  t.hasStrict(receipt, {
    closure_id: closed?.closure_id, recovery_contract: 'V3', capacity_closed: true,
    no_learning: true, all_potentially_contacted_effects_observed: true,
    job: { id: job, state: 'unknown_external_effect', revision: row.revision + 1 },
    effects: { planned: 1, contacted: 1, observed: 1 },
    evidence: { fresh: 1, earlier: 0, gets: 2 },
  })
  const { history } = await at.json(['codehost', 'job', job, '--history', 'checkpoints'])
  const lines = history.lines.map((line: string) => JSON.parse(line))
  t.strictSame(lines.map(({ what }: { what: string }) => what), ['reserved', 'closed'])
  t.hasStrict(lines[1], { closure_id: closed?.closure_id, job_id: job, recovery_contract: 'V3' })
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
  const [shown] = await at.json(['codehost', 'jobs'])
  t.hasStrict(shown.way_on,
  { command: `sallyport codehost recover closures ${closed?.closure_id}` })
  const [grant] = await at.json(['codehost', 'grants'])
  t.equal(grant.state, 'closed', 'what it was closed under is shown as used up')
  const [listed] = await at.json(['codehost', 'connections'])
  t.equal(listed.consent.state, 'closed')
  must(await at.runJob(await at.approved('A successor')))
  t.equal(at.connection().active_fence, connection.active_fence + 1)
})

t.test('C-120 C-192 C-193 C-249 a lost number is asked for by name, never searched for, and only what matches counts', async (t) => {
  const at = await closing(t)
  const done = await at.approved('Another one')
  must(await at.runJob(done))
  // As if somebody else had made it: nothing here was proved by it.
  const [proof] = rowsUnder(at.view(), receiptCollection, receiptsByJob, { under: [done] })
  await at.transact((tx) => tx.remove(receiptCollection, proof?.id ?? ''))
  const job = await at.unknown('Lost')
  const before = at.bytes()
  const none = await at.close(job, at.request(job))
  t.equal(none.status, 7)
  t.hasStrict(none.error(), { code: 'closure_blocked', reason: 'remote_id_required' })
  const wrong = at.request(job, { remote_id: 1 })
  t.strictSame(await at.during(async () => {
    t.hasStrict((await at.close(job, wrong)).error(), { reason: 'readback_differs' })
  }), ['GET /repos/operator/notes', 'GET /repos/operator/notes/issues/1'])
  t.strictSame([...at.bytes()], [...before], 'the state is as it was, byte for byte')
  t.hasStrict(at.connection(), { active_job_id: job })
  const right = must(await at.close(job, at.request(job, { remote_id: 2 }))).json().receipt
  t.hasStrict(right, { evidence: { fresh: 1 }, job: { state: 'unknown_external_effect' } })
  t.equal(at.connection().active_job_id, null)
})

t.test('C-122 C-185 C-186 C-187 C-190 a lost answer is asked for again: the same bytes, no contact, nothing written', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Lost', 'numbered')
  const request = at.request(job)
  const first = must(await at.close(job, request))
  const before = at.bytes()
  at.sandbox.faults.set('read_status_500', { service: 'codehost' })
  t.strictSame(await at.during(async () => {
    for (const spaced of [JSON.stringify(request), JSON.stringify(request, null, 2)]) {
      t.strictSame(must(await at.close(job, spaced)).bytes, first.bytes)
    }
    t.strictSame(must(await at.run(['codehost', 'close-capacity', job, '--retry', '--json'])).bytes,
      first.bytes)
  }), [])
  at.sandbox.faults.clear()
  t.strictSame([...at.bytes()], [...before])
  const [closure] = await at.json(['codehost', 'closures'])
  const shown = await at.json(['codehost', 'closures', closure.closure])
  t.strictSame(shown.receipt, first.json().receipt)
  const inspected = await at.json(['codehost', 'inspect', job])
  t.hasStrict(inspected, { verdict: 'applied' })
  t.strictSame(inspected.receipt, first.json().receipt)
})

t.test('C-085 C-182 C-183 another key or another body closes nothing more, before or after', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Once', 'numbered')
  const request = at.request(job)
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 2 })
  t.hasStrict((await at.close(job, request)).error(), { reason: 'remote_not_found' })
  at.sandbox.faults.clear()
  t.equal(failure(await at.close(job, { ...request, remote_id: 1 })).code, 'idempotency_conflict',
    'a key that is kept for another body')
  for (const [name, code] of [
    ['expected_job_revision', 'stale_job_revision'],
    ['expected_connection_revision', 'stale_connection_revision'],
    ['expected_connection_fence', 'stale_connection_fence'],
  ] as const) {
    const stale = at.request(job)
    t.equal(failure(await at.close(job, { ...stale, [name]: stale[name] + 1 })).code, code)
  }
  must(await at.close(job, request))
  const other = failure(await at.close(job, at.request(job)))
  t.equal(other.code, 'job_closed')
  for (const field of [{ remote_id: 1 }, { expected_job_revision: 99 }]) {
    t.equal(failure(await at.close(job, { ...request, ...field })).code, 'idempotency_conflict')
  }
  t.equal(at.view().all(closureCollection).length, 1)
})

t.test('C-084 what was never unknown, was settled, or holds nothing has no capacity to close', async (t) => {
  const at = await closing(t)
  const prepared = await at.prepare('Prepared')
  const request = { ...at.request(prepared), expected_connection_fence: 1 }
  t.hasStrict((await at.close(prepared, request)).error(), {
    code: 'job_not_closable', reason: 'prepared',
  })
  must(await at.run(['codehost', 'cancel', prepared]))
  t.hasStrict((await at.close(prepared, { ...request, idempotency_key: randomUUID() })).error(), {
    reason: 'cancelled',
  })
  const done = await at.approved('Done')
  must(await at.runJob(done))
  t.hasStrict((await at.close(done, at.request(done))).error(), { reason: 'succeeded' })
  t.equal(failure(await at.close('job_none', at.request(done))).code, 'job_not_found')
})

t.test('C-091 the request is kept for its owner alone before anybody is contacted, and stays as it is', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Kept', 'numbered')
  const request = at.request(job)
  const path = join(at.place.stateDir, 'pending', `${request.idempotency_key}.json`)
  let kept = ''
  must(await at.close(job, request, {
    at: (step) => {
      if (step === 'closure.before_resolve' && kept === '') kept = readFileSync(path, 'utf8')
    },
  }))
  t.strictSame(JSON.parse(kept).request, request)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(statSync(join(at.place.stateDir, 'pending')).mode & 0o777, 0o700)
  t.equal(readFileSync(path, 'utf8'), kept)
  t.strictSame(readdirSync(join(at.place.stateDir, 'pending')), [`${request.idempotency_key}.json`])
})

t.test('C-144 C-145 C-149 C-150 a kept request goes only where it is decided, and only the one that is meant', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Twice', 'numbered')
  const [first, second] = [at.request(job), at.request(job)]
  const discard = (more: readonly string[] = []) =>
    at.run(['codehost', 'discard', job, '--json', ...more])
  t.equal(failure(await discard()).code, 'pending_missing')
  at.sandbox.faults.set('read_not_there', { service: 'codehost' })
  await at.close(job, first)
  t.equal(failure(await discard()).code, 'pending_inconclusive')
  await at.close(job, second)
  at.sandbox.faults.clear()
  t.equal(failure(await discard()).code, 'pending_several')
  must(await at.close(job, second))
  const named = (key: string) => ['--idempotency-key', key]
  t.hasStrict(must(await discard(named(first['idempotency_key']))).json(), {
    verdict: 'stale', reason: 'closed_by_other_request', discarded: true,
  })
  const path = (key: string) => join(at.place.stateDir, 'pending', `${key}.json`)
  t.notOk(existsSync(path(first['idempotency_key'])))
  t.ok(existsSync(path(second['idempotency_key'])))
  t.hasStrict(must(await discard()).json(), { verdict: 'applied', discarded: true })
})

t.test('C-151 a way on that closes is taken as it is typed, beside a request that is kept, too', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Lost')
  const line = async (number: number): Promise<readonly string[]> => {
    const { command } = (await at.json(['codehost', 'job', job])).way_on
    const whole = command.replace(/ N\b/, ` ${number}`).replace(/ UUID$/, ` ${randomUUID()}`)
    return [...whole.split(' ').slice(1), '--acknowledged-capacity-close', '--json']
  }
  const first = await line(99)
  t.notOk(first.includes('--idempotency-key'), 'no key is asked for without need')
  t.hasStrict(failure(await at.run(first)), { code: 'closure_blocked' })
  t.equal((await at.run(await line(1))).status, 0)
  t.equal(at.job(job).reserved, false)
})
