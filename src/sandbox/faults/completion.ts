import { Lexeme } from '../lexeme.js'
import type { JsonObject, ServiceName } from '../types.js'
import { drop, set } from './change.js'
import type { FaultSpec } from './spec.js'

const members = (
  name: string, summary: string, change: (json: JsonObject) => void,
  services: readonly ServiceName[] = ['provider', 'gateway'],
): FaultSpec => ({
  name, summary, route: 'completion', services, stage: 'members',
  apply: ({ draft }) => change(draft.json),
})

interface Choice extends JsonObject { message: JsonObject }

const choicesOf = (json: JsonObject): Choice[] => (json.choices ?? []) as Choice[]

const inChoice = (name: string, summary: string, change: (choice: Choice) => void): FaultSpec =>
  members(name, summary, (json) => choicesOf(json).forEach(change))

const message = (name: string, summary: string, change: (one: JsonObject) => void): FaultSpec =>
  inChoice(name, summary, (choice) => change(choice.message))

const toolCall = { id: 'call_0', type: 'function', function: { name: 'lookup', arguments: '{}' } }

const sandboxError = { message: 'sandbox fault', code: 500 }

const idHeader = 'Inference-Id'
const otherUuid = '9d7f0d0e-3c7b-5a41-8f0e-0d6f3a2b1c00'

const header = (
  name: string, summary: string, change: (value: string) => readonly string[],
): FaultSpec => ({
  name, summary, route: 'completion', services: ['provider'], stage: 'members',
  apply: ({ draft }) => {
    const own = draft.headers.find(([key]) => key === idHeader)?.[1] ?? otherUuid
    draft.headers = [
      ...draft.headers.filter(([key]) => key !== idHeader),
      ...change(own).map((value): [string, string] => [idHeader, value]),
    ]
  },
})

const idFaults: readonly FaultSpec[] = [
  members('wrong_id', 'a body id that the Inference-Id header does not fit', (json) => {
    json.id = `${String(json.id)}-other`
  }, ['provider']),
  members('empty_id', 'an empty body id', set({ id: '' })),
  members('no_id', 'no body id', drop('id')),
  members('id_number', 'a body id that is a number', set({ id: 7 })),
  members('id_257_bytes', 'a body id of 257 bytes', set({ id: 'x'.repeat(257) })),
  header('header_absent', 'no Inference-Id header', () => []),
  header('header_wrong', 'an Inference-Id of another inference', () => [otherUuid]),
  header('header_malformed', 'an Inference-Id that is not a UUID', () => ['not-a-uuid']),
  header('header_compact', 'an Inference-Id without hyphens', (own) => [own.replaceAll('-', '')]),
  header('header_braced', 'an Inference-Id in braces', (own) => [`{${own}}`]),
  header('header_urn', 'an Inference-Id as a URN', (own) => [`urn:uuid:${own}`]),
  header('header_uppercase', 'a correct Inference-Id in capitals', (own) => [own.toUpperCase()]),
  header('header_empty', 'an empty Inference-Id', () => ['']),
  header('header_repeated', 'the correct Inference-Id twice', (own) => [own, own]),
  header('header_repeated_other', 'two different Inference-Ids', (own) => [own, otherUuid]),
]

const shapeFaults: readonly FaultSpec[] = [
  members('wrong_model', 'another model', set({ model: 'sandbox/another-model' })),
  members('no_model', 'no model', drop('model')),
  members('two_choices', 'two choices', (json) => {
    const [first] = choicesOf(json)
    json.choices = first === undefined ? [] : [first, { ...first, index: 1 }]
  }),
  members('zero_choices', 'an empty list of choices', set({ choices: [] })),
  members('no_choices', 'no list of choices', drop('choices')),
  members('error_beside', 'an error beside the choices', set({ error: sandboxError })),
  members('error_null', 'an error of null beside a correct answer', set({ error: null })),
  inChoice('error_in_choice', 'an error in the choice', set({ error: sandboxError })),
  members('chunk_object', 'the object of one piece of a stream',
    set({ object: 'chat.completion.chunk' })),
  inChoice('delta', 'a delta beside the message', (choice) => {
    choice.delta = { content: choice.message.content }
  }),
  message('tool_calls', 'tool calls beside the content', set({ tool_calls: [toolCall] })),
  message('tool_calls_null', 'tool_calls null beside a correct answer', set({ tool_calls: null })),
  message('tool_calls_empty', 'tool_calls [] beside a correct answer', set({ tool_calls: [] })),
  message('function_call', 'the older function_call beside the content',
    set({ function_call: toolCall.function })),
  message('null_content', 'content null', set({ content: null })),
  message('no_content', 'no content', drop('content')),
  message('content_parts', 'content as a list of parts', (one) => {
    one.content = [{ type: 'text', text: String(one.content) }]
  }),
  message('wrong_role', 'a message of role user', set({ role: 'user' })),
  message('empty_answer', 'an empty answer', set({ content: '' })),
  message('answer_over_64k', 'an answer of 65,537 bytes in a body below its limit',
    set({ content: 'x'.repeat(64 * 1024 + 1) })),
  message('answer_64k', 'an answer of exactly 65,536 bytes',
    set({ content: 'x'.repeat(64 * 1024) })),
  message('control_characters', 'terminal escapes in a correct answer',
    set({ content: '\u001b[31mred\u001b[0m\u0007 \u009b2J\r end' })),
  message('reasoning', 'a reasoning member beside a correct answer',
    set({ reasoning_content: 'sandbox reasoning that must not be kept' })),
  message('refusal', 'a refusal in place of content',
    set({ content: null, refusal: 'The sandbox declines.' })),
]

const gatewayFaults: readonly FaultSpec[] = [
  members('wrong_upstream', 'another upstream provider',
    set({ provider: 'Another Upstream' }), ['gateway']),
  members('no_upstream', 'no upstream provider', drop('provider'), ['gateway']),
  members('no_cost', 'usage without a cost', (json) => {
    delete (json.usage as JsonObject).cost
  }, ['gateway']),
  {
    name: 'usage_cost', summary: 'another usage.cost',
    route: 'completion', services: ['gateway'], stage: 'members',
    value: { meaning: 'cost in micro-USD', fallback: 1_000_000_000 },
    apply: ({ draft, value }) => {
      const usage = draft.json.usage as JsonObject
      usage.cost = new Lexeme((value / 1_000_000).toFixed(6))
    },
  },
]

/** Faults in what a completion says. */
export const completionFaults: readonly FaultSpec[] =
  [...idFaults, ...shapeFaults, ...gatewayFaults]
