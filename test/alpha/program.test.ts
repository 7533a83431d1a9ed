/** The text capability through the program: what an operator sees, and what the wire sees. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import { routeCollection } from '../../src/contact/routes.js'
import { collections } from '../../src/governance/rows.js'
import { acquireLane } from '../../src/state/holds/lane.js'
import { systemClock } from '../../src/base/clock.js'
import { stillClock } from '../support/clock.js'
import { checkLedger } from '../support/ledger.js'
import { timeOf } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'
import { limits, question, setupFlags } from '../world/alpha.js'
import { builtApp } from '../world/process.js'
import { World, type AlphaWorld } from '../world/world.js'

const requests = (rig: AlphaWorld): number => rig.sandbox.log.all().length

t.test('A-002 A-013 A-014 A-015 A-092 A-107 A-109 A-163 the rows of one ask', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { task, receipt } = (await rig.ask()).json()
  const view = rig.view()
  const row = view.get(collections.closedTasks, task.id)
  t.equal(row?.kind, 'inference.alpha-text.v1', 'a task of the native kind')
  const listed = (await rig.run(['task', 'list', '--json'])).json()
  t.equal(listed[0].id, task.id, 'on the work board')
  const job = view.get(collections.jobs, row?.job_id ?? '')
  t.strictSame(job?.receipt, receipt, 'the receipt lies in the job record')
  t.strictSame(
    [receipt.task_id, receipt.job_id, receipt.attempt_id, receipt.request_id, receipt.operation_id],
    [row?.task_id, job?.job_id, job?.attempt_id, job?.request_id, row?.operation_id],
  )
  const rows = view.all(collections.ledgerRows).map(({ doc }) => doc)
    .filter((doc) => doc.operation_id === row?.operation_id)
  t.strictSame(rows.map((doc) => doc.kind), ['reserve', 'recheck', 'contact', 'settle'])
  for (const doc of rows) {
    t.equal(doc.runtime, 'alpha_text_native')
    t.equal(doc.profile, 'alpha.text')
  }
  t.equal(rows.at(-1)?.evidence?.['source'], 'provider_billing_costs')
  t.equal(receipt.cost.ledger_ref, rows.at(-1)?.row_id)
  t.equal(view.all(collections.ledgerAccounts).length, 1, 'one ledger')
  const route = view.get(routeCollection, row?.operation_id ?? '')
  t.equal(route?.profile, 'alpha.text')
  t.notMatch(JSON.stringify([rows, route, receipt]), /gateway/)
  const names = readdirSync(join(rig.place.stateDir, 'collections'))
  t.notOk(names.some((name) => /execution/.test(name)), 'no execution table of its own')
})

t.test('A-008 A-061 a fresh state directory shows nothing and sends nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false })
  const show = await rig.run(['alpha', 'show', '--json'])
  t.equal(show.json().alpha_text, null)
  t.match((await rig.run(['alpha', 'show'])).stdout, /not set up \(disabled\)/)
  const ran = await rig.ask()
  t.equal(ran.status, 4)
  t.equal(ran.error().code, 'alpha_not_set_up')
  t.equal(requests(rig), 0)
})

t.test('A-009 neither a missing nor a lapsed consent sends a byte', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false })
  const flags = setupFlags(rig.place, 1)
    .filter((flag) => flag !== '--enable' && flag !== '--acknowledge-plaintext-egress')
  t.equal((await rig.run([...flags])).status, 0)
  t.equal((await rig.ask()).status, 4, 'never acknowledged')
  t.equal((await rig.run(setupFlags(rig.place, await rig.revision()))).status, 0)
  t.equal((await rig.run(['policy', 'revoke'])).status, 0)
  t.equal((await rig.ask()).status, 4, 'no longer current')
  t.equal(requests(rig), 0)
})

t.test('A-017 A-137 A-018 every request goes to the one host under /v1', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  await rig.ask()
  const seen = rig.sandbox.log.all()
  t.strictSame(seen.map(({ service, method, path }) => [service, method, path]), [
    ['provider', 'POST', '/v1/chat/completions'], ['provider', 'POST', '/v1/billing/costs'],
  ])
  const host = new URL(rig.sandbox.profile.provider.base_url).host
  for (const one of seen) t.strictSame(one.headers.get('host'), [host])
  t.equal(JSON.parse(seen[0]?.body.toString() ?? '').stream, false)
})

t.test('A-020 A-025 a failing provider is not replaced, retried or asked again', async (t) => {
  for (const fault of ['status_429', 'status_500', 'status_503', 'reset_before_headers']) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set(fault, { service: 'provider' })
    const ran = await rig.ask()
    t.equal(ran.status, 7, `${fault}: the charge is not known`)
    t.equal(rig.inferences().length, 1, `${fault}: one request`)
    t.equal(requests(rig), 1, `${fault}: nobody else is contacted`)
  }
})

t.test('A-039 A-046 A-083 the consent revision and the ceiling are the service\'s own',
  async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { alpha_text: alpha, policy_revision: revision } =
    (await rig.run(['alpha', 'show', '--json'])).json()
  t.equal(alpha.plaintext_egress_consent_revision, revision)
  t.equal(alpha.shared_ceiling_microusd, alpha.spend_ceiling_microusd)
  t.equal(checkLedger(t, rig)?.ceiling_microusd, alpha.spend_ceiling_microusd)
  writeFileSync(rig.place.path('save.json'), JSON.stringify({
    alpha_text: {
      enabled: true, plaintext_provider_egress_acknowledged: true,
      plaintext_egress_consent_revision: 77,
    },
    expected_policy_revision: revision,
  }))
  const ran = await rig.run(['alpha', 'setup', '--json', '--from', rig.place.path('save.json')])
  t.equal(ran.status, 3)
  t.equal(rig.view().get(alphaSetupCollection, 'the')?.plaintext_egress_consent_revision, revision)
})

t.test('A-057 A-059 A-132 reads open no connection, also when nobody is there', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { task } = (await rig.ask()).json()
  const connections = rig.sandbox.log.connections('provider')
  const before = (await rig.run(['alpha', 'show', '--json'])).stdout
  const output = (await rig.run(['alpha', 'output', task.id, '--json'])).stdout
  await rig.run(['alpha', 'task', task.id])
  await rig.run(['status'])
  t.strictSame(rig.sandbox.log.connections('provider'), connections)
  await rig.sandbox.stop()
  t.equal((await rig.run(['alpha', 'show', '--json'])).stdout, before)
  t.match(before, /"status": "configured"/, 'configured says nothing about the provider')
  t.notMatch(before, /available|reachable/)
  t.equal((await rig.run(['alpha', 'output', task.id, '--json'])).stdout, output)
})

t.test('A-062 A-072 the form opens disabled and shows what is acknowledged', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false })
  const declined = await rig.run(['alpha', 'setup'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: [
      '256 tokens', 'another value', '20', '$1.00', 'another value', '50000', 'FORM-KEY-1',
      false, true,
    ],
  })
  t.equal(declined.status, 0, declined.stderr)
  t.match(declined.stderr, /The text capability is disabled/)
  t.match(declined.stderr, /max_output_tokens: not set -> 256\n/, 'the change is shown')
  t.notMatch(declined.stderr, /stops both/, 'nothing is consented to')
  t.equal((await rig.run(['alpha', 'show', '--json'])).json().alpha_text.enabled, false)
  const accepted = await rig.run(['alpha', 'setup'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: ['keep', 'keep', 'keep', 'keep', '', true, true],
  })
  t.equal(accepted.status, 0, accepted.stderr)
  t.match(accepted.stderr, /stops both this route and the gateway route/)
  t.equal((await rig.run(['alpha', 'show', '--json'])).json().alpha_text.status, 'configured')
})

const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesBelow(path) : [path]
  })

t.test('A-101 A-104 A-106 A-108 A-126 A-041 no file holds question, answer or key', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { answer, task } = (await rig.ask()).json()
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  await rig.ask()
  await rig.run(['state', 'compact'])
  const marks = [question, 'MARK-QUESTION', answer, 'MARK-KEY-0123456789']
  const folders = [rig.place.stateDir, rig.place.configDir]
  for (const path of folders.flatMap(filesBelow)) {
    const bytes = readFileSync(path)
    for (const mark of marks) {
      t.equal(bytes.includes(Buffer.from(mark)), false, `${path} holds no private text`)
    }
  }
  for (const line of [['alpha', 'tasks'], ['task', 'list'], ['alpha', 'task', task.id]]) {
    const ran = await rig.run([...line, '--json'])
    for (const mark of marks) t.notOk((ran.stdout + ran.stderr).includes(mark), line.join(' '))
  }
})

t.test('A-104 a question left at the prompt is kept nowhere', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const before = rig.view().sequence
  const ran = await rig.run(['alpha', 'ask'], {
    terminal: { stdin: true, stdout: true }, answers: [],
  })
  t.not(ran.status, 0)
  t.equal(rig.view().sequence, before, 'nothing was written')
  t.equal(requests(rig), 0)
  t.equal((await rig.run(['alpha', 'tasks', '--json'])).json().length, 0)
})

t.test('A-129 A-131 A-166 A-189 output, read and save need the owner\'s session', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { task, answer, receipt } = (await rig.ask()).json()
  const output = (await rig.run(['alpha', 'output', task.id, '--json'])).json()
  t.equal(output.answer, answer)
  t.strictSame(output.receipt, receipt)
  t.equal((await rig.run(['alpha', 'output', task.id])).stdout, answer, 'the answer alone')
  writeFileSync(rig.place.path('pass'), 'a passphrase of other')
  await rig.run(['principal', 'add', 'other', '--passphrase-file', rig.place.path('pass')])
  await rig.run(['logout'])
  for (const line of [['alpha', 'output', task.id], ['alpha', 'show'], ['alpha', 'setup',
    '--disable'], ['alpha', 'task', task.id], ['config', 'show']]) {
    const ran = await rig.run([...line, '--json'])
    t.equal(ran.status, 4, line.join(' '))
    t.equal(ran.error().status, 401)
    t.equal(ran.stdout, '')
  }
  await rig.run(['login', '--owner', 'other', '--passphrase-file', rig.place.path('pass')])
  for (const verb of ['output', 'task', 'cancel']) {
    const ran = await rig.run(['alpha', verb, task.id, '--json'])
    t.equal(ran.status, 6, `a foreign owner finds nothing with ${verb}`)
    t.notOk((ran.stdout + ran.stderr).includes(answer))
  }
  t.equal((await rig.run(['alpha', 'review', task.id, '--approve'])).status, 6)
  t.strictSame((await rig.run(['alpha', 'tasks', '--json'])).json(), [])
})

t.test('A-178 no error text or step line repeats a body', async (t) => {
  const marked = 'MARK-BODY-7731'
  const bodies = [
    `{"id":"${marked}","broken":`, `${marked} is not JSON`,
    `{"id":"x","model":"${marked}","choices":[]}`,
  ]
  for (const body of bodies) {
    for (const route of ['completion', 'billing'] as const) {
      const rig = await World.in(t).sandbox().state().session().alpha()
      rig.sandbox.faults.reply({ body }, { route })
      const ran = await rig.ask({ args: ['--verbose'] })
      t.not(ran.status, 0)
      t.notOk((ran.stdout + ran.stderr).includes(marked), 'no body text is shown')
      for (const path of filesBelow(rig.place.stateDir)) {
        t.notOk(readFileSync(path).includes(Buffer.from(marked)), path)
      }
    }
  }
})

t.test('A-181 A-195 a hanging inference ends closed', async (t) => {
  for (const fault of ['hang_before_headers', 'hang_mid_body']) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const flags = ['--timeout-seconds', '1.5', '--acknowledge-plaintext-egress']
    const revision = ['--expected-policy-revision', String(await rig.revision())]
    t.equal((await rig.run(['alpha', 'setup', ...flags, ...revision])).status, 0)
    rig.sandbox.faults.set(fault, { service: 'provider' })
    const ran = await rig.ask()
    t.equal(ran.status, 7, fault)
    t.equal(ran.stdout, '')
    t.equal(rig.inferences().length, 1)
    t.equal(rig.billings().length, 0)
    t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
  }
})

t.test('A-181 A-140 a hanging billing reply ends closed', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.set('billing_hang_before_headers', { service: 'provider' })
  let [begunMs, jumpMs] = [Number.NaN, 0]
  const ran = await rig.ask({
    // Twelve of the fifteen seconds of the stage have gone by when it begins to ask.
    clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs },
    at: (step) => {
      if (step === 'ask.billing_1') [begunMs, jumpMs] = [performance.now(), 12_000]
    },
  })
  t.equal(ran.status, 7)
  t.ok(performance.now() - begunMs < 3_000 + timeOf(150), 'the stage is bounded')
  t.ok(rig.billings().length <= 2)
  t.equal(rig.inferences().length, 1)
  t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
})

t.test('A-016 A-023 A-043 A-188 environment and flags override nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const elsewhere = 'https://127.0.0.1:9'
  const env = {
    HTTP_PROXY: elsewhere, HTTPS_PROXY: elsewhere, ALL_PROXY: elsewhere, https_proxy: elsewhere,
    all_proxy: elsewhere, http_proxy: elsewhere, OPENAI_BASE_URL: elsewhere,
    OPENAI_API_KEY: 'MARK-ENV-KEY', NEARAI_API_KEY: 'MARK-ENV-KEY', SALLYPORT_MODEL: 'other',
    ALPHA_MODEL: 'other', SALLYPORT_PROVIDER_BASE_URL: elsewhere,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }
  const ran = await rig.ask({ env })
  t.equal(ran.status, 0, ran.stderr)
  const [sent] = rig.inferences()
  t.equal(JSON.parse(sent?.body.toString() ?? '').model, rig.sandbox.profile.provider.model_id)
  t.strictSame(sent?.headers.get('authorization'), ['Bearer MARK-KEY-0123456789'])
  for (const flag of ['--model', '--base-url', '--insecure', '--proxy', '--owner', '--root']) {
    const refused = await rig.ask({ args: [flag, 'x'] })
    t.equal(refused.status, 2, `${flag} is unknown`)
  }
  t.equal(rig.inferences().length, 1)
  const words = await rig.run(['alpha', 'ask', 'MARK-ARGV-QUESTION'])
  t.equal(words.status, 2, 'a question is never an argument')
  t.match(words.stderr, /stdin/)
  t.notMatch(words.stderr, /MARK-ARGV/)
})

t.test('A-193 A-194 an ask that waits 120 seconds for the lane ends without contact', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const lane = await acquireLane({
    dir: rig.place.stateDir, priority: 'interactive', clock: systemClock,
    deadlineMs: systemClock.monotonicMs() + 60_000,
  })
  const clock = stillClock(Date.now())
  const ran = await rig.ask({ clock })
  lane.release()
  t.equal(ran.status, 11, ran.stderr)
  t.ok(clock.monotonicMs() >= 120_000)
  t.equal(requests(rig), 0)
  t.equal(checkLedger(t, rig)?.held_microusd, 0)
})

t.test('A-199 the worst valid question goes out whole', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const worst = '\u0001'.repeat(8_192)
  const ran = await rig.ask({ stdin: worst })
  t.equal(ran.status, 0, ran.stderr)
  t.equal(JSON.parse(rig.inferences()[0]?.body.toString() ?? '').messages[0].content, worst)
})

t.test('A-094 A-095 A-096 A-093 A-098 bad input is refused with nothing kept', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const before = rig.view().sequence
  const artifacts = rig.open().artifacts.list()
  const from = (value: unknown) => ({ args: ['--from', '-'], stdin: JSON.stringify(value) })
  const input = { schema: 'svc.alpha.text.input.v1', question: 'q', max_output_tokens: 5 }
  const asks: [string, number, Parameters<AlphaWorld['run']>[1], string[]][] = [
    ['empty', 3, { stdin: '' }, ['-']],
    ['8193 bytes', 3, { stdin: 'x'.repeat(8_193) }, ['-']],
    ['8193 bytes of two-byte letters', 3, { stdin: 'é'.repeat(4_097) }, ['-']],
    ['invalid UTF-8', 3, { stdin: Buffer.from([0x61, 0xff]) }, ['-']],
    ['0 tokens', 3, { stdin: 'q' }, ['-', '--max-output-tokens', '0']],
    ['1025 tokens', 3, { stdin: 'q' }, ['-', '--max-output-tokens', '1025']],
    ['above the cap', 3, { stdin: 'q' }, ['-', '--max-output-tokens', '257']],
    ['1.5 tokens', 3, from({ ...input, max_output_tokens: 1.5 }), []],
    ['text tokens', 3, from({ ...input, max_output_tokens: '5' }), []],
    ['an extra field', 3, from({ ...input, owner: 'me' }), []],
    ['allowed', 3, from({ ...input, allowed: true }), []],
    ['another schema', 3, from({ ...input, schema: 'svc.alpha.text.input.v2' }), []],
  ]
  for (const [name, status, options, args] of asks) {
    const words = args.length > 0 ? args : ['--from', '-']
    const ran = await rig.run(['alpha', 'ask', '--json', ...words], options)
    t.equal(ran.status, status, `${name}: ${ran.stderr}`)
    t.equal(ran.stdout, '')
  }
  t.equal(requests(rig), 0)
  t.equal(rig.view().sequence, before, 'nothing written')
  t.strictSame(rig.open().artifacts.list(), artifacts, 'no artifact left')
})

t.test('A-102 A-186 a key that is no UUID is refused; the same key never asks twice', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  t.equal((await rig.ask({ args: ['--idempotency-key', 'not-a-uuid'] })).status, 3)
  const key = '7f2f0f2e-53f5-4cf1-92c6-0a6b8a6c0b11'
  const [one, two] = await Promise.all([
    rig.ask({ args: ['--idempotency-key', key] }), rig.ask({ args: ['--idempotency-key', key] }),
  ])
  t.ok([one.status, two.status].includes(0))
  t.ok([one.status, two.status].every((status) => status === 0 || status === 5))
  const again = await rig.ask({ args: ['--idempotency-key', key] })
  t.equal(again.status, 0, again.stderr)
  const other = await rig.ask({ args: ['--idempotency-key', key], stdin: 'something else' })
  t.equal(other.status, 5)
  t.equal(rig.inferences().length, 1)
  t.equal(rig.view().all(collections.closedTasks).length, 1)
})

t.test('A-127 A-128 A-115 an overrun stands, and its answer waits for a person', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.set('billing_overrun', {
    service: 'provider', value: limits.boundMicrousd,
  })
  const ran = await rig.ask()
  t.equal(ran.status, 7)
  const { task_id: id } = ran.error().details
  const { task, receipt } = (await rig.run(['alpha', 'task', id, '--json'])).json()
  t.equal(task.cost.charged_microusd, limits.boundMicrousd + 1)
  t.equal(task.cost.overrun, 'review_required')
  t.equal(receipt.result_artifact_id, undefined)
  t.equal((await rig.run(['alpha', 'output', id])).status, 7)
  t.equal((await rig.run(['alpha', 'review', id, '--approve'])).status, 7)
  t.equal((await rig.run(['alpha', 'review', id, '--accept-overrun'])).status, 0)
  const output = await rig.run(['alpha', 'output', id, '--json'])
  t.equal(output.status, 0, output.stderr)
  t.equal(output.json().receipt.cost.amount_microusd, limits.boundMicrousd + 1)
  t.equal(checkLedger(t, rig)?.settled_microusd, limits.boundMicrousd + 1)
})

/** A task whose answer waits for the review of its charge. */
const heldTask = async (rig: AlphaWorld): Promise<string> => {
  rig.sandbox.faults.set('billing_overrun', { service: 'provider', value: limits.boundMicrousd })
  return (await rig.ask()).error().details['task_id'] as string
}

