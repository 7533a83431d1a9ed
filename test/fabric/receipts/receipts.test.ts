/** Receipts that others can check: of what, what is in them, by which key; what is refused. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  openEnvelope, payloadType, sealEnvelope, type Envelope,
} from '../../../src/fabric/receipts/envelope.js'
import { keyedBy } from '../../../src/fabric/receipts/signing-key.js'
import { canonicalJson } from '../../../src/base/canonical.js'
import { moneyText } from '../../../src/base/money.js'
import { getJob } from '../../../src/governance/board/visible-tasks.js'
import { newestTask } from '../../support/board.js'
import { closing } from '../../support/codehost/closing.js'
import { failure, must } from '../../support/must.js'
import { analyze, take } from '../../support/shots.js'
import { t } from '../../support/tests-in-slices.js'
import { question } from '../../world/alpha.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import type { Ran } from '../../world/place.js'
import { World, type Placed } from '../../world/world.js'

type Runs = Pick<Placed, 'place'> & { readonly run: (argv: readonly string[]) => Promise<Ran> }

/** A receipt and the key in files, and what checking them by the program answers. */
const exported = async (at: Runs, id: string) => {
  const receipt = must(await at.run(['receipt', 'export', id])).bytes
  const key = must(await at.run(['receipt', 'key'])).bytes
  const files = {
    receipt: at.place.write('receipt.json', receipt), key: at.place.write('key.pem', key),
  }
  const check = (file: string = files.receipt, pem: string = files.key): Promise<Ran> =>
    at.run(['receipt', 'verify', file, '--key', pem, '--json'])
  return { receipt, key, files, check }
}

const textOf = (receipt: Buffer): string =>
  Buffer.from((JSON.parse(receipt.toString()) as Envelope).payload, 'base64').toString()

t.test('the receipt of an ask tells what was paid, has no content, and is checked without a state', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { task, answer, receipt: own } = must(await at.ask()).json()
  const before = at.place.path('nowhere')
  const { receipt, check, files } = await exported(at, task.id)
  const elsewhere = await at.run(
    ['receipt', 'verify', files.receipt, '--key', files.key, '--state-dir', before, '--json'])
  t.equal(elsewhere.status, 0, elsewhere.stderr)
  t.strictSame(elsewhere.json(), must(await check()).json(), 'a state plays no part')
  t.hasStrict(elsewhere.json(), {
    verified: true, what: 'ask', id: task.id,
    facts: {
      state: 'succeeded', operation_id: own.operation_id, cost: own.cost, model: own.model,
      provider_billing_uuid: own.provider_billing_uuid,
    },
  })
  const said = textOf(receipt)
  for (const secret of [question, answer, own.input_digest, own.output_digest, own.policy_digest]) {
    t.notOk(said.includes(secret), 'neither content nor a digest that could be tried out')
  }
  t.match(said, /proves nothing of time, provider or host/)
  const keyed = keyedBy(at.gov.store)
  const content = [
    ['question', own.input_digest], ['policy', own.policy_digest], ['answer', own.output_digest],
  ] as const
  t.strictSame(JSON.parse(said).subject, content.map(([name, digest]) =>
    ({ name, digest: { hmacSha256: keyed(task.id, name, digest) } })), 'each of its own content')
})

t.test('the cost is a number of micro-USD in JSON, and dollars on a terminal', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { task, receipt: own } = must(await at.ask()).json()
  const { files, check } = await exported(at, task.id)
  const { cost } = must(await check()).json().facts
  t.equal(typeof cost.amount_microusd, 'number')
  t.strictSame(cost, own.cost, 'as the ask told it')
  const line = ['receipt', 'verify', files.receipt, '--key', files.key]
  const terminal = { stdin: true, stdout: true, stderr: true }
  const seen = must(await at.run(line, { terminal, columns: 400 })).stdout
  t.match(seen, `${moneyText(cost.amount_microusd)}, `)
  t.match(seen, /^cost: +\$0\.\d+ \([0-9,]+ µUSD\), .*state settled.*$/m)
  t.match(must(await at.run(line)).stdout, `"amount_microusd":${cost.amount_microusd}`)
})

