/**
 * Hostile and odd provider replies, each with the one outcome it may have. The table is data: the
 * pure judges are held to it, and so is the whole program over real TLS. A reply is given as the
 * server writes it: header pairs in order, repeated ones included, and the raw body.
 */
import { v5 } from 'uuid'
import type { BillingReason } from '../../../src/alpha/billing.js'
import type { CompletionReason } from '../../../src/alpha/completion.js'
import type { HttpsReply } from '../../../src/net/types.js'

/** A reply as a server would write it. */
export interface RawReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

/** What must become of a completion reply when billing then answers properly. */
export type CompletionExpected =
  | { readonly ok: true; readonly answer: string; readonly task: 'succeeded' }
  | {
    readonly ok: false
    readonly reason: CompletionReason
    /** `failed`: the id was trustworthy, so the charge was settled. `blocked`: it was not. */
    readonly task: 'failed' | 'blocked'
  }

/** What must become of a billing reply after a good completion, when every attempt gets it. */
export type BillingExpected =
  | { readonly kind: 'cost'; readonly nanoUsd: number; readonly microUsd: number
      readonly posts: 1 | 2; readonly task: 'succeeded' }
  | { readonly kind: 'no_verdict' | 'violation'; readonly reason: BillingReason
      readonly posts: 1 | 2; readonly task: 'blocked' }

interface Row<S extends string, E> {
  readonly name: string
  readonly service: S
  readonly reply: RawReply
  readonly expected: E
  /** False where a server cannot be made to write it (an HTTP library in the way). */
  readonly overWire: boolean
}
export type HostileCompletion = Row<'completion', CompletionExpected>
export type HostileBilling = Row<'billing', BillingExpected>

/** Body id of every good completion of the table. */
export const tableBodyId = 'chatcmpl-hostile-1'
/** Billing UUID of that body id. */
export const tableUuid = v5(tableBodyId, v5.DNS)
/** Answer of every good completion of the table. */
export const tableAnswer = 'The answer is 42.'
/** A word that stands in rejected bodies; it must never come out anywhere. */
export const bodyMarker = 'BODY-MARKER-7f3a'

const json = ['content-type', 'application/json'] as const
const otherUuid = v5('another reply', v5.DNS)

/** The reply as the one client hands it on: lowercase names, every value of a repeated header. */
export const asProviderReply = (raw: RawReply): HttpsReply => {
  const headers = new Map<string, string[]>()
  for (const [name, value] of raw.headers) {
    const key = name.toLowerCase()
    headers.set(key, [...(headers.get(key) ?? []), value])
  }
  return { status: raw.status, headers, body: raw.body }
}

type Json = Record<string, unknown>

