import t from 'tap'
import { decideEnding, type Contact } from '../../src/gateway/call/finish.js'
import { judgeGatewayReply, type ReplyVerdict } from '../../src/gateway/call/reply.js'

const good = {
  id: 'gen-1', model: 'acme/chat-1-2026', provider: 'Acme Host',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ready' } }],
  usage: { prompt_tokens: 4, completion_tokens: 1, cost: 0.25 },
}

const judge = (
  body: string | Buffer, more: { status?: number; headers?: [string, string][] } = {},
): ReplyVerdict => judgeGatewayReply({
  status: more.status ?? 200,
  headers: new Map((more.headers ?? []).map(([name, value]) => [name, [value]])),
  body: Buffer.from(body),
})

const judgeChanged = (change: Record<string, unknown>): ReplyVerdict =>
  judge(JSON.stringify({ ...good, ...change }))

const message = (change: Record<string, unknown>, choice: Record<string, unknown> = {}) => ({
  choices: [{
    ...good.choices[0], message: { role: 'assistant', content: 'ready', ...change }, ...choice,
  }],
})

t.test('a whole reply gives text, names and an exact charge', async (t) => {
  t.matchStrict(judge(JSON.stringify(good)), {
    reason: null, costReason: null, cost: { microUsd: 250_000, responseSha256: /^[0-9a-f]{64}$/ },
    reply: {
      content: 'ready', model: 'acme/chat-1-2026', provider: 'Acme Host', finish: 'stop',
    },
  })
})

t.test('what cannot be read as a reply gives neither text nor charge', async (t) => {
  const text = JSON.stringify(good)
  const table: [ReplyVerdict, string][] = [
    [judge(text, { status: 301 }), 'http_status_301'],
    [judge(text, { status: 500 }), 'http_status_500'],
    [judge(text, { status: 402 }), 'http_status_402'],
    [judge(text, { headers: [['content-encoding', 'gzip']] }), 'content_encoding'],
    [judge(text, { headers: [['content-type', 'text/event-stream']] }), 'event_stream'],
    [judge(text.padEnd(1_048_577)), 'oversize'],
    [judge(text.slice(0, -1)), 'malformed_json'],
    [judge(`${text} {}`), 'malformed_json'],
    [judge('[]'), 'malformed_json'],
    [judge('{"model":"a","model":"b"}'), 'malformed_json'],
    [judge(Buffer.from([0xff])), 'malformed_json'],
  ]
  for (const [verdict, reason] of table) {
    t.hasStrict(verdict, { reason, costReason: reason, cost: null, reply: null }, reason)
  }
})

t.test('a reply whose text is refused still carries its charge', async (t) => {
  const table: [Record<string, unknown>, string][] = [
    [{ model: undefined }, 'model_missing'], [{ model: '' }, 'model_missing'],
    [{ model: 'a\nb' }, 'model_missing'], [{ model: 'a'.repeat(201) }, 'model_missing'],
    [{ model: '\u202eabc' }, 'model_missing'], [{ model: 7 }, 'model_missing'],
    [{ provider: undefined }, 'provider_missing'], [{ provider: null }, 'provider_missing'],
    [{ choices: [] }, 'choice_count'],
    [{ choices: [good.choices[0], good.choices[0]] }, 'choice_count'],
    [{ choices: {} }, 'choice_count'], [{ choices: ['x'] }, 'choice_malformed'],
    [{ choices: [{ message: null }] }, 'choice_malformed'],
    [{ error: { code: 500 } }, 'error_member'], [{ error: '' }, 'error_member'],
    [{ error: {}, choices: [] }, 'error_member'],
    [message({}, { error: { message: 'x' } }), 'error_member'],
    [{ object: 'chat.completion.chunk' }, 'stream_piece'],
    [message({}, { delta: {} }), 'stream_piece'],
    [message({ tool_calls: [{}] }), 'tools'], [message({ function_call: {} }), 'tools'],
    [message({}, { finish_reason: 'tool_calls' }), 'tools'],
    [message({ role: 'user' }), 'role'], [message({ refusal: 'no' }), 'refusal'],
    [message({ content: null }), 'content_type'], [message({ content: [] }), 'content_type'],
    [message({ content: '' }), 'empty_content'],
    [message({ content: 'a'.repeat(262_145) }), 'content_too_large'],
  ]
  for (const [change, reason] of table) {
    const verdict = judgeChanged(change)
    t.hasStrict(verdict, { reason, reply: null, cost: { microUsd: 250_000 } }, reason)
  }
  t.equal(judgeChanged(message({ tool_calls: [] })).reason, null, 'an empty list is none')
  t.equal(judgeChanged({ ...message({}, { delta: null, error: null }), error: null }).reason, null,
    'null is none')
  t.equal(judgeChanged(message({}, { finish_reason: 'length' })).reply?.finish, 'length')
})

t.test('a good text without a readable charge has none', async (t) => {
  const table: [unknown, string][] = [
    [undefined, 'cost_missing'], [{}, 'cost_missing'], [{ cost: null }, 'cost_missing'],
    [{ cost: '0.1' }, 'cost_not_number'], [{ cost: -1 }, 'cost_negative'],
    [{ cost: 1_001 }, 'cost_out_of_range'], [{ cost: true }, 'cost_not_number'],
    [[], 'cost_missing'],
  ]
  for (const [usage, costReason] of table) {
    t.hasStrict(judgeChanged({ usage }), { reason: null, cost: null, costReason }, costReason)
  }
})

const ending = (contact: Contact, more: { lost?: string; refuse?: string } = {}) => decideEnding({
  contact, boundMicrousd: 250_000, authorityLost: more.lost ?? null,
  refused: more.refuse ?? null,
})

const reply = (verdict: ReplyVerdict): Contact => ({ kind: 'reply', verdict })

t.test('only proof that nothing was sent releases; only a known charge settles', async (t) => {
  const whole = reply(judge(JSON.stringify(good)))
  const dear = reply(judgeChanged({ usage: { cost: 0.250001 } }))
  const table: [ReturnType<typeof ending>, string, string][] = [
    [
      ending({ kind: 'unsent', reason: 'x', errorKind: 'remote' }),
      'not_contacted', 'release',
    ],
    [ending({ kind: 'sent', reason: 'timeout' }), 'charge_unknown', 'unknown'],
    [ending(reply(judgeChanged({ usage: {} }))), 'charge_unknown', 'unknown'],
    [ending(reply(judge('no'))), 'charge_unknown', 'unknown'],
    [ending(reply(judgeChanged({ choices: [] }))), 'reply_rejected', 'settle'],
    [ending(whole, { refuse: 'not_as_asked' }), 'reply_rejected', 'settle'],
    [ending(dear), 'overrun', 'settle'],
    [ending(whole, { lost: 'policy_revoked' }), 'authority_lost', 'settle'],
    [ending(whole), 'succeeded', 'settle'],
  ]
  for (const [end, outcome, ledger] of table) {
    t.hasStrict(end, { outcome, ledger }, outcome)
    t.equal(end.reply === null, outcome !== 'succeeded', 'only a success keeps its reply')
  }
})