t.test('A-128 an answer that was paid for waits through a new login, and is released to it',
  async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const id = await heldTask(rig)
  t.equal((await rig.run(['login', '--replace', '--json'])).status, 0)
  const foreign = await rig.run(['alpha', 'review', id, '--accept-overrun', '--json'])
  t.strictSame([foreign.status, foreign.error().code], [4, 'root_replaced'])
  t.equal((await rig.run(['task', 'recover', id])).status, 0)
  t.equal((await rig.run(['alpha', 'review', id, '--accept-overrun'])).status, 0)
  const output = await rig.run(['alpha', 'output', id, '--json'])
  t.equal(output.status, 0, output.stderr)
  t.equal(rig.inferences().length, 1)
})

t.test('A-128 accepting what cannot be released decides nothing; only rejecting drops it',
  async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const id = await heldTask(rig)
  t.equal((await rig.run(['policy', 'revoke'])).status, 0)
  const before = rig.view().sequence
  const ran = await rig.run(['alpha', 'review', id, '--accept-overrun', '--json'])
  t.strictSame([ran.status, ran.error().code, ran.error().reason], [
    4, 'answer_not_adoptable', 'policy_revoked',
  ])
  t.equal(rig.view().sequence, before, 'nothing was written')
  const rejected = await rig.run(['alpha', 'review', id, '--reject', '--json'])
  t.hasStrict(rejected.json(), { state: 'failed', reason: 'overrun_rejected' })
  t.equal(checkLedger(t, rig)?.settled_microusd, limits.boundMicrousd + 1)
})

