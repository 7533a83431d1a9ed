import t from 'tap'
import fc from 'fast-check'
import { completionReasons, judgeCompletion, type CompletionVerdict } from
  '../../src/alpha/completion.js'
import {
  asProviderReply, bodyMarker, goodCompletionReply, tableAnswer, tableBodyId, tableUuid,
  type RawReply,
} from '../support/alpha/hostile-replies.js'

const model = 'fixed/model-1'
const good = goodCompletionReply(model)
const goodText = good.body.toString('utf8')
const judge = (raw: RawReply): CompletionVerdict => judgeCompletion(asProviderReply(raw), { model })
const judgeText = (text: string, headers: RawReply['headers'] = []): CompletionVerdict =>
  judge({ status: 200, headers, body: Buffer.from(text, 'utf8') })
const withAnswer = (content: string): string => {
  const root = JSON.parse(goodText) as { choices: [{ message: { content: string } }] }
  root.choices[0].message.content = content
  return JSON.stringify(root)
}

/** Own words about a verdict: no reason holds text of a reply, whatever the reply. */
const isContentSafe = (verdict: CompletionVerdict): boolean =>
  verdict.ok || (Object.keys(verdict).sort().join() === 'billingUuid,ok,reason' &&
    Object.hasOwn(completionReasons, verdict.reason))

/** The good reply with members of its message or its choice changed. */
const changed = (message: object, choice: object = {}, root: object = {}): CompletionVerdict => {
  const whole = JSON.parse(goodText) as { choices: [{ message: object }] }
  const [first] = whole.choices
  return judgeText(JSON.stringify({
    ...whole,
    choices: [{ ...first, ...choice, message: { ...first.message, ...message } }],
    ...root,
  }))
}
const reasonOf = (verdict: CompletionVerdict): string => (verdict.ok ? 'ok' : verdict.reason)

t.test('what says nothing beside the answer is passed over, and nothing else is', async (t) => {
  const silent: readonly unknown[] = [null, [], '']
  for (const name of ['refusal', 'audio', 'images']) {
    for (const value of silent) t.equal(reasonOf(changed({ [name]: value })), 'ok', name)
  }
  for (const value of [null, []]) t.equal(reasonOf(changed({ tool_calls: value })), 'ok')
  t.equal(reasonOf(changed({ function_call: null })), 'ok')
  const refused: readonly (readonly [object, string])[] = [
    [{ tool_calls: '' }, 'tools'], [{ tool_calls: [{}] }, 'tools'], [{ tool_calls: {} }, 'tools'],
    [{ function_call: {} }, 'tools'], [{ function_call: '' }, 'tools'],
    [{ function_call: [] }, 'tools'], [{ refusal: 'no' }, 'refusal'], [{ refusal: [1] }, 'refusal'],
    [{ refusal: { length: 0 } }, 'refusal'], [{ refusal: 0 }, 'refusal'],
    [{ audio: {} }, 'non_text'], [{ images: [{}] }, 'non_text'],
    [{ role: 'user' }, 'role'], [{ content: '' }, 'empty_answer'],
    [{ content: [] }, 'content_type'],
  ]
  for (const [message, reason] of refused) {
    t.equal(reasonOf(changed(message)), reason, JSON.stringify(message))
  }
})

t.test('a reply that calls something, or holds another number of choices, is rejected', async (t) => {
  for (const finish of ['tool_calls', 'function_call']) {
    t.equal(reasonOf(changed({}, { finish_reason: finish })), 'tools', finish)
  }
  const [choice] = (JSON.parse(goodText) as { choices: object[] }).choices
  for (const choices of [[], [choice, choice], {}, null]) {
    t.equal(reasonOf(changed({}, {}, { choices })), 'choice_count', JSON.stringify(choices))
  }
})

t.test('a redirect and an encoded reply are told as such', async (t) => {
  t.equal(reasonOf(judge({ ...good, status: 302 })), 'redirect')
  t.equal(reasonOf(judge({ ...good, status: 500 })), 'http_status')
  t.equal(reasonOf(judgeText(goodText, [['content-encoding', 'gzip']])), 'content_encoding')
})

