import fc from 'fast-check'
import {
  encodeInput, makeAlphaInput, parseAlphaInput, questionFromBytes, requireQuestion,
  requireWithinCap,
} from '../../src/alpha/input.js'
import type { SallyportError } from '../../src/base/errors.js'
import { errorOf } from '../support/refused.js'
import { t } from '../support/tests-in-slices.js'

const good = { schema: 'svc.alpha.text.input.v1', question: 'why?', max_output_tokens: 5 }
const parse = (value: unknown) => parseAlphaInput(Buffer.from(JSON.stringify(value)))
const refuses = (value: unknown): SallyportError => errorOf(() => parse(value))

t.test('A-093 the input is a closed shape of one schema', async (t) => {
  t.strictSame({ ...parse(good) }, good)
  for (const schema of ['svc.alpha.text.input.v2', '', null, 1]) {
    t.hasStrict(
      refuses({ ...good, schema }), { code: 'input_invalid', details: { field: 'schema' } }
    )
  }
  t.equal(refuses({ ...good, extra: 1 }).code, 'input_invalid')
  for (const field of Object.keys(good)) {
    const rest = Object.fromEntries(Object.entries(good).filter(([key]) => key !== field))
    t.hasStrict(refuses(rest), { code: 'input_invalid', details: { field } }, `without ${field}`)
  }
  for (const value of [[], null, 'x', [good]]) t.equal(refuses(value).code, 'input_invalid')
})

t.test('A-094 a question has 1 to 8192 bytes, counted as UTF-8', async (t) => {
  for (const question of ['q', ' ', '\n', 'q'.repeat(8_192), 'é'.repeat(4_096),
    '😀'.repeat(2_048), '\u0000'.repeat(8_192)]) {
    t.equal(parse({ ...good, question }).question, question)
    t.equal(questionFromBytes(Buffer.from(question)), question)
  }
  for (const [question, code] of [['', 'question_empty'], ['q'.repeat(8_193), 'question_too_long'],
    [`${'é'.repeat(4_096)}q`, 'question_too_long'],
    ['😀'.repeat(2_049), 'question_too_long']] as const) {
    t.equal(refuses({ ...good, question }).code, code)
    t.equal(errorOf(() => questionFromBytes(Buffer.from(question))).code, code)
    t.equal(errorOf(() => makeAlphaInput(question, 5)).code, code)
  }
  t.equal(refuses({ ...good, question: 5 }).code, 'input_invalid')
})

t.test('A-094 a question that is not UTF-8 is refused, from bytes or from text', async (t) => {
  for (const bytes of [[0xff], [0x61, 0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80,
    0x80], [0xe2, 0x82]]) {
    t.equal(errorOf(() => questionFromBytes(Buffer.from(bytes))).code, 'question_not_utf8')
  }
  t.equal(errorOf(() => requireQuestion('a\ud800')).code, 'question_not_utf8')
  const text = JSON.stringify(good).replace('why?', '\\udfff')
  t.equal(errorOf(() => parseAlphaInput(Buffer.from(text))).kind, 'rejected')
})

t.test('a question keeps every byte: line ends, white space, a byte order mark', async (t) => {
  for (const question of ['\uFEFFq', ' q \r\n', '\r\n\r\n', 'cafe\u0301']) {
    const bytes = Buffer.from(question)
    t.strictSame(Buffer.from(questionFromBytes(bytes)), bytes)
  }
  fc.assert(fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 500 }), (question) => {
    const input = makeAlphaInput(question, 7)
    const back = parseAlphaInput(encodeInput(input))
    return back.question === question && encodeInput(back).equals(encodeInput(input))
  }))
})

t.test('A-095 max_output_tokens is a strict integer 1..1024', async (t) => {
  for (const tokens of [1, 1_024]) {
    t.equal(parse({ ...good, max_output_tokens: tokens }).max_output_tokens, tokens)
  }
  for (const lexeme of ['0', '1025', '-1', '1.5', '"5"', 'true', 'null', '1.0', '1e1', '-0']) {
    const text = JSON.stringify(good).replace('5', lexeme)
    t.hasStrict(errorOf(() => parseAlphaInput(Buffer.from(text))),
      { kind: 'rejected', details: { field: 'max_output_tokens' } }, lexeme)
  }
  for (const tokens of [0, 1_025, 1.5, NaN]) {
    t.equal(errorOf(() => makeAlphaInput('q', tokens)).code, 'input_invalid')
  }
})

t.test('A-096 above the configured cap is refused, never lowered', async (t) => {
  const input = makeAlphaInput('q', 100)
  t.equal(requireWithinCap(input, 100), input)
  t.equal(input.max_output_tokens, 100)
  t.hasStrict(errorOf(() => requireWithinCap(makeAlphaInput('q', 101), 100)),
    { kind: 'rejected', code: 'max_output_tokens_above_cap', details: { limit: 100 } })
})

t.test('A-098 fields of authority have no place in the input', async (t) => {
  for (const field of ['owner', 'root', 'goal', 'goal_id', 'consent', 'consent_id', 'allowed',
    'decision_id', 'policy_revision', 'purpose', 'model', 'messages', 'tools', 'api_key']) {
    t.equal(refuses({ ...good, [field]: true }).code, 'input_invalid', field)
  }
})

t.test('no refusal quotes the question', async (t) => {
  const secret = 'MY-SECRET-QUESTION'
  const long = secret.repeat(600)
  const texts = [
    JSON.stringify({ ...good, question: secret, max_output_tokens: 0 }),
    JSON.stringify({ ...good, question: secret, [secret]: 1 }),
    JSON.stringify({ ...good, question: long }),
    JSON.stringify({ ...good, question: [secret] }),
    `{"question":"${secret}"`, `{"question":"${secret}","question":"${secret}"}`, secret,
  ]
  for (const text of texts) {
    const error = errorOf(() => parseAlphaInput(Buffer.from(text)))
    t.notMatch(`${error.message} ${JSON.stringify(error.details)} ${error.next ?? ''}`, secret)
  }
})

t.test('an input is frozen', async (t) => {
  t.ok(Object.isFrozen(parse(good)))
  t.ok(Object.isFrozen(makeAlphaInput('q', 1)))
})