t.test('an answer that cannot be written out names the task that keeps it', {
  skip: existsSync('/dev/full') ? false : 'needs /dev/full',
}, async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const child = spawn(process.execPath, [
    join(await builtApp(), 'sallyport.js'), 'alpha', 'ask', '-', '--json',
  ], { cwd: rig.place.cwd, env: rig.place.env, stdio: ['pipe', full, 'pipe'] })
  let told = ''
  child.stderr?.on('data', (chunk: Buffer) => { told += chunk.toString() })
  child.stdin?.end(question)
  const [status] = await once(child, 'close') as [number]
  const { error } = JSON.parse(told.trimEnd().split('\n').at(-1) ?? '')
  t.strictSame([status, error.code, error.details.errno], [1, 'result_not_written', 'ENOSPC'])
  const output = await rig.run(['alpha', 'output', error.details.task_id, '--json'])
  t.equal(output.status, 0, output.stderr)
  t.equal(rig.inferences().length, 1)
})

t.test('A-123 A-124 A-125 an unknown charge is never done and keeps its liability', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  const ran = await rig.ask()
  const { task_id: id, operation_id: operation } = ran.error().details
  t.equal(ran.error().reason, 'alpha_cost_readback_required')
  for (const verdict of ['--approve', '--reject', '--accept-overrun']) {
    t.not((await rig.run(['alpha', 'review', id, verdict])).status, 0, verdict)
  }
  t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
  const settle = ['ledger', 'settle', operation, '--amount-microusd', '17', '--yes']
  t.equal((await rig.run(settle)).status, 0)
  t.equal(checkLedger(t, rig)?.unknown_microusd, 0)
  const { task } = (await rig.run(['alpha', 'task', id, '--json'])).json()
  t.equal(task.state, 'blocked', 'settled by hand, still blocked')
  t.equal((await rig.run(['alpha', 'output', id])).status, 7)
})