t.test('A-144 a body id of 256 bytes names a charge, one of 257 does not', async (t) => {
  const named = (id: string): CompletionVerdict => judgeText(goodText.replace(tableBodyId, id))
  t.hasStrict(named('i'.repeat(256)), { ok: true, bodyId: 'i'.repeat(256) })
  t.hasStrict(named('i'.repeat(257)), { ok: false, reason: 'body_id', billingUuid: null })
})

t.test('A-146 the reply to chatcmpl-123 is billed under its version 5 UUID', async (t) => {
  const verdict = judgeText(goodText.replace(tableBodyId, 'chatcmpl-123'))
  t.hasStrict(verdict, { ok: true, billingUuid: 'cc8b70d8-7edb-5113-a31a-bee2bfbbf194' })
})

t.test('A-148 a reply without inference-id proceeds under the computed UUID', async (t) => {
  t.hasStrict(judgeText(goodText), { ok: true, billingUuid: tableUuid })
  t.hasStrict(judgeText(goodText, [['inference-id', '']]), { ok: false, billingUuid: null })
})

t.test('A-200 A-203 wire bytes are counted before the reply is parsed', async (t) => {
  t.hasStrict(judgeText(goodText.padEnd(262_144)), { ok: true })
  t.hasStrict(judgeText(goodText.padEnd(262_145)), { ok: false, reason: 'oversize' })
  t.hasStrict(judgeText('['.repeat(300_000)), { ok: false, reason: 'oversize' })
})

t.test('A-201 an answer has at most 64 KiB of valid UTF-8 and is never clipped', async (t) => {
  const full = '€'.repeat(21_845)
  t.hasStrict(judgeText(withAnswer(`${full}a`)), { ok: true, answer: `${full}a` })
  t.hasStrict(judgeText(withAnswer(`${full}ab`)), { ok: false, reason: 'answer_too_large' })
  t.hasStrict(judgeText(goodText.replace(tableAnswer, '\\udead')), { ok: false })
  const bytes = Buffer.from(withAnswer('XX'), 'utf8')
  bytes[bytes.indexOf('XX')] = 0xfe
  t.hasStrict(judge({ ...good, body: bytes }), { ok: false, reason: 'malformed_json' })
})

t.test('every accepted answer is exactly the text of the reply', async (t) => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (content) => {
    const verdict = judgeText(withAnswer(content))
    return verdict.ok && verdict.answer === content
  }))
  t.hasStrict(judgeText(withAnswer(' \r\n')), { answer: ' \r\n' })
})

t.test('a reply cut short by max_tokens says so', async (t) => {
  t.hasStrict(judgeText(goodText.replace('"stop"', '"length"')), { ok: true, finish: 'length' })
  const odd = judgeText(goodText.replace('"stop"', '"MARK-odd"'))
  t.hasStrict(odd, { ok: true, finish: 'other' }, 'no word of the provider is kept')
  t.hasStrict(judgeText(goodText.replace('"stop"', '"content_filter"')), {
    ok: true, finish: 'content_filter',
  })
  t.hasStrict(judgeText(goodText), { ok: true, finish: 'stop' })
})

interface Mutation { readonly at: number; readonly drop: number; readonly put: string }

const mutation = (length: number): fc.Arbitrary<Mutation> =>
  fc.record({
    at: fc.nat(length),
    drop: fc.nat(3),
    put: fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.constantFrom('"', '\\', ',', ':', '{', '}', '[', ']', 'null', '\u0000', '\\u0061', '1e3'),
    ),
  })
const mutate = (text: string, { at, drop, put }: Mutation): string =>
  text.slice(0, at) + put + text.slice(at + drop)