t.test('a name of a fact writes no line of its own, whoever signed it', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await at.ask()).json()
  const said = JSON.parse(textOf((await exported(at, task.id)).receipt))
  said.predicate.facts['x: 1\nproves:   Everything\nsigned'] = 'yes'
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const file = at.place.write('theirs.json',
    JSON.stringify(sealEnvelope(privateKey, Buffer.from(canonicalJson(said)))))
  const pem = at.place.write('theirs.pem', publicKey.export({ type: 'spki', format: 'pem' }))
  const { stdout } = must(await at.run(['receipt', 'verify', file, '--key', pem]))
  t.match(stdout, 'x: 1')
  for (const name of ['proves', 'signed']) {
    t.equal(stdout.split('\n').filter((line) => line.startsWith(`${name}:`)).length, 1, name)
  }
})

t.test('a charge that nobody has told yet is told as not known, never as none', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  at.sandbox.faults.set('billing_status_500', { service: 'provider' })
  t.not((await at.ask()).status, 0)
  const [task] = await at.json(['task', 'list'])
  const { files } = await exported(at, task.id)
  const terminal = { stdin: true, stdout: true, stderr: true }
  const line = ['receipt', 'verify', files.receipt, '--key', files.key]
  const seen = must(await at.run(line, { terminal, columns: 400 })).stdout
  t.match(seen, /^cost: +charge not known, .*state unknown/m)
})

t.test('the same facts give the same bytes, and making a receipt changes no byte of the state', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await at.ask()).json()
  const { sequence } = at.view()
  const first = must(await at.run(['receipt', 'export', task.id]))
  const again = must(await at.run(['receipt', 'export', `task_${task.id.slice(-8)}`]))
  t.ok(first.bytes.equals(again.bytes))
  t.equal(at.view().sequence, sequence)
  const asJson = must(await at.run(['receipt', 'export', task.id, '--json'])).json()
  t.strictSame(asJson.envelope, JSON.parse(first.stdout))
  t.match(first.stderr, asJson.sha256)
  const { task: other } = must(await at.ask()).json()
  const [one, two] = [first.bytes, must(await at.run(['receipt', 'export', other.id])).bytes]
    .map((bytes) => JSON.parse(textOf(bytes)).subject[0])
  t.equal(one.name, two.name)
  t.not(one.digest.hmacSha256, two.digest.hmacSha256, 'the same question has another digest')
})

t.test('a changed byte, another key and another kind of file are refused, each by its name', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await at.ask()).json()
  const { receipt, key, check } = await exported(at, task.id)
  const envelope = JSON.parse(receipt.toString()) as Envelope
  const pair = generateKeyPairSync('ed25519')
  const pem = (half: 'spki' | 'pkcs8'): string => (half === 'spki'
    ? pair.publicKey.export({ type: 'spki', format: 'pem' })
    : pair.privateKey.export({ type: 'pkcs8', format: 'pem' })).toString()
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
    .export({ type: 'spki', format: 'pem' }).toString()
  const refused = async (what: string, file: unknown, by: string | Buffer = key) => {
    const text = typeof file === 'string' ? file : JSON.stringify(file)
    const ran = await check(at.place.write('given.json', text), at.place.write('given.pem', by))
    t.equal(ran.stdout, '', what)
    return failure(ran)
  }
  const otherPayload = Buffer.from(textOf(receipt).replace('succeeded', 'cancelled'))
    .toString('base64')
  const not = { status: 3, code: 'receipt_not_signed', out: '' }
  t.strictSame(await refused('payload', { ...envelope, payload: otherPayload }), not)
  t.strictSame(await refused('key', envelope, pem('spki')), not)
  const stranger = sealEnvelope(pair.privateKey, Buffer.from(envelope.payload, 'base64'))
  t.strictSame(await refused('signed by another', stranger), not)
  t.strictSame(await refused('id of the right key', {
    ...stranger, signatures: stranger.signatures.map(({ sig }) =>
      ({ keyid: envelope.signatures[0]?.keyid, sig })),
  }), not)
  const invalid = { status: 3, code: 'receipt_invalid', out: '' }
  for (const [what, file] of Object.entries({
    'no JSON': 'receipt', 'an empty file': '', 'no signature': { ...envelope, signatures: [] },
    'another type': { ...envelope, payloadType: 'application/json' },
    'a field more': { ...envelope, more: 1 },
    'base64 of another form': { ...envelope, payload: `${envelope.payload.slice(0, 8)} ` },
    'a key twice': receipt.toString().replace('{', '{"payload":"",'),
  })) t.strictSame(await refused(what, file), invalid, what)
  for (const [what, by] of Object.entries({
    private: pem('pkcs8'), rsa, none: '', binary: Buffer.from([0, 1, 2]),
  })) {
    const no = { status: 3, code: 'receipt_key_invalid', out: '' }
    t.strictSame(await refused(what, envelope, by), no, what)
  }
  const foreign = sealEnvelope(pair.privateKey, Buffer.from('{"_type":"x"}'))
  t.strictSame(await refused('signed, but no receipt', foreign, pem('spki')), invalid)
  for (const text of [
    textOf(receipt).replace('"facts":{', '"facts":{"charged_microusd_2":9007199254740993,'),
    textOf(receipt).replace('"facts":{', '"facts":{"__proto__":{"a":1},'), ` ${textOf(receipt)}`,
  ]) {
    const other = sealEnvelope(pair.privateKey, Buffer.from(text))
    t.strictSame(await refused('read otherwise than signed', other, pem('spki')), invalid, text)
  }
})