/** Folders of the packages that a bundle has text of, by its source maps. */
const packagesOfMaps = (dir: string): readonly string[] => {
  const sources = readdirSync(dir).filter((name) => name.endsWith('.map')).flatMap((name) =>
    (JSON.parse(readFileSync(join(dir, name), 'utf8')) as { sources: string[] }).sources)
  const folder = /node_modules\/(?:@[^/]+\/)?[^/]+/
  return [...new Set(sources.flatMap((path) => folder.exec(path)?.[0] ?? []))]
}

t.test('A-007 the program stands on reviewed packages alone: no SDK, and no native add-on is '
  + 'cryptography', async (t) => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages as
    Record<string, { dev?: boolean; optional?: boolean; dependencies?: Record<string, string>
      devDependencies?: Record<string, string> }>
  const bundled = packagesOfMaps(await builtApp())
  const wanted = { ...lock['']?.dependencies, ...lock['']?.devDependencies }
  const direct = Object.keys(wanted).filter((name) => bundled.includes(`node_modules/${name}`))
  t.ok(direct.length > 10, 'the program is bundled with packages')
  const page = readFileSync('docs/dev/dependencies.md', 'utf8').split('## In the program')[1] ?? ''
  const table = page.split('## ')[0] ?? ''
  for (const name of direct) t.ok(table.includes(name), `${name} has its reason`)
  const installed = Object.keys(lock).filter((path) => path !== '' && lock[path]?.dev !== true)
  t.strictSame(Object.keys(lock['']?.dependencies ?? {}), ['fs-native-extensions'])
  const shipped = [...new Set([...installed, ...bundled])]
  t.ok(shipped.length > direct.length)
  const below = (path: string): string[] => existsSync(path) ? filesBelow(path) : []
  const native = shipped.filter((path) =>
    below(path).some((file) => /\.node$|binding\.gyp$/.test(file)))
  t.strictSame(
    native.map((path) => path.replace(/^node_modules\//, '').replace(/-(?:x64|arm64)$/, '')).sort(),
    ['@koromix/koffi-linux', 'fs-native-extensions'],
    'kernel locks; the calls by which a supervisor of git waits for its children; nothing else',
  )
  const providers = /api\.openai\.com|openrouter\.ai|near\.ai|generativelanguage/
  for (const path of shipped) {
    const code = below(path).filter((file) => /\.[cm]?js$/.test(file))
    t.notOk(code.some((file) => providers.test(readFileSync(file, 'utf8'))), `${path}: no provider`)
  }
})

t.test('A-027 tests name no host outside this machine and need no key', async (t) => {
  const place = World.in(t).place
  t.equal((await place.run(['init'])).status, 0, 'the built-in profile')
  t.equal((await place.run(['login'])).status, 0)
  writeFileSync(place.path('key'), 'no-real-key')
  t.equal((await place.run(setupFlags(place, 1))).status, 0)
  const ran = await place.run(['alpha', 'ask', '-', '--json'], { stdin: 'q' })
  t.equal(ran.error().reason, 'dns_failed', 'the test resolver knows loopback only')
  t.equal(ran.status, 9)
  const balance = (await place.run(['status', '--json'])).json().ledger
  t.equal(balance.held_microusd, 0, 'proof that nothing was sent releases the hold')
})
