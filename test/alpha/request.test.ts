import fc from 'fast-check'
import { makeAlphaInput } from '../../src/alpha/input.js'
import {
  billingRequestBytes, billingUrl, inferenceRequestBytes, inferenceUrl, providerHeaders,
  requireRequestSize,
} from '../../src/alpha/request.js'
import { t } from '../support/tests-in-slices.js'

const model = 'fixed/model-1'
const body = (question: string, tokens = 50): Record<string, unknown> =>
  JSON.parse(inferenceRequestBytes(makeAlphaInput(question, tokens), model).toString('utf8')) as
    Record<string, unknown>

t.test('A-005 A-018 A-019 A-021 the body is one user text message and nothing else', async (t) => {
  t.strictSame(body('why?'), {
    model, messages: [{ role: 'user', content: 'why?' }], n: 1, max_tokens: 50, stream: false,
  })
  fc.assert(fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), (question) => {
    const { messages } = body(question) as { messages: [{ content: string }] }
    return messages.length === 1 && messages[0].content === question
  }))
})

t.test('A-016 the model on the wire is the sealed one, whatever the question says', async (t) => {
  t.equal(body('","model":"another/model","x":"')['model'], model)
})

t.test('A-099 max_tokens is exactly the number of the input', async (t) => {
  for (const tokens of [1, 7, 1_023, 1_024]) t.equal(body('q', tokens)['max_tokens'], tokens)
})

t.test('A-199 the worst valid question fits, and 65537 bytes are refused', async (t) => {
  const worst = inferenceRequestBytes(makeAlphaInput('\u0001'.repeat(8_192), 1_024), model)
  t.ok(worst.length > 49_000 && worst.length <= 65_536, `${worst.length}`)
  const full = Buffer.alloc(65_536)
  t.equal(requireRequestSize(full), full)
  t.throws(() => requireRequestSize(Buffer.alloc(65_537)), { code: 'request_too_large' })
  t.throws(() => inferenceRequestBytes(makeAlphaInput('q', 1), 'm'.repeat(65_536)),
    { code: 'request_too_large', kind: 'rejected' })
})

t.test('A-138 A-149 a billing request names one UUID, in lower case', async (t) => {
  const uuid = 'cc8b70d8-7edb-5113-a31a-bee2bfbbf194'
  t.equal(billingRequestBytes(uuid).toString(), `{"requestIds":["${uuid}"]}`)
  t.equal(billingRequestBytes(uuid.toUpperCase()).toString(), `{"requestIds":["${uuid}"]}`)
  t.throws(() => billingRequestBytes(`{${uuid}}`),
    new TypeError('a billing request needs a strict UUID'))
})

t.test('A-137 both calls go to fixed paths under the sealed base', async (t) => {
  const base = 'https://p.example/v1'
  t.equal(inferenceUrl(base), 'https://p.example/v1/chat/completions')
  t.equal(new URL(billingUrl(base)).pathname, '/v1/billing/costs')
  t.strictSame(providerHeaders('sk-1'), {
    authorization: 'Bearer sk-1', 'content-type': 'application/json', accept: 'application/json',
    'accept-encoding': 'identity',
  })
})