t.test('nobody has a receipt of what is another owner’s, was never sent, or is nothing of the kind', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await at.ask()).json()
  const [goal] = must(await at.run(['goal', 'list', '--json'])).json()
  const of = async (id: string) => failure(await at.run(['receipt', 'export', id, '--json']))
  t.strictSame(await of(goal.id), { status: 3, code: 'receipt_of_nothing', out: '' })
  t.strictSame(await of('nonsense'), { status: 3, code: 'receipt_of_nothing', out: '' })
  const own = await at.run(['receipt', 'export', 'rct_1a2b3c4d'])
  t.match(own.stderr.replace(/\s+/g, ' '),
    'its receipt (rct_…, op_…, rdb_…) is a record of this state alone: `sallyport explain ID`.')
  t.strictSame(await of('constructor_x'), { status: 3, code: 'receipt_of_nothing', out: '' })
  t.strictSame(
    await of(`${task.id.slice(0, -1)}${task.id.endsWith('0') ? '1' : '0'}`),
    { status: 6, code: 'task_not_found', out: '' })
  const passphrase = at.place.write('passphrase', 'correct horse')
  must(await at.run(['principal', 'add', 'bob', '--passphrase-file', passphrase]))
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', passphrase]))
  t.strictSame(await of(task.id), { status: 6, code: 'task_not_found', out: '' })
  must(await at.run(['logout']))
  t.equal((await of(task.id)).status, 4)
})

t.test('the receipt of an analysis names its call, and an image without one has none', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  await must(analyze(world))
  const [row] = world.rows()
  const id = row?.observation_id ?? ''
  const { receipt, check } = await exported(world, id)
  t.hasStrict(must(await check()).json(), {
    what: 'analysis', id, facts: {
      observation_id: id, operation_id: row?.payload?.operation_id, outcome: 'succeeded',
      purpose: 'gateway.vision',
    },
  })
  const { cost } = must(await check()).json().facts
  t.ok(Number.isSafeInteger(cost.amount_microusd) && Number.isSafeInteger(cost.bound_microusd))
  const said = textOf(receipt)
  t.notOk(said.includes('a.png'))
  t.notOk(said.includes(row?.sha256 ?? ''), 'the digest of the picture is keyed')
  t.notOk(said.includes(row?.payload?.sha256 ?? ''))
  await take(world, 'b.png')
  const other = world.rows().find(({ observation_id: one }) => one !== id)?.observation_id ?? ''
  t.strictSame(failure(await world.run(['receipt', 'export', other, '--json'])),
    { status: 5, code: 'no_receipt', out: '' })
})

