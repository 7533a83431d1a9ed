/** Every limit on what the provider sends, at its last byte and one past it, over real TLS. */
import type { Test } from 'tap'
import { v5 } from 'uuid'
import type { RawReply } from '../../src/sandbox/types.js'
import { goodCompletionReply } from '../support/alpha/hostile-replies.js'
import { checkLedger } from '../support/ledger.js'
import { timeOf } from '../support/speed.js'
import { World } from '../world/world.js'
import { manyAsks, type Asked, type Wire } from '../support/alpha/wire.js'
import { roomy } from '../world/alpha.js'
import { sha256 } from '../support/sha256.js'
import { t } from '../support/tests-in-slices.js'

const framings = ['length', 'chunked', 'close'] as const
const bodyId = 'chatcmpl-limits-1'
const json = [['content-type', 'application/json']] as const

let wire: Wire
t.before(async () => {
  const world = World.in(t).sandbox().state().session().alpha({ money: roomy })
  wire = (await world.with(manyAsks)).wire
})

/** A completion with these members changed; `content` is the answer. */
const completion = ({ content = 'yes', id = bodyId, more = {} }: {
  content?: string; id?: string; more?: Record<string, unknown>
} = {}): string => JSON.stringify({
  id, model: wire.model, ...more,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
})

const uuidOf = (id: string): string => v5(id, v5.DNS)

const billing = ({ id = bodyId, nano = 1_500, more = {} }: {
  id?: string; nano?: number; more?: Record<string, unknown>
} = {}): string =>
  JSON.stringify({ requests: [{ requestId: uuidOf(id), costNanoUsd: nano, ...more }] })

const raw = (body: string, framing: RawReply['framing'] = 'length'): RawReply =>
  ({ body, headers: json, framing: framing ?? 'length' })

/** A document filled up to exactly so many bytes with text in a member that nobody reads. */
const filled = (bytes: number): string => {
  const empty = completion({ more: { filler: '' } })
  return completion({ more: { filler: 'f'.repeat(bytes - Buffer.byteLength(empty)) } })
}

/** Asks with this completion, billed under its id. */
const billed = (what: Parameters<typeof completion>[0] = {}): Promise<Asked> => wire.ask({
  completion: raw(completion(what)), billing: raw(billing(what.id === undefined ? {} : what)),
})

const isBlocked = (t: Test, asked: Asked, billings: number): void => {
  t.equal(asked.status, 7)
  t.hasStrict(asked.task, {
    state: 'blocked',
    blocked: { kind: 'cost_liability', reason: 'alpha_cost_readback_required' },
  })
  t.hasStrict(asked.reservation, { state: 'unknown', bound_microusd: roomy.boundMicrousd })
  t.notOk(asked.keepsAnswer)
  t.equal(asked.billings, billings)
}

const answers = (t: Test, asked: Asked, answer: string): void => {
  t.equal(asked.error, null)
  t.ok(asked.result?.answer === answer, 'the exact answer')
  t.equal(asked.result?.receipt.output_digest,
    sha256(answer))
}

for (const framing of framings) {
  t.test(`A-200 262144 completion bytes are read, 262145 are not (${framing})`, async (t) => {
    for (const make of [filled, (bytes: number) => completion().padEnd(bytes, ' ')]) {
      const fits = make(262_144)
      t.equal(Buffer.byteLength(fits), 262_144)
      answers(t, await wire.ask({ completion: raw(fits, framing), billing: raw(billing()) }), 'yes')
      // Unread, it has no id: there is nothing to ask billing for.
      isBlocked(t, await wire.ask({ completion: raw(make(262_145), framing) }), 0)
    }
  })

  t.test(`A-202 16384 billing bytes are read, 16385 are not (${framing})`, async (t) => {
    const whole = (bytes: number): string => {
      const empty = billing({ more: { filler: '' } })
      return billing({ more: { filler: 'f'.repeat(bytes - Buffer.byteLength(empty)) } })
    }
    for (const make of [whole, (bytes: number) => billing().padEnd(bytes, ' ')]) {
      const first = raw(completion())
      const fits = make(16_384)
      t.equal(Buffer.byteLength(fits), 16_384)
      answers(t, await wire.ask({ completion: first, billing: raw(fits, framing) }), 'yes')
      isBlocked(t, await wire.ask({ completion: first, billing: raw(make(16_385), framing) }), 1)
    }
  })

  t.test(`A-203 padding counts before any parsing (${framing})`, async (t) => {
    const text = completion()
    const spaces = ' '.repeat(262_145)
    const padded = [
      `${spaces}${text}`, `${text}${spaces}`, text.replace('{', `{${spaces}`),
      text.replace('"model"', `${'\n'.repeat(262_145)}"model"`),
    ]
    for (const body of padded) {
      isBlocked(t, await wire.ask({ completion: raw(body, framing) }), 0)
    }
    const bill = `${' '.repeat(16_384)}${billing()}`
    isBlocked(t, await wire.ask({ completion: raw(text), billing: raw(bill, framing) }), 1)
  })
}

