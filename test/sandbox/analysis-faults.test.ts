import t from 'tap'
import { analysisFaults, planted } from '../../src/sandbox/faults/analysis.js'
import { payloadResponseFormat } from '../../src/shots/payload/schema.js'
import { parsePayload } from '../../src/shots/payload/parse.js'
import { askGateway } from '../support/sandbox/asks.js'
import { jsonOf, type Reply } from '../support/sandbox/https-post.js'
import { greyPng } from '../support/png.js'
import { World } from '../world/world.js'

const image = (seed: number): string => greyPng(64, 48, seed).toString('base64')

const change = (seed: number) => ({
  messages: [{
    role: 'user',
    content: [
      { type: 'text', text: 'Describe this screenshot.' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image(seed)}` } },
    ],
  }],
  max_tokens: 4_096,
  response_format: payloadResponseFormat,
})

interface Answer {
  readonly content: string
  readonly finish: unknown
}

const answerOf = (reply: Reply): Answer => {
  const choices = (jsonOf(reply).choices ?? []) as {
    message: { content: unknown }, finish_reason: unknown
  }[]
  return { content: String(choices[0]?.message.content), finish: choices[0]?.finish_reason }
}

t.test('the gateway answers an image with a payload that depends on it alone', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const first = answerOf(await askGateway(sandbox, change(1)))
  t.hasStrict(parsePayload(first.content), { ok: true })
  t.equal(answerOf(await askGateway(sandbox, change(1))).content, first.content)
  t.not(answerOf(await askGateway(sandbox, change(2))).content, first.content)
  t.match(first.content, /64 by 48 pixels/)
  t.strictSame(sandbox.log.violations(), [])
})

/** What each fault's answer is refused for; null where it fits. */
const reasons: Readonly<Record<string, string | null>> = {
  shot_prose: 'payload_not_json',
  shot_fenced: 'payload_not_json',
  shot_trailing_text: 'payload_not_json',
  shot_truncated_json: 'payload_not_json',
  shot_comment: 'payload_not_json',
  shot_duplicate_field: 'payload_duplicate_field',
  shot_nan: 'payload_not_json',
  shot_unknown_field: 'payload_unknown_field',
  shot_unknown_nested_field: 'payload_unknown_field',
  shot_missing_field: 'payload_field_missing',
  shot_other_schema: 'payload_enum_invalid',
  shot_other_activity: 'payload_enum_invalid',
  shot_other_artifact: 'payload_enum_invalid',
  shot_other_goal: 'payload_enum_invalid',
  shot_other_needle: 'payload_enum_invalid',
  shot_confidence_low: 'payload_confidence_invalid',
  shot_confidence_high: 'payload_confidence_invalid',
  shot_confidence_text: 'payload_confidence_invalid',
  shot_confidence_null: 'payload_confidence_invalid',
  shot_unknowns: null,
  shot_secret: 'payload_contains_secret',
  shot_password: 'payload_contains_secret',
  shot_chat: 'payload_contains_message',
  shot_sensitive_snippets: 'payload_sensitive_snippets',
  shot_injection: null,
  shot_long_snippet: 'payload_text_too_long',
  shot_long_log: 'payload_text_too_long',
  shot_cut: null,
}

t.test('S-087 S-089 S-090 S-091 S-092 S-093 each fault is refused for its reason', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const names = analysisFaults.map(({ name }) => name).filter((name) => name !== 'shot_huge_error')
  t.strictSame(names.sort(), Object.keys(reasons).sort(), 'every fault has its reason here')
  for (const name of names) {
    sandbox.faults.set(name, { service: 'gateway', times: 1 })
    const { content, finish } = answerOf(await askGateway(sandbox, change(1)))
    const verdict = parsePayload(content)
    t.equal(verdict.ok ? null : verdict.reason, reasons[name], name)
    t.equal(finish, name === 'shot_cut' ? 'length' : 'stop')
  }
  t.match(planted.key, /^sk-/)
})

t.test('faults of analyses leave other replies alone', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('shot_prose', { service: 'gateway', times: 1 })
  t.match(answerOf(await askGateway(sandbox)).content, /Sandbox answer/)
})

t.test('a huge error is an error of its size', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('shot_huge_error', { service: 'gateway', times: 1 })
  const reply = await askGateway(sandbox, change(1))
  t.equal(reply.status, 500)
  t.ok(reply.body.length > 1_000_000)
})