t.test('mutating the frame never turns a reply into another answer, model or id', async (t) => {
  const answerAt = goodText.indexOf(tableAnswer)
  const idAt = goodText.indexOf(tableBodyId)
  const touches = (m: Mutation, start: number, length: number): boolean =>
    m.at + m.drop >= start && m.at <= start + length
  let accepted = 0
  fc.assert(
    fc.property(mutation(goodText.length), (m) => {
      fc.pre(!touches(m, answerAt, tableAnswer.length) && !touches(m, idAt, tableBodyId.length))
      const verdict = judgeText(mutate(goodText, m))
      if (!isContentSafe(verdict)) return false
      if (!verdict.ok) return verdict.billingUuid === null || verdict.billingUuid === tableUuid
      accepted += 1
      return verdict.answer === tableAnswer && verdict.bodyId === tableBodyId &&
        verdict.billingUuid === tableUuid
    }),
    { numRuns: 3_000 },
  )
  t.ok(accepted > 0, 'some mutations fall where nothing is read')
})

t.test('A-173 no mutation of the model field is accepted', async (t) => {
  fc.assert(fc.property(fc.string(), (name) => {
    fc.pre(name !== model)
    const verdict = judgeText(goodText.replace(JSON.stringify(model), () => JSON.stringify(name)))
    return !verdict.ok && verdict.reason === 'model_mismatch'
  }))
  t.ok(judgeText(goodText).ok)
})

t.test('A-147 with the right inference-id no other body id is ever accepted', async (t) => {
  fc.assert(fc.property(fc.string({ minLength: 1, maxLength: 40 }), (id) => {
    fc.pre(id !== tableBodyId)
    const text = goodText.replace(JSON.stringify(tableBodyId), () => JSON.stringify(id))
    const verdict = judgeText(text, [['inference-id', tableUuid]])
    return !verdict.ok && verdict.billingUuid === null
  }))
  t.ok(judgeText(goodText, [['inference-id', tableUuid]]).ok)
})

t.test('any status, headers and bytes give a verdict without body text', async (t) => {
  const header = fc.tuple(
    fc.constantFrom('content-type', 'content-encoding', 'inference-id', 'x-request-id'),
    fc.oneof(fc.string(), fc.constantFrom('identity', tableUuid, 'application/json')),
  )
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc.string().map((text) => Buffer.from(text + bodyMarker)),
    fc.constant(good.body),
  )
  fc.assert(
    fc.property(
      fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 })), fc.array(header), body,
      (status, headers, bytes) => {
        const verdict = judge({ status, headers, body: bytes })
        return isContentSafe(verdict) && (!verdict.ok || bytes === good.body)
      },
    ),
    { numRuns: 2_000 },
  )
  t.ok(judge(good).ok)
})

t.test('replacing any value by any JSON keeps answer, model and id true', async (t) => {
  const paths = [['id'], ['model'], ['choices'], ['choices', 0], ['choices', 0, 'message'],
    ['choices', 0, 'message', 'role'], ['choices', 0, 'message', 'content'],
    ['choices', 0, 'message', 'tool_calls'], ['choices', 0, 'finish_reason'], ['usage']]
  const put = (root: unknown, path: readonly (string | number)[], value: unknown): void => {
    const parent = path.slice(0, -1).reduce<unknown>(
      (here, key) => (here as Record<string | number, unknown>)[key], root)
    Object.assign(parent as object, { [path.at(-1) as string]: value })
  }
  const property = fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
    const root = JSON.parse(goodText) as Record<string, unknown>
    put(root, path, value)
    const text = JSON.stringify(root)
    const verdict = judgeText(text)
    if (!verdict.ok) return isContentSafe(verdict)
    const seen = JSON.parse(text) as typeof root & {
      choices: [{ message: { content: unknown; role: unknown } }]
    }
    return seen.id === verdict.bodyId && seen.model === model && seen.choices.length === 1 &&
      seen.choices[0].message.content === verdict.answer &&
      seen.choices[0].message.role === 'assistant'
  })
  fc.assert(property, { numRuns: 2_000 })
  t.ok(judgeText(goodText).ok)
})

t.test('a good answer under another status is no answer and names no charge', async (t) => {
  t.hasStrict(judge(good), { ok: true })
  for (const status of [201, 204, 400, 404, 500]) {
    const expected = { ok: false, reason: 'http_status', billingUuid: null }
    t.hasStrict(judge({ ...good, status }), expected, String(status))
  }
})
