/** What a 4xx is worth: a proof that something was refused, a limit with its end, or nothing. */
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import t from 'tap'
import { fail } from '../../../src/base/errors.js'
import { judgePost } from '../../../src/codehost/adapter/post-reply.js'
import {
  backDetails, backOf, backText, isLimited, provesRefusal,
} from '../../../src/codehost/adapter/refusal.js'
import type { HttpsReply } from '../../../src/net/types.js'

const reply = (
  status: number, body: unknown, headers: Readonly<Record<string, string>> = {},
): HttpsReply => {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const all = { 'content-length': String(bytes.length), ...headers }
  return {
    status, body: bytes, headers: new Map(Object.entries(all).map(([name, one]) => [name, [one]])),
  }
}

const invalid = (...errors: unknown[]) => ({ message: 'Validation Failed', errors })
const field = { resource: 'Issue', field: 'title', code: 'missing_field' }

const judged = (one: HttpsReply): string => {
  const verdict = judgePost(() => ({ remoteId: 1, problem: null }))(one)
  return verdict.kind === 'created' ? 'created' : `${verdict.kind} ${verdict.reason}`
}

t.test('C-210 a 404 and a 408 are no refusal whatever they say, a 409 and a 422 only where the whole of them names what was wrong', async (t) => {
  const text = (message: string) => ({ message })
  for (const [status, body, wanted] of [
    [422, invalid(field), 'refused status_422'], [422, invalid(), 'refused status_422'],
    [422, text('Validation Failed'), 'refused status_422'],
    [409, invalid(field), 'refused status_409'],
    [422, text('Something went wrong'), 'unknown status_422'],
    [422, text('Sorry, your request timed out.'), 'unknown status_422'],
    [422, invalid({ ...field, message: 'timed out' }), 'unknown status_422'],
    [422, text('Reference already exists'), 'unknown status_422'],
    [422, invalid({ ...field, code: 'already_exists' }), 'unknown status_422'],
    [422, invalid({ code: 'custom', message: 'A pull request already exists for a:b.' }),
      'unknown status_422'],
    [422, invalid('a text'), 'unknown status_422'], [422, invalid({}), 'unknown status_422'],
    [422, { errors: [field] }, 'unknown status_422'], [422, '<html>', 'unknown status_422'],
    [422, '', 'unknown status_422'], [422, '[]', 'unknown status_422'],
    [409, text('Git Repository is empty.'), 'unknown status_409'],
    [409, text('Conflict'), 'unknown status_409'],
    [404, text('Not Found'), 'unknown status_404'], [404, invalid(field), 'unknown status_404'],
    [408, invalid(field), 'unknown status_408'],
    [400, text('Problems parsing JSON'), 'refused status_400'],
    [401, text('Bad credentials'), 'refused codehost_token_refused'],
    [403, text('Resource not accessible'), 'refused status_403'],
    [410, text('Issues are disabled for this repo'), 'refused status_410'],
    [413, '<html>', 'refused status_413'], [500, invalid(field), 'unknown status_500'],
    [302, invalid(field), 'unknown status_302'],
  ] as const) {
    t.equal(judged(reply(status, body)), wanted, JSON.stringify(body))
  }
  const cut = reply(422, invalid(field))
  t.equal(judged({ ...cut, headers: new Map() }), 'unknown status_422', 'it may have been cut')
  t.equal(judged(reply(422, invalid(field), { 'content-encoding': 'gzip' })),
    'unknown status_422', 'nobody read it')
})

t.test('recorded errors of a public host are refusals', async (t) => {
  const { errors } = JSON.parse(
    readFileSync('test/support/codehost/host-samples.json', 'utf8')) as
    { errors: readonly { status: number, response: object }[] }
  t.ok(errors.length > 0)
  for (const { status, response } of errors) t.ok(provesRefusal(reply(status, response)))
})

t.test('C-020 C-021 no reply of any status and body is a refusal unless it is a whole 4xx, and never a 404 or 408', async (t) => {
  const kinds = new Set<string>()
  fc.assert(fc.property(
    fc.integer({ min: 200, max: 599 }),
    fc.oneof(fc.json(), fc.string(), fc.constant(invalid(field))), fc.boolean(),
    (status, body, whole) => {
      const one = reply(status, body)
      const { kind } = judgePost(() => {
        throw fail.remote('host_reply_invalid', 'It is not whole.')
      })(whole ? one : { ...one, headers: new Map() })
      kinds.add(kind)
      if (kind === 'created') throw new Error('it was not confirmed')
      const may = whole && status >= 400 && status < 500 && status !== 404 && status !== 408
      if (kind === 'refused' && !may) throw new Error(`${status} was taken for a refusal`)
    }), { numRuns: 2_000 })
  t.strictSame([...kinds].sort(), ['refused', 'unknown'], 'both came about')
})

t.test('a limit of the token is told by its status, its headers or its words, with the time to come back where that is said', async (t) => {
  const date = 'Tue, 24 Nov 2026 12:00:00 GMT'
  const noon = Date.UTC(2026, 10, 24, 12)
  const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(noon / 1_000 + 90) }
  for (const [one, wanted] of [
    [reply(429, ''), null], [reply(429, '', { 'retry-after': '60' }), { afterMs: 60_000 }],
    [reply(403, '', { 'retry-after': '5' }), { afterMs: 5_000 }],
    [reply(403, '', { ...spent, date }), { afterMs: 90_000 }],
    [reply(403, '', spent), { atMs: noon + 90_000 }],
    [reply(403, '', { ...spent, date, 'retry-after': '7' }), { afterMs: 7_000 }],
    [reply(403, '', { ...spent, 'x-ratelimit-reset': 'soon' }), null],
    [reply(403, { message: 'You have exceeded a secondary rate limit.' }), null],
    [reply(403, { message: 'You have triggered an abuse detection mechanism.' }), null],
  ] as const) {
    t.ok(isLimited(one))
    t.strictSame(backOf(one), wanted)
    t.equal(judged(one), 'refused codehost_rate_limited')
  }
  for (const one of [
    reply(403, { message: 'Resource not accessible' }), reply(422, 'rate limit'),
    reply(403, { message: 'Forbidden' }, { 'x-ratelimit-remaining': '1' }),
    reply(404, '', { ...spent, 'retry-after': '5' }), reply(200, '', spent),
  ]) {
    t.notOk(isLimited(one))
    t.equal(backOf(one), null)
  }
  t.strictSame(backDetails({ afterMs: 1_500 }), { retry_after_s: 2 })
  t.strictSame(backDetails({ afterMs: -1 }), { retry_after_s: 0 })
  t.strictSame(backDetails({ atMs: noon }), { retry_at: '2026-11-24T12:00:00.000Z' })
  t.strictSame(backDetails(null), {})
  t.equal(backText({ afterMs: 60_000 }), 'in 60 s')
  t.equal(backText({ atMs: noon }), 'from 2026-11-24T12:00:00.000Z on')
})