t.test('a billing reply of another status is asked once more, also where it is encoded, too large or cut off', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const replies: readonly RawReply[] = [
    { status: 503, headers: [['content-encoding', 'gzip']], body: 'no' },
    { status: 502, body: ' '.repeat(20_000) },
    { status: 500, verbatim: 'HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nno' },
  ]
  for (const [n, first] of replies.entries()) {
    rig.sandbox.faults.reply(first, { route: 'billing', times: 1 })
    const ran = await rig.ask()
    t.equal(ran.status, 0, `${first.status}: ${ran.stderr}`)
    t.equal(rig.billings().length, 2 * (n + 1))
  }
  checkLedger(t, rig)
})

t.test('A-200 A-202 a reply that goes on for ever ends at the cap, not at the deadline', async (t) => {
  const piece = Buffer.alloc(16_385, ' ')
  const endless = (pieces: number): RawReply =>
    ({ chunks: Array.from({ length: pieces }, () => piece), end: 'hang', headers: json })
  let begunMs = performance.now()
  isBlocked(t, await wire.ask({ completion: endless(17) }), 0)
  t.ok(performance.now() - begunMs < timeOf(330), 'before the 20 seconds of its stage')
  begunMs = performance.now()
  isBlocked(t, await wire.ask({ completion: raw(completion()), billing: endless(1) }), 1)
  t.ok(performance.now() - begunMs < timeOf(240), 'before the 15 seconds of its stage')
})

t.test('A-200 a length that promises too much is refused without its bytes', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 262145\r\n\r\n'
  isBlocked(t, await wire.ask({ completion: { verbatim: head, end: 'hang' } }), 0)
  const lies = `HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n${completion()}`
  isBlocked(t, await wire.ask({ completion: { verbatim: lies } }), 0)
})

t.test('A-201 an answer of 65536 bytes is whole, one of 65537 is refused and not cut', async (t) => {
  const fitting = [
    'a'.repeat(65_536), `${'€'.repeat(21_845)}a`, '😀'.repeat(16_384), '\n'.repeat(65_536),
  ]
  for (const content of fitting) {
    t.equal(Buffer.byteLength(content), 65_536)
    const asked = await billed({ content })
    answers(t, asked, content)
  }
  for (const content of fitting.map((one) => `${one}b`)) {
    const asked = await billed({ content })
    t.equal(asked.status, 9)
    t.equal(asked.task.reason, 'completion_answer_too_large')
    t.notOk(asked.keepsAnswer)
    t.hasStrict(asked.reservation, { state: 'settled', charged_microusd: 2 })
  }
  for (const lone of ['\\ud800', '\\udc00', '\\ud800\\ud800', 'a\\udfffb']) {
    const body = completion({ content: 'LONE' }).replace('LONE', lone)
    isBlocked(t, await wire.ask({ completion: raw(body), billing: raw(billing()) }), 0)
  }
})

t.test('A-144 A-138 ids of 1 and 256 bytes are billed, of 0 and 257 are not', async (t) => {
  for (const id of ['i', 'i'.repeat(256), 'é'.repeat(128), '😀'.repeat(64), '\u0000']) {
    const asked = await billed({ id })
    answers(t, asked, 'yes')
    t.equal(asked.result?.receipt.provider_billing_uuid, uuidOf(id))
    t.equal(wire.rig.billings().at(-1)?.body.toString(), `{"requestIds":["${uuidOf(id)}"]}`)
  }
  for (const id of ['', 'i'.repeat(257), `${'é'.repeat(128)}i`, `${'😀'.repeat(64)}i`]) {
    isBlocked(t, await billed({ id }), 0)
  }
})

t.test('A-146 A-148 without a header the UUID is computed from the body id', async (t) => {
  const id = 'chatcmpl-123'
  const asked = await billed({ id })
  answers(t, asked, 'yes')
  t.strictSame(JSON.parse(wire.rig.billings().at(-1)?.body.toString() ?? ''), {
    requestIds: ['cc8b70d8-7edb-5113-a31a-bee2bfbbf194'],
  })
})

const headed = (...headers: (readonly [string, string])[]): RawReply =>
  ({ body: completion(), headers: [...json, ...headers] })

t.test('A-147 A-149 the header must be the UUID in its one form; case is normalized', async (t) => {
  const uuid = uuidOf(bodyId)
  const upper = uuid.toUpperCase()
  for (const value of [uuid, upper, `${upper.slice(0, 8)}${uuid.slice(8)}`]) {
    const asked = await wire.ask({
      completion: headed(['Inference-Id', value]), billing: raw(billing()),
    })
    answers(t, asked, 'yes')
    t.equal(asked.result?.receipt.provider_billing_uuid, uuid, 'lowercase in the receipt')
    t.equal(wire.rig.billings().at(-1)?.body.toString(), `{"requestIds":["${uuid}"]}`)
  }
  const wrong = [
    '', ' ', '-', `{${uuid}}`, `urn:uuid:${uuid}`, uuid.replaceAll('-', ''), `"${uuid}"`,
    `${uuid} ${uuid}`, `${uuid},`, `${uuid};q=1`, uuid.replace(/.$/, 'g'), uuidOf('another'),
    v5(bodyId, v5.URL), '0', 'null',
  ]
  for (const value of wrong) {
    isBlocked(t, await wire.ask({
      completion: headed(['inference-id', value]), billing: raw(billing()),
    }), 0)
  }
  isBlocked(t, await wire.ask({
    completion: headed(['inference-id', uuid], ['Inference-ID', uuid]), billing: raw(billing()),
  }), 0)
})

