import t from 'tap'
import { v5 } from 'uuid'
import { ask, askedId, bill } from '../support/sandbox/asks.js'
import { jsonOf, post } from '../support/sandbox/https-post.js'
import type { Ask } from '../support/sandbox/https-post.js'
import { World } from '../world/world.js'

t.test('a completion carries its billing id and is billed under it', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const reply = await ask(sandbox)
  t.equal(reply.status, 200)
  const json = jsonOf(reply)
  const id = v5(String(json.id), v5.DNS)
  t.equal(reply.headers['inference-id'], id)
  t.matchStrict(json, {
    model: sandbox.profile.provider.model_id,
    choices: [{ message: { role: 'assistant', content: /\w/ }, finish_reason: 'stop' }],
  })
  const costs = jsonOf(await bill(sandbox, id)) as { requests: { costNanoUsd: number }[] }
  t.hasStrict(costs, { requests: [{ requestId: id }] })
  t.ok((costs.requests[0]?.costNanoUsd ?? 0) > 0)
  t.strictSame(sandbox.log.violations(), [])
})

t.test('the same question gets the same answer and price, under another id', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const [one, two] = [jsonOf(await ask(sandbox)), jsonOf(await ask(sandbox))]
  t.strictSame(one.choices, two.choices)
  t.strictSame(one.usage, two.usage)
  t.not(one.id, two.id)
})

t.test('max_tokens shortens the answer and says so', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const json = jsonOf(await ask(sandbox, { max_tokens: 3 }))
  const { choices } = json as {
    choices: [{ message: { content: string }; finish_reason: string }]
  }
  t.equal(choices[0].message.content.split(' ').length, 3)
  t.equal(choices[0].finish_reason, 'length')
})

t.test('no answer quotes the question', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const reply = await ask(sandbox, { messages: [{ role: 'user', content: 'kumquat' }] })
  t.notMatch(reply.body.toString(), 'kumquat')
})

t.test('an id that was never answered costs 0', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const id = v5('never', v5.DNS)
  t.strictSame(jsonOf(await bill(sandbox, id)), { requests: [{ requestId: id, costNanoUsd: 0 }] })
})

t.test('a charge that a test books is billed under the id of its body', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.provider.recordCharge('body-1', 77)
  const reply = await bill(sandbox, v5('body-1', v5.DNS))
  t.hasStrict(jsonOf(reply), { requests: [{ costNanoUsd: 77 }] })
})

const long = 'x'.repeat(8193)

const forbidden: readonly [string, Record<string, unknown>, RegExp][] = [
  ['tools', { tools: [] }, /member tools/],
  ['a temperature', { temperature: 0 }, /member temperature/],
  ['streaming', { stream: true }, /stream/],
  ['two answers', { n: 2 }, /n is not 1/],
  ['no n', { n: undefined }, /n is not 1/],
  ['another model', { model: 'other' }, /model/],
  ['max_tokens 0', { max_tokens: 0 }, /max_tokens/],
  ['max_tokens 1025', { max_tokens: 1025 }, /max_tokens/],
  ['max_tokens as text', { max_tokens: '5' }, /max_tokens/],
  ['no message', { messages: [] }, /no message/],
  ['a system message', { messages: [{ role: 'system', content: 'x' }] }, /user/],
  ['history', { messages: Array(2).fill({ role: 'user', content: 'x' }) }, /more than one/],
  ['content in parts', { messages: [{ role: 'user', content: [] }] }, /content/],
  ['an empty question', { messages: [{ role: 'user', content: '' }] }, /content/],
  ['a name', { messages: [{ role: 'user', content: 'x', name: 'me' }] }, /other members/],
  ['a question over 8192 bytes', { messages: [{ role: 'user', content: long }] }, /8192/],
]

t.test('a completion request that Sallyport must not send is refused and recorded', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  for (const [title, change, violation] of forbidden) {
    sandbox.log.clear()
    const reply = await ask(sandbox, change)
    t.equal(reply.status, 400, title)
    t.match(sandbox.log.violations().join('\n'), violation, title)
  }
})

const uuid = v5('x', v5.DNS)

t.test('a billing request that Sallyport must not send is refused and recorded', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const bodies: readonly unknown[] = [
    {},
    { requestIds: [] },
    { requestIds: [uuid, uuid] },
    { requestIds: [uuid.toUpperCase()] },
    { requestIds: ['6ba7b810-9dad-11d1-80b4-00c04fd430c8'] },
    { requestIds: [uuid], other: 1 },
    [],
  ]
  for (const body of bodies) {
    sandbox.log.clear()
    t.equal((await bill(sandbox, '', { body })).status, 400)
    t.not(sandbox.log.violations().length, 0)
  }
})

t.test('headers that Sallyport must not send are refused and recorded', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const headers: readonly [NonNullable<Ask['headers']>, number, RegExp][] = [
    [{ authorization: '' }, 401, /bearer/],
    [{ authorization: 'Basic YTpi' }, 401, /bearer/],
    [{ authorization: ['Bearer a', 'Bearer b'] }, 401, /bearer/],
    [{ 'accept-encoding': 'gzip' }, 400, /encoding/],
    [{ 'content-type': 'text/plain' }, 400, /content-type/],
    [{ cookie: 'a=b' }, 400, /cookie/],
    [{ 'x-forwarded-for': '1.2.3.4' }, 400, /x-forwarded-for/],
    [{ host: 'localhost:1' }, 400, /host/],
  ]
  for (const [change, status, violation] of headers) {
    sandbox.log.clear()
    const reply = await ask(sandbox, {}, { headers: change })
    t.equal(reply.status, status, String(violation))
    t.match(sandbox.log.violations().join('\n'), violation)
  }
})

t.test('a body that is too long or no JSON object is refused', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  for (const bytes of [Buffer.alloc(65_537, 0x20), Buffer.from('nope'), Buffer.of(0x22, 0xff)]) {
    t.equal((await ask(sandbox, {}, { bytes })).status, 400)
  }
  t.match(sandbox.log.violations().join('\n'), /over its limit/)
})

t.test('another path or method is a recorded violation', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const base = sandbox.profile.provider.base_url
  t.equal((await post({ url: `${base}/models`, ca: sandbox.caPem })).status, 404)
  t.equal((await ask(sandbox, {}, { method: 'PUT' })).status, 404)
  t.equal((await ask(sandbox, {}, { url: `${base}/chat/completions?x=1` })).status, 404)
  t.equal(sandbox.log.violations().length, 3)
})

t.test('with a named key every other key is refused', async (t) => {
  const { sandbox } = await World.in(t).sandbox({ providerKey: 'the-key' })
  const as = (key: string) => ask(sandbox, {}, { headers: { authorization: `Bearer ${key}` } })
  t.equal((await as('the-key')).status, 200)
  t.equal((await as('the-kez')).status, 401)
  t.equal((await as('the-key-2')).status, 401)
  t.type(await askedId((await World.in(t).sandbox()).sandbox), 'string')
})