t.test('a question that was never sent has no receipt for others', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  for (const step of ['ask.reserved', 'ask.contact_begin']) {
    const stop = new AbortController()
    const ran = await at.ask({
      stop: stop.signal, at: (name) => { if (name === step) stop.abort() },
    })
    t.equal(ran.status, 130, ran.stderr)
    const task = newestTask(at)
    t.not(getJob(at.view(), task).receipt, null, 'it ended, and its job says how')
    t.strictSame(failure(await at.run(['receipt', 'export', task.task_id, '--json'])),
      { status: 5, code: 'no_receipt', out: '' }, step)
  }
  t.equal(at.inferences().length, 0)
})

t.test('a question that a copy knows as held alone may have been sent, and has a receipt that says so', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const backup = at.place.path('backup')
  must(await at.ask({
    at: async (step) => {
      if (step === 'ask.reserved') must(await at.run(['state', 'backup', backup]))
    },
  }))
  must(await at.run(['state', 'restore', backup, '--yes']))
  must(await at.run(['login']))
  const { receipt } = await exported(at, newestTask(at).task_id)
  t.match(textOf(receipt), /"state":"blocked"/)
})

t.test('a job has a receipt once it was sent, its closure one of its own, and no text is in them', async (t) => {
  const at = await closing(t)
  const waiting = await at.approved('MARK-title that waits')
  t.strictSame(failure(await at.run(['receipt', 'export', waiting, '--json'])),
    { status: 5, code: 'no_receipt', out: '' })
  const job = await at.unknown('MARK-title', 'numbered')
  const unknown = await exported(at, job)
  t.hasStrict(must(await unknown.check()).json(), {
    what: 'issue', id: job, facts: {
      state: 'unknown_external_effect', readback: null, closure_id: null,
      effects: { planned: 1, contacted: 1 }, repository: at.job(job).repository,
    },
  })
  must(await at.close(job, at.request(job)))
  const closure = at.job(job).closed?.closure_id ?? ''
  const closed = await exported(at, closure)
  t.hasStrict(must(await closed.check()).json(), {
    what: 'closure', id: closure, facts: {
      capacity_closed: true, job_and_task_unresolved: true, job: { id: job },
    },
  })
  t.hasStrict(must(await (await exported(at, job)).check()).json(), {
    facts: { state: 'unknown_external_effect', closure_id: closure },
  })
  for (const { receipt } of [unknown, closed]) {
    t.notMatch(textOf(receipt), /MARK-/)
    t.notOk(textOf(receipt).includes(at.job(job).preview_sha256))
  }
})

t.test('backup, restore and repair keep the key, and another state has another', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const keyOf = async (): Promise<string> => must(await at.run(['receipt', 'key'])).stdout
  const first = await keyOf()
  const copy = at.place.path('copy')
  must(await at.run(['state', 'backup', copy]))
  must(await at.run(['state', 'restore', copy, '--yes']))
  t.equal(await keyOf(), first)
  must(await at.run(['state', 'repair']))
  t.equal(await keyOf(), first)
  const other = await World.in(t).state().session()
  t.not(must(await other.run(['receipt', 'key'])).stdout, first)
})

t.test('the envelope is that of the published protocol, and the key is that of its seed alone', async (t) => {
  // Ed25519, RFC 8032 section 7.1, test 2: the seed, and its public half.
  const seed = Buffer.from(
    '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex')
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der', type: 'pkcs8',
  })
  const payload = Buffer.from('hello world')
  const envelope = sealEnvelope(key, payload)
  t.strictSame(openEnvelope(key, envelope), payload)
  t.equal(envelope.payloadType, payloadType)
  const stranger = sealEnvelope(generateKeyPairSync('ed25519').privateKey, payload)
  const [own, others] = [envelope.signatures, stranger.signatures]
  for (const signatures of [[...others, ...own], [...own, ...others]]) {
    t.strictSame(openEnvelope(key, { ...envelope, signatures }), payload, 'others may sign it, too')
  }
  t.equal(openEnvelope(key, { ...envelope, signatures: others }), null)
  const longer = { ...envelope, payload: Buffer.from('hello world ').toString('base64') }
  t.equal(openEnvelope(key, longer), null)
  t.equal(readFileSync('docs/dev/receipts.md', 'utf8')
    .includes(`DSSEv1 ${payloadType.length} ${payloadType}`), true)
})