t.test('A-150 x-request-id is ignored, alone and beside the right header', async (t) => {
  const other = uuidOf('another')
  for (const value of ['', other, '?', 'x'.repeat(2_000)]) {
    for (const more of [[], [['inference-id', uuidOf(bodyId)] as const]]) {
      const asked = await wire.ask({
        completion: headed(['x-request-id', value], ...more), billing: raw(billing()),
      })
      answers(t, asked, 'yes')
      t.equal(asked.result?.receipt.provider_billing_uuid, uuidOf(bodyId))
    }
  }
})

t.test('A-142 A-152 A-127 costs round up to the micro, whole, up to the bound', async (t) => {
  const charges: readonly (readonly [number, number])[] = [
    [1, 1], [999, 1], [1_000, 1], [1_001, 2], [49_999_000, 49_999], [49_999_001, 50_000],
    [50_000_000, 50_000],
  ]
  for (const [nano, micro] of charges) {
    const asked = await wire.ask({ completion: raw(completion()), billing: raw(billing({ nano })) })
    answers(t, asked, 'yes')
    t.hasStrict(asked.reservation, { charged_microusd: micro, overrun: 'none' })
    t.equal(asked.result?.receipt.cost.amount_microusd, micro)
  }
  const asked = await wire.ask({
    completion: raw(completion()), billing: raw(billing({ nano: 50_000_001 })),
  })
  t.equal(asked.status, 7)
  t.hasStrict(asked.reservation, {
    state: 'settled', charged_microusd: 50_001, overrun: 'review_required',
  })
})

t.test('A-151 A-204 a warning of another kind is no charge, and no amount is made up', async (t) => {
  for (const warning of [null, '']) {
    answers(t, await wire.ask({
      completion: raw(completion()), billing: raw(billing({ more: { warning } })),
    }), 'yes')
  }
  const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000, cost: 0.01 }
  for (const warning of ['x', ' ', 0, false, [], {}]) {
    const asked = await wire.ask({
      completion: raw(completion({ more: { usage } })),
      billing: raw(billing({ more: { warning } })),
    })
    isBlocked(t, asked, 1)
    t.equal(asked.reservation?.charged_microusd, null)
  }
})

t.test('A-142 A-152 A-204 A-187 the highest cost is recorded whole, one more is unknown', async (t) => {
  const money = { boundMicrousd: 1_000_000_000, ceilingMicrousd: 1_000_000_000 }
  const at = async (nano: string, bound = money.boundMicrousd): Promise<Asked> => {
    const world = World.in(t).sandbox().state().session()
      .alpha({ money: { ...money, boundMicrousd: bound } })
    const { wire: own } = await world.with(manyAsks)
    const body = billing({ nano: 7 }).replace('7}', `${nano}}`)
    const asked = await own.ask({ completion: raw(completion()), billing: raw(body) })
    checkLedger(t, own.rig)
    return asked
  }
  const highest = await at('1000000000000')
  answers(t, highest, 'yes')
  t.hasStrict(highest.reservation, { charged_microusd: 1_000_000_000, overrun: 'none' })
  const overrun = await at('1000000000000', 1)
  t.equal(overrun.status, 7)
  t.hasStrict(overrun.reservation, {
    charged_microusd: 1_000_000_000, bound_microusd: 1, overrun: 'review_required',
  })
  for (const nano of ['1000000000001', '9007199254740993']) {
    const above = await at(nano)
    t.equal(above.status, 7)
    t.hasStrict(above.reservation, {
      state: 'unknown', charged_microusd: null, bound_microusd: money.boundMicrousd,
    })
  }
})

t.test('A-139 the second billing request comes about a second after the first, not sooner',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    for (const fault of ['billing_500_once', 'billing_no_entry_once', 'billing_zero_first']) {
      rig.sandbox.faults.clear()
      rig.sandbox.faults.set(fault)
      rig.sandbox.log.clear()
      const ran = await rig.ask()
      t.equal(ran.status, 0, ran.stderr)
      const [first, second, third] = rig.billings()
      t.equal(third, undefined)
      const apart = (second?.receivedAtMs ?? 0) - (first?.receivedAtMs ?? 0)
      // Timers may fire a millisecond early by another clock; a loaded machine may be late.
      t.ok(apart >= 995 && apart < 10_000, `${apart} ms`)
    }
  })

t.test('a good reply through the same wire is an answer', async (t) => {
  const asked = await wire.ask({ completion: goodCompletionReply(wire.model) })
  t.equal(asked.status, 0)
  t.hasStrict(asked.reservation, { state: 'settled' })
})
