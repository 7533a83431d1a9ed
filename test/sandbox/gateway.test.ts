import * as fc from 'fast-check'
import t from 'tap'
import { schemaShaped } from '../../src/sandbox/gateway/shaped.js'
import { askGateway, gatewayBody } from '../support/sandbox/asks.js'
import { jsonOf } from '../support/sandbox/https-post.js'
import { World } from '../world/world.js'

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(8)])

const image = (url: string): Record<string, unknown> => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ],
})

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['summary', 'kind', 'tags', 'score', 'count', 'flag'],
  properties: {
    summary: { type: 'string', maxLength: 9 },
    kind: { enum: ['chat', 'code'] },
    tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 2 },
    score: { type: 'number', minimum: 0, maximum: 1 },
    count: { type: ['null', 'integer'], minimum: 3 },
    flag: { type: 'boolean' },
    when: { type: 'string', format: 'date-time' },
    either: { anyOf: [{ const: 'a' }, { type: 'null' }] },
  },
  $defs: { tag: { type: 'string', minLength: 40 } },
}

t.test('text is answered with model, provider and cost', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const reply = await askGateway(sandbox)
  t.equal(reply.status, 200)
  t.matchStrict(jsonOf(reply), {
    id: /^gen-/,
    model: 'acme/vision-9-2026-01-15',
    provider: 'Acme Host',
    choices: [{ message: { role: 'assistant', content: /\w/ } }],
    usage: { cost: Number },
  })
  t.strictSame(sandbox.log.violations(), [])
})

t.test('the cost is there only when usage accounting is on', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const { usage } = jsonOf(await askGateway(sandbox, { usage: undefined }))
  t.notOk(Object.hasOwn(usage as object, 'cost'))
})

t.test('an exact word that is asked for is given', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const messages = [{ role: 'user', content: 'Reply with exactly: ready-42' }]
  t.hasStrict(jsonOf(await askGateway(sandbox, { messages })), {
    choices: [{ message: { content: 'ready-42' } }],
  })
})

t.test('an image with a strict schema is answered with JSON of that shape', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const reply = await askGateway(sandbox, {
    ...image(`data:image/png;base64,${png.toString('base64')}`),
    response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
  })
  const { choices } = jsonOf(reply) as { choices: [{ message: { content: string } }] }
  t.strictSame(JSON.parse(choices[0].message.content), {
    summary: 'Sandbox s',
    kind: 'chat',
    tags: Array(2).fill('Sandbox tags'.padEnd(40, '.')),
    score: 0,
    count: 3,
    flag: false,
    when: '2026-01-15T12:00:00.000Z',
    either: 'a',
  })
})

t.test('a schema that refers to itself, or asks for too much, ends', async (t) => {
  const self = { $ref: '#' }
  const loop = { type: 'object', properties: { left: self, right: self } }
  t.ok(JSON.stringify(schemaShaped(loop)).length < 1_000_000)
  const huge = { type: 'array', minItems: 1e12, items: { type: 'string', minLength: 1e12 } }
  t.equal((schemaShaped(huge) as string[]).length, 1000)
  const part = fc.oneof(fc.object(), fc.constantFrom<unknown>(self, 'string', 'array', -1, 2.5))
  const names = ['type', 'properties', 'items', 'anyOf', 'enum', 'minItems', 'maxItems', '$ref']
  const any = fc.dictionary(fc.constantFrom(...names), part)
  fc.assert(fc.property(any, (given) => void schemaShaped(given)))
})

const routing = gatewayBody().provider as Record<string, unknown>

t.test('every routing control left out or changed is refused and recorded', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const changes: readonly Record<string, unknown>[] = [
    ...Object.keys(routing).map((name) => ({ [name]: undefined })),
    { only: [] },
    { only: 'acme' },
    { allow_fallbacks: true },
    { data_collection: 'allow' },
    { zdr: false },
    { order: ['acme'] },
  ]
  for (const change of changes) {
    sandbox.log.clear()
    const reply = await askGateway(sandbox, { provider: { ...routing, ...change } })
    t.equal(reply.status, 400, JSON.stringify(change))
    t.match(sandbox.log.violations().join(), /routing control/)
  }
  t.equal((await askGateway(sandbox, { provider: undefined })).status, 400)
})

t.test('other members that Sallyport must not send are refused and recorded', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const changes: readonly Record<string, unknown>[] = [
    { models: ['a/b'] },
    { route: 'fallback' },
    { tools: [] },
    { model: 'gateway/acme/vision-9' },
    { model: 'plain' },
    { stream: true },
    { max_tokens: undefined },
    { messages: [] },
    { messages: [{ role: 'assistant', content: 'x' }] },
    { messages: [{ role: 'user' }] },
    { messages: [{ role: 'user', content: [{ type: 'file' }] }] },
    { response_format: { type: 'json_object' } },
    { response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true } } },
    { n: 2 },
    { usage: true },
    image('https://example.org/x.png'),
    image('data:image/gif;base64,R0lGODlh'),
    image('data:image/jpeg;base64,iVBORw0KGgo='),
    image('data:image/png;base64,iVBORw0KGgp='),
  ]
  for (const change of changes) {
    sandbox.log.clear()
    t.equal((await askGateway(sandbox, change)).status, 400, JSON.stringify(change))
    t.not(sandbox.log.violations().length, 0)
  }
})

t.test('keys and bodies are checked like the provider’s', async (t) => {
  const { sandbox } = await World.in(t).sandbox({ gatewayKey: 'k' })
  t.equal((await askGateway(sandbox)).status, 401)
  const headers = { authorization: 'Bearer k' }
  t.equal((await askGateway(sandbox, {}, { headers })).status, 200)
  t.equal((await askGateway(sandbox, {}, { headers, bytes: Buffer.from('[') })).status, 400)
})