const goodMessage: Json = { role: 'assistant', content: tableAnswer }
const goodCompletion = (model: string): Json => ({
  id: tableBodyId,
  object: 'chat.completion',
  created: 1_764_000_000,
  model,
  choices: [{ index: 0, message: goodMessage, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 6, total_tokens: 15 },
})

type Headers = RawReply['headers']
const reply = (body: string | Buffer, status = 200, headers: Headers = [json]): RawReply =>
  ({ status, headers, body: typeof body === 'string' ? Buffer.from(body, 'utf8') : body })

/** A good completion reply. */
export const goodCompletionReply = (model: string): RawReply =>
  reply(JSON.stringify(goodCompletion(model)))

/** A good billing reply for the table's completion. */
export const goodBillingReply = (nanoUsd = 1_500): RawReply =>
  reply(JSON.stringify({ requests: [{ requestId: tableUuid, costNanoUsd: nanoUsd }] }))

const padTo = (text: string, bytes: number): string => text.padEnd(bytes, ' ')

/** Every completion row, for the model that the deployment under test is sealed to. */
export const hostileCompletions = (model: string): readonly HostileCompletion[] => {
  const rows: HostileCompletion[] = []
  const add = (
    name: string, raw: RawReply, expected: CompletionExpected, overWire = true,
  ): void => {
    const service = 'completion'
    rows.push({ name: `completion: ${name}`, service, reply: raw, expected, overWire })
  }
  const accepted = (name: string, raw: RawReply, answer = tableAnswer): void =>
    add(name, raw, { ok: true, answer, task: 'succeeded' })
  const failed = (name: string, reason: CompletionReason, raw: RawReply): void =>
    add(name, raw, { ok: false, reason, task: 'failed' })
  const blocked = (
    name: string, reason: CompletionReason, raw: RawReply, overWire = true,
  ): void => add(name, raw, { ok: false, reason, task: 'blocked' }, overWire)

  const good = goodCompletion(model)
  const goodText = JSON.stringify(good)
  const root = (change: Json): string => JSON.stringify({ ...good, ...change })
  const without = (name: string): string =>
    JSON.stringify(Object.fromEntries(Object.entries(good).filter(([key]) => key !== name)))
  const choice = (change: Json): string =>
    root({ choices: [{ index: 0, message: goodMessage, finish_reason: 'stop', ...change }] })
  const message = (change: Json): string => choice({ message: { ...goodMessage, ...change } })
  const headed = (...headers: Headers): RawReply => reply(goodText, 200, [json, ...headers])

  // Odd, and still one assistant text under one id.
  accepted('plain good reply', reply(goodText))
  accepted('no content type at all', reply(goodText, 200, []))
  accepted('content type with charset', reply(goodText, 200,
    [['content-type', 'application/json; charset=utf-8']]))
  accepted('white space around the document', reply(`\r\n\t ${goodText} \n`))
  accepted('exactly 262144 bytes', reply(padTo(goodText, 262_144)))
  accepted('content-encoding identity', headed(['content-encoding', 'identity']))
  accepted('content-encoding IDENTITY', headed(['content-encoding', 'IDENTITY']))
  accepted('matching inference-id', headed(['inference-id', tableUuid]))
  accepted('matching inference-id in upper case', headed(['Inference-Id', tableUuid.toUpperCase()]))
  accepted('x-request-id of another UUID', headed(['x-request-id', otherUuid]))
  accepted('x-request-id of nonsense, repeated',
    headed(['x-request-id', ''], ['x-request-id', '?']))
  accepted('tool_calls null', reply(message({ tool_calls: null })))
  accepted('tool_calls an empty list', reply(message({ tool_calls: [] })))
  accepted('function_call null', reply(message({ function_call: null })))
  accepted('refusal null', reply(message({ refusal: null })))
  accepted('a reasoning field beside the answer',
    reply(message({ reasoning_content: bodyMarker })))
  accepted('an error null beside the choices', reply(root({ error: null })))
  accepted('an error null in the choice', reply(choice({ error: null })))
  accepted('a delta null in the choice', reply(choice({ delta: null })))
  accepted('object missing', reply(without('object')))
  accepted('unknown members everywhere', reply(message({ extra: { [bodyMarker]: [1.5, 1e300] } })))
  accepted('a member named __proto__', reply(goodText.replace('{', '{"__proto__":{"id":"x"},')))
  accepted('finish_reason length', reply(choice({ finish_reason: 'length' })))
  accepted('finish_reason missing', reply(choice({ finish_reason: undefined })))
  accepted('usage missing', reply(without('usage')))
  accepted('an answer of white space only', reply(message({ content: ' \n' })), ' \n')
  accepted('an answer of control characters', reply(message({ content: '\u0000\u001b[2J' })),
    '\u0000\u001b[2J')
  accepted('an answer of 65536 bytes', reply(message({ content: 'a'.repeat(65_536) })),
    'a'.repeat(65_536))
  accepted('an answer of 65536 bytes in emoji', reply(message({ content: '😀'.repeat(16_384) })),
    '😀'.repeat(16_384))
  accepted('an answer written with escapes', reply(goodText.replace(tableAnswer, '\\ud83d\\ude00')),
    '😀')

  // No status but 200 is read; what it cost nobody knows.
  for (const status of [300, 301, 302, 303, 307, 308]) {
    blocked(`redirect ${status}`, 'redirect',
      reply(goodText, status, [json, ['location', 'https://127.0.0.1:1/v1/chat/completions']]))
  }
  blocked('304 with a body', 'redirect', reply(goodText, 304), false)
  for (const status of [
    201, 202, 206, 400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504,
  ]) {
    blocked(`status ${status} with a good body`, 'http_status',
      reply(goodText, status, [json, ['retry-after', '0']]))
  }
  blocked('status 204', 'http_status', reply('', 204, []))

  // Encoded bodies are never decoded, so not even their id is known.
  for (const coding of ['gzip', 'br', 'deflate', 'zstd', 'x-gzip', 'GZIP', 'compress', 'unknown']) {
    blocked(`content-encoding ${coding}`, 'content_encoding', headed(['content-encoding', coding]))
  }
  blocked('content-encoding identity, gzip', 'content_encoding',
    headed(['content-encoding', 'identity, gzip']))
  blocked('content-encoding repeated, the last gzip', 'content_encoding',
    headed(['content-encoding', 'identity'], ['content-encoding', 'gzip']))
  blocked('content-encoding empty', 'content_encoding', headed(['content-encoding', '']))
  blocked('transfer-encoding gzip, chunked', 'content_encoding',
    headed(['transfer-encoding', 'gzip, chunked']), false)

  // Size and form.
  blocked('262145 bytes, valid JSON with padding', 'oversize', reply(padTo(goodText, 262_145)))
  blocked('an empty body', 'malformed_json', reply(''))
  blocked('truncated JSON', 'malformed_json', reply(goodText.slice(0, -10)))
  blocked('plain text', 'malformed_json', reply(`${bodyMarker} is not JSON`))
  blocked('HTML', 'malformed_json',
    reply(`<html>${bodyMarker}</html>`, 200, [['content-type', 'text/html']]))
  blocked('two documents', 'malformed_json', reply(`${goodText}${goodText}`))
  blocked('a trailing comma', 'malformed_json', reply(`${goodText.slice(0, -1)},}`))
  blocked('a comment', 'malformed_json', reply(`/* ${bodyMarker} */${goodText}`))
  blocked('single quotes', 'malformed_json', reply(goodText.replaceAll('"', "'")))
  blocked('a byte order mark', 'malformed_json', reply(`\uFEFF${goodText}`))
  blocked('UTF-16', 'malformed_json', reply(Buffer.from(goodText, 'utf16le')))
  blocked('an invalid UTF-8 byte in the answer', 'malformed_json', reply(
    Buffer.concat([Buffer.from(goodText.slice(0, 40)), Buffer.from([0xff]),
      Buffer.from(goodText.slice(40))])))
  blocked('an overlong UTF-8 sequence in the answer', 'malformed_json', reply(
    Buffer.concat([Buffer.from(goodText.slice(0, 40)), Buffer.from([0xc0, 0xaf]),
      Buffer.from(goodText.slice(40))])))
  blocked('a lone surrogate in the answer', 'malformed_json',
    reply(goodText.replace(tableAnswer, '\\ud800')))
  blocked('a lone surrogate in the id', 'malformed_json',
    reply(goodText.replace(tableBodyId, 'chat\\udc00')))
  blocked('a raw line feed inside the answer', 'malformed_json',
    reply(goodText.replace(tableAnswer, 'a\nb')))
  blocked('id twice, second another', 'malformed_json',
    reply(goodText.replace('{', '{"id":"chatcmpl-other",')))
  blocked('id twice, equal', 'malformed_json',
    reply(goodText.replace('{', `{"id":"${tableBodyId}",`)))
  blocked('content twice', 'malformed_json',
    reply(goodText.replace('"content"', `"content":"${bodyMarker}","content"`)))
  blocked('nesting of 65', 'malformed_json',
    reply(root({ deep: 0 }).replace('"deep":0', `"deep":${'['.repeat(64)}${']'.repeat(64)}`)))
  blocked('nesting of 100000', 'malformed_json', reply('['.repeat(100_000)))
  blocked('a list at the top', 'malformed_json', reply(`[${goodText}]`))
  blocked('a number at the top', 'malformed_json', reply('1.5'))
  blocked('null at the top', 'malformed_json', reply('null'))
  blocked('a string at the top', 'malformed_json', reply(JSON.stringify(goodText)))
  blocked('NaN in a member', 'malformed_json', reply(goodText.replace('1764000000', 'NaN')))
  blocked('an event stream', 'event_stream',
    reply(`data: ${goodText}\n\ndata: [DONE]\n\n`, 200, [['content-type', 'text/event-stream']]))
  failed('an event stream type over one JSON document', 'event_stream',
    reply(goodText, 200, [['content-type', 'text/event-stream; charset=utf-8']]))

  // The name of the charge.
  blocked('id missing', 'body_id', reply(without('id')))
  for (const [name, id] of [['empty', ''], ['null', null], ['a number', 7], ['a fraction', 7.5],
    ['true', true], ['a list', [tableBodyId]], ['an object', { id: tableBodyId }],
    ['257 bytes', 'i'.repeat(257)], ['257 bytes in two-byte letters', `${'é'.repeat(128)}i`],
  ] as const) {
    blocked(`id ${name}`, 'body_id', reply(root({ id })))
  }
  blocked('an error object with status 200', 'body_id',
    reply(JSON.stringify({ error: { message: bodyMarker } })))
  for (const [name, value] of [['empty', ''], ['another UUID', otherUuid],
    ['braced', `{${tableUuid}}`], ['URN', `urn:uuid:${tableUuid}`],
    ['compact', tableUuid.replaceAll('-', '')], ['not a UUID', bodyMarker],
    ['two in one value', `${tableUuid}, ${tableUuid}`], ['a quoted UUID', `"${tableUuid}"`],
    ['one digit short', tableUuid.slice(0, -1)], ['one digit long', `${tableUuid}0`],
    ['hyphens moved', `${tableUuid.slice(0, 7)}-${tableUuid.slice(7, 8)}${tableUuid.slice(9)}`],
    ['nil', '00000000-0000-0000-0000-000000000000'], ['the body id', tableBodyId]] as const) {
    blocked(`inference-id ${name}`, 'inference_id', headed(['inference-id', value]))
  }
  blocked('inference-id repeated, equal', 'inference_id',
    headed(['inference-id', tableUuid], ['inference-id', tableUuid]))
  blocked('inference-id repeated, the second another', 'inference_id',
    headed(['Inference-Id', tableUuid], ['inference-id', otherUuid]))
  blocked('inference-id malformed and x-request-id right', 'inference_id',
    headed(['inference-id', 'x'], ['x-request-id', tableUuid]))

  // Named and billable, but no answer to this question.
  for (const [name, value] of [['another', `${model}-turbo`], ['empty', ''], ['null', null],
    ['in another case', model.toUpperCase() === model ? model.toLowerCase() : model.toUpperCase()],
    ['with a space', `${model} `], ['a list', [model]], ['a number', 1]] as const) {
    failed(`model ${name}`, 'model_mismatch', reply(root({ model: value })))
  }
  failed('model missing', 'model_mismatch', reply(without('model')))
  const one = { index: 0, message: goodMessage, finish_reason: 'stop' }
  for (const [name, value] of [['an empty list', []], ['two', [one, one]], ['null', null],
    ['an object', { 0: one, length: 1 }], ['two, one null', [one, null]],
    ['a text', 'x']] as const) {
    failed(`choices ${name}`, 'choice_count', reply(root({ choices: value })))
  }
  failed('choices missing', 'choice_count', reply(without('choices')))
  for (const [name, value] of [['null', null], ['a text', tableAnswer], ['a list', [one]],
    ['a fraction', 1.5], ['without message', { index: 0, text: tableAnswer }],
    ['with a delta', { index: 0, delta: goodMessage }], ['with message null', { message: null }],
    ['with a message list', { message: [goodMessage] }]] as const) {
    failed(`the choice ${name}`, 'choice_malformed', reply(root({ choices: [value] })))
  }
  for (const [name, error] of [['an object', { message: bodyMarker, code: 500 }],
    ['a text', bodyMarker], ['an empty text', ''], ['false', false], ['an empty list', []],
    ['an empty object', {}], ['a number', 0]] as const) {
    failed(`beside the choices an error: ${name}`, 'error_member', reply(root({ error })))
    failed(`in the choice an error: ${name}`, 'error_member', reply(choice({ error })))
  }
  failed('an error and no choices', 'error_member', reply(root({ error: {}, choices: [] })))
  failed('object chat.completion.chunk', 'stream_piece',
    reply(root({ object: 'chat.completion.chunk' })))
  for (const [name, delta] of [['a text', { content: tableAnswer }], ['nothing', {}],
    ['no object', '']] as const) {
    failed(`a delta of ${name} beside the message`, 'stream_piece', reply(choice({ delta })))
  }
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  for (const [name, value] of [['a tool call beside text', { tool_calls: [call] }],
    ['a tool call without text', { tool_calls: [call], content: null }],
    ['tool_calls an object', { tool_calls: {} }], ['tool_calls a text', { tool_calls: '' }],
    ['tool_calls false', { tool_calls: false }], ['tool_calls [null]', { tool_calls: [null] }],
    ['a function call', { function_call: { name: 'f', arguments: '{}' } }],
    ['an empty function call', { function_call: {} }]] as const) {
    failed(name, 'tools', reply(message(value)))
  }
  failed('finish_reason tool_calls', 'tools', reply(choice({ finish_reason: 'tool_calls' })))
  failed('finish_reason function_call', 'tools', reply(choice({ finish_reason: 'function_call' })))
  for (const role of ['user', 'system', 'tool', 'Assistant', '', null, 1, ['assistant']]) {
    failed(`role ${JSON.stringify(role)}`, 'role', reply(message({ role })))
  }
  failed('role missing', 'role', reply(choice({ message: { content: tableAnswer } })))
  failed('a refusal beside text', 'refusal', reply(message({ refusal: bodyMarker })))
  failed('audio beside text', 'non_text', reply(message({ audio: { id: 'a', data: 'AA==' } })))
  failed('images beside text', 'non_text', reply(message({ images: [{ url: 'x' }] })))
  for (const [name, content] of [['null', null], ['a number', 42], ['a fraction', 4.2],
    ['a part list', [{ type: 'text', text: tableAnswer }]], ['an object', { text: tableAnswer }],
    ['true', true]] as const) {
    failed(`content ${name}`, 'content_type', reply(message({ content })))
  }
  failed('content missing', 'content_type', reply(choice({ message: { role: 'assistant' } })))
  failed('an empty answer', 'empty_answer', reply(message({ content: '' })))
  failed('an answer of 65537 bytes', 'answer_too_large',
    reply(message({ content: 'a'.repeat(65_537) })))
  failed('an answer of 65537 bytes, 21846 characters', 'answer_too_large',
    reply(message({ content: `${'€'.repeat(21_845)}ab` })))
  return rows
}

/** Every billing row. */
export const hostileBillings = (): readonly HostileBilling[] => {
  const rows: HostileBilling[] = []
  const add = (name: string, raw: RawReply, expected: BillingExpected, overWire = true): void => {
    rows.push({ name: `billing: ${name}`, service: 'billing', reply: raw, expected, overWire })
  }
  const charged = (
    name: string, nanoUsd: number, microUsd: number, raw: RawReply, posts: 1 | 2 = 1,
  ): void => add(name, raw, { kind: 'cost', nanoUsd, microUsd, posts, task: 'succeeded' })
  const again = (name: string, reason: BillingReason, raw: RawReply, overWire = true): void =>
    add(name, raw, { kind: 'no_verdict', reason, posts: 2, task: 'blocked' }, overWire)
  const final = (name: string, reason: BillingReason, raw: RawReply, overWire = true): void =>
    add(name, raw, { kind: 'violation', reason, posts: 1, task: 'blocked' }, overWire)

  const entry = { requestId: tableUuid, costNanoUsd: 1_500 }
  const goodText = JSON.stringify({ requests: [entry] })
  const one = (change: Json): string => JSON.stringify({ requests: [{ ...entry, ...change }] })
  const cost = (lexeme: string): RawReply => reply(goodText.replace('1500', lexeme))
  const headed = (...headers: Headers): RawReply => reply(goodText, 200, [json, ...headers])

  charged('plain good reply', 1_500, 2, reply(goodText))
  charged('cost 0, twice', 0, 0, cost('0'), 2)
  charged('cost 1', 1, 1, cost('1'))
  charged('cost 999', 999, 1, cost('999'))
  charged('cost 1000', 1_000, 1, cost('1000'))
  charged('cost 1001', 1_001, 2, cost('1001'))
  charged('warning null', 1_500, 2, reply(one({ warning: null })))
  charged('warning empty', 1_500, 2, reply(one({ warning: '' })))
  charged('requestId in upper case', 1_500, 2, reply(one({ requestId: tableUuid.toUpperCase() })))
  charged('unknown members', 1_500, 2, reply(one({ note: bodyMarker, tokens: 1.5 })))
  charged('an error null beside the list', 1_500, 2,
    reply(JSON.stringify({ requests: [entry], error: null })))
  charged('no content type', 1_500, 2, reply(goodText, 200, []))
  charged('exactly 16384 bytes', 1_500, 2, reply(padTo(goodText, 16_384)))
  charged('content-encoding identity', 1_500, 2, headed(['content-encoding', 'identity']))
  charged('an inference-id header of another UUID', 1_500, 2, headed(['inference-id', otherUuid]))

  for (const status of [301, 302, 303, 307, 308]) {
    again(`redirect ${status}`, 'redirect',
      reply(goodText, status, [json, ['location', 'https://127.0.0.1:1/v1/billing/costs']]))
  }
  for (const status of [201, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503]) {
    again(`status ${status} with a good body`, 'http_status',
      reply(goodText, status, [json, ['retry-after', '0']]))
  }
  again('status 204', 'http_status', reply('', 204, []))
  again('status 503, encoded', 'http_status',
    reply(goodText, 503, [json, ['content-encoding', 'gzip']]))
  again('status 502 with 16385 bytes', 'http_status', reply(padTo(goodText, 16_385), 502))
  again('no entry', 'no_entry', reply('{"requests":[]}'))

  for (const coding of ['gzip', 'br', 'deflate', 'zstd']) {
    final(`content-encoding ${coding}`, 'content_encoding', headed(['content-encoding', coding]))
  }
  final('transfer-encoding gzip, chunked', 'content_encoding',
    headed(['transfer-encoding', 'gzip, chunked']), false)
  final('16385 bytes, valid JSON with padding', 'oversize', reply(padTo(goodText, 16_385)))
  final('an event stream', 'event_stream',
    reply(`data: ${goodText}\n\n`, 200, [['content-type', 'text/event-stream']]))
  for (const [name, body] of [['an empty body', ''], ['truncated JSON', goodText.slice(0, -3)],
    ['plain text', bodyMarker], ['a list at the top', `[${goodText}]`], ['null at the top', 'null'],
    ['a trailing comma', '{"requests":[],}'], ['a byte order mark', `\uFEFF${goodText}`],
    ['two documents', `${goodText} ${goodText}`],
    ['requests twice', goodText.replace('{', '{"requests":[],')],
    ['costNanoUsd twice', goodText.replace('"costNanoUsd"', '"costNanoUsd":1,"costNanoUsd"')],
    ['requestId twice', goodText.replace('"requestId"', `"requestId":"${otherUuid}","requestId"`)],
    ['a lone surrogate', goodText.replace('1500', '1500,"x":"\\ud800"')],
    ['nesting of 1000', '['.repeat(1_000)], ['cost NaN', goodText.replace('1500', 'NaN')],
    ['cost Infinity', goodText.replace('1500', 'Infinity')],
    ['cost 01500', goodText.replace('1500', '01500')],
    ['cost +1500', goodText.replace('1500', '+1500')],
    ['cost 0x5dc', goodText.replace('1500', '0x5dc')],
    ['cost 1_500', goodText.replace('1500', '1_500')]] as const) {
    final(name, 'malformed_json', reply(body))
  }
  for (const [name, body] of [['requests missing', '{}'], ['requests null', '{"requests":null}'],
    ['requests an object', `{"requests":{"0":${JSON.stringify(entry)},"length":1}}`],
    ['requests a text', '{"requests":"x"}'], ['another envelope', `{"costs":[${goodText}]}`],
    ['the bare entry', JSON.stringify(entry)]] as const) {
    final(name, 'envelope', reply(body))
  }
  for (const error of [{ message: bodyMarker }, bodyMarker, '', false, []]) {
    final(`beside the list an error: ${JSON.stringify(error)}`, 'error_member',
      reply(JSON.stringify({ requests: [entry], error })))
  }
  again('an error and an empty list', 'no_entry',
    reply(JSON.stringify({ requests: [], error: {} })))
  const other = { requestId: otherUuid, costNanoUsd: 7 }
  for (const [name, entries] of [['the same entry twice', [entry, entry]],
    ['the entry and another', [entry, other]], ['another and the entry', [other, entry]],
    ['the entry and null', [entry, null]], ['the entry and a second cost',
      [entry, { ...entry, costNanoUsd: 1 }]]] as const) {
    final(name, 'entry_count', reply(JSON.stringify({ requests: entries })))
  }
  for (const value of [null, 'x', 1, [entry], true, 1.5]) {
    final(`the entry is ${JSON.stringify(value).slice(0, 4)}`, 'entry_malformed',
      reply(JSON.stringify({ requests: [value] })))
  }
  for (const [name, requestId] of [['another UUID', otherUuid], ['missing', undefined],
    ['null', null], ['empty', ''], ['braced', `{${tableUuid}}`], ['URN', `urn:uuid:${tableUuid}`],
    ['compact', tableUuid.replaceAll('-', '')], ['with a space', ` ${tableUuid}`],
    ['with a line feed', `${tableUuid}\n`], ['the body id', tableBodyId], ['a list', [tableUuid]],
    ['a number', 5]] as const) {
    final(`requestId ${name}`, 'request_id', reply(one({ requestId })))
  }
  for (const warning of ['x', ' ', bodyMarker, 0, false, true, [], {}, 1.5]) {
    final(`warning ${JSON.stringify(warning)}`, 'warning', reply(one({ warning })))
  }
  final('a warning beside cost 0', 'warning', reply(one({ costNanoUsd: 0, warning: 'x' })))
  final('cost missing', 'cost_missing', reply(one({ costNanoUsd: undefined })))
  for (const lexeme of ['1.5', '1500.0', '15e2', '1.5e3', '-0', '"1500"', 'true', 'false', 'null',
    '[1500]', '{}', '9007199254740992', '9007199254740993', '1e999', '1e-400', '0.0', '0e0',
    '123456789012345678901234567890']) {
    final(`cost ${lexeme}`, 'cost_not_integer', cost(lexeme))
  }
  for (const lexeme of ['-1', '-1500', '1000000000001', '9007199254740991', '-9007199254740991']) {
    final(`cost ${lexeme}`, 'cost_out_of_range', cost(lexeme))
  }
  return rows
}

/** The whole table. */
export const hostileReplies = (model: string): readonly (HostileCompletion | HostileBilling)[] =>
  [...hostileCompletions(model), ...hostileBillings()]
