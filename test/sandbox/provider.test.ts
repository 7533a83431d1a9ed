import t from 'tap'
import { v5 } from 'uuid'
import type { Sandbox } from '../../src/sandbox/start.js'
import { jsonOf, post } from './https-post.js'
import type { Reply } from './https-post.js'
import { withSandbox } from './with-sandbox.js'

const ask = (sandbox: Sandbox, change: Record<string, unknown> = {}): Promise<Reply> =>
  post({
    url: `${sandbox.profile.provider.base_url}/chat/completions`,
    ca: sandbox.caPem,
    body: {
      model: sandbox.profile.provider.model_id,
      messages: [{ role: 'user', content: 'what is a sally port?' }],
      n: 1,
      max_tokens: 256,
      ...change,
    },
  })

const bill = (sandbox: Sandbox, id: string): Promise<Reply> =>
  post({
    url: `${sandbox.profile.provider.base_url}/billing/costs`,
    ca: sandbox.caPem,
    body: { requestIds: [id] },
  })

t.test('a completion carries its billing id and is billed under it', async (t) => {
  const sandbox = await withSandbox(t)
  const reply = await ask(sandbox)
  t.equal(reply.status, 200)
  const json = jsonOf(reply)
  const id = v5(String(json.id), v5.DNS)
  t.equal(reply.headers['inference-id'], id)
  t.match(json, {
    model: sandbox.profile.provider.model_id,
    choices: [{ message: { role: 'assistant', content: /\w/ }, finish_reason: 'stop' }],
  })
  const costs = jsonOf(await bill(sandbox, id))
  t.match(costs, { requests: [{ requestId: id, costNanoUsd: Number }] })
  t.strictSame(sandbox.log.violations(), [])
})

t.test('an id that was never answered costs 0', async (t) => {
  const sandbox = await withSandbox(t)
  const id = v5('never', v5.DNS)
  t.strictSame(jsonOf(await bill(sandbox, id)), { requests: [{ requestId: id, costNanoUsd: 0 }] })
})
