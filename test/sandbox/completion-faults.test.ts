import t from 'tap'
import { v5 } from 'uuid'
import { completionFaults } from '../../src/sandbox/faults/completion.js'
import type { Sandbox } from '../../src/sandbox/start.js'
import { ask, askGateway, bill } from '../support/sandbox/asks.js'
import { jsonOf } from '../support/sandbox/https-post.js'
import type { Reply } from '../support/sandbox/https-post.js'
import { World } from '../world/world.js'

interface Seen {
  readonly json: Record<string, unknown>
  readonly message: Record<string, unknown>
  readonly ids: readonly string[]
  /** The billing id that belongs to the body's id. */
  readonly own: string
}

type Check = (seen: Seen) => unknown

const contentOf = ({ message }: Seen): string => String(message.content)

const choicesIn = ({ json }: Seen): number => (json.choices as unknown[]).length

type Loose = Record<string, unknown>
const choiceOf = (json: Loose): Loose => (json.choices as Loose[])[0] ?? {}

const otherUuid = /^9d7f0d0e-/

const checks: Readonly<Record<string, Check>> = {
  wrong_id: ({ ids, own }) => ids.length === 1 && ids[0] !== own,
  empty_id: ({ json }) => json.id === '',
  no_id: ({ json }) => !('id' in json),
  id_number: ({ json }) => json.id === 7,
  id_257_bytes: ({ json }) => String(json.id).length === 257,
  header_absent: ({ ids }) => ids.length === 0,
  header_wrong: ({ ids }) => ids.length === 1 && otherUuid.test(ids[0] ?? ''),
  header_malformed: ({ ids }) => ids[0] === 'not-a-uuid',
  header_compact: ({ ids, own }) => ids[0] === own.replaceAll('-', ''),
  header_braced: ({ ids, own }) => ids[0] === `{${own}}`,
  header_urn: ({ ids, own }) => ids[0] === `urn:uuid:${own}`,
  header_uppercase: ({ ids, own }) => ids[0] === own.toUpperCase(),
  header_empty: ({ ids }) => ids.length === 1 && ids[0] === '',
  header_repeated: ({ ids, own }) => ids.length === 2 && ids.every((id) => id === own),
  header_repeated_other: ({ ids, own }) => ids[0] === own && otherUuid.test(ids[1] ?? ''),
  wrong_model: ({ json }) => json.model === 'sandbox/another-model',
  no_model: ({ json }) => !('model' in json),
  two_choices: (seen) => choicesIn(seen) === 2,
  zero_choices: (seen) => choicesIn(seen) === 0,
  no_choices: ({ json }) => !('choices' in json),
  error_beside: ({ json }) => 'choices' in json && (json.error as { code: number }).code === 500,
  error_null: ({ json }) => json.error === null,
  error_in_choice: ({ json }) => 'error' in choiceOf(json),
  chunk_object: ({ json }) => json.object === 'chat.completion.chunk',
  delta: ({ json, message }) => (choiceOf(json).delta as Loose).content === message.content,
  tool_calls: ({ message }) => (message.tool_calls as unknown[]).length === 1,
  tool_calls_null: ({ message }) => message.tool_calls === null,
  tool_calls_empty: ({ message }) => (message.tool_calls as unknown[]).length === 0,
  function_call: ({ message }) => 'function_call' in message,
  null_content: ({ message }) => message.content === null,
  no_content: ({ message }) => !('content' in message),
  content_parts: ({ message }) => Array.isArray(message.content),
  wrong_role: ({ message }) => message.role === 'user',
  empty_answer: (seen) => contentOf(seen) === '',
  answer_over_64k: (seen) => contentOf(seen).length === 65_537,
  answer_64k: (seen) => contentOf(seen).length === 65_536,
  control_characters: (seen) => contentOf(seen).includes('\u001b[31m'),
  reasoning: ({ message }) => 'reasoning_content' in message && message.content !== '',
  refusal: ({ message }) => message.content === null && 'refusal' in message,
  wrong_upstream: ({ json }) => json.provider === 'Another Upstream',
  no_upstream: ({ json }) => !('provider' in json),
  no_cost: ({ json }) => !('cost' in (json.usage as object)),
  usage_cost: ({ json }) => (json.usage as { cost: number }).cost === 1000,
}

const read = (reply: Reply): Seen => {
  const json = jsonOf(reply)
  const choices = (json.choices ?? []) as { message: Record<string, unknown> }[]
  const ids = reply.rawHeaders.filter(
    (_, at) => at % 2 === 1 && reply.rawHeaders[at - 1]?.toLowerCase() === 'inference-id',
  )
  return { json, message: choices[0]?.message ?? {}, ids, own: v5(String(json.id), v5.DNS) }
}

t.test('every completion fault has a check here', async (t) => {
  t.strictSame(completionFaults.map((one) => one.name).sort(), Object.keys(checks).sort())
})

t.test('each completion fault does what its name says, on each of its services', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  for (const { name, services } of completionFaults) {
    for (const service of services) {
      sandbox.faults.set(name, { service, times: 1 })
      const reply = await (service === 'provider' ? ask(sandbox) : askGateway(sandbox))
      t.equal(reply.status, 200)
      t.ok(checks[name]?.(read(reply)), `${name} on the ${service}`)
    }
  }
  t.strictSame(sandbox.log.violations(), [])
})

const costOf = async (sandbox: Sandbox, id: string): Promise<unknown> => {
  const { requests } = jsonOf(await bill(sandbox, id)) as { requests: { costNanoUsd: unknown }[] }
  return requests[0]?.costNanoUsd
}

t.test('a changed body id is billed as the client computes it', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('id_257_bytes', { times: 1 })
  const { own } = read(await ask(sandbox))
  t.ok(Number(await costOf(sandbox, own)) > 0)
})

t.test('the id in a reply given byte for byte is billed too', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.reply({ chunks: ['{"id":', '"raw-1"}'] }, { times: 1 })
  await ask(sandbox)
  t.ok(Number(await costOf(sandbox, v5('raw-1', v5.DNS))) > 0)
})

t.test('a reply without a usable id books nothing and ends nothing', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  for (const body of ['{"id":"\\ud800"}', '{"id":""}', '{"id":1}', '[]', 'nope']) {
    sandbox.faults.reply({ body }, { times: 1 })
    t.equal((await ask(sandbox)).body.toString(), body)
  }
  t.equal(await costOf(sandbox, v5('', v5.DNS)), 0)
})
