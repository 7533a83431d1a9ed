import { Lexeme } from '../lexeme.js'
import type { JsonObject } from '../types.js'
import { drop, set } from './change.js'
import type { FaultCall, FaultSpec } from './spec.js'

const billing = (
  name: string, summary: string, apply: (call: FaultCall) => void, value?: FaultSpec['value'],
): FaultSpec => ({
  name: `billing_${name}`, summary: `billing: ${summary}`,
  route: 'billing', services: ['provider'], stage: 'members',
  ...(value === undefined ? {} : { value }), apply,
})

const envelope = (name: string, summary: string, change: (json: JsonObject) => void): FaultSpec =>
  billing(name, summary, ({ draft }) => change(draft.json))

const entriesOf = (json: JsonObject): JsonObject[] => (json.requests ?? []) as JsonObject[]

const entry = (
  name: string, summary: string, change: (entry: JsonObject, value: number) => void,
  value?: FaultSpec['value'],
): FaultSpec =>
  billing(name, summary, (call) => {
    for (const one of entriesOf(call.draft.json)) change(one, call.value)
  }, value)

const cost = (name: string, summary: string, lexeme: string): FaultSpec =>
  entry(name, summary, set({ costNanoUsd: new Lexeme(lexeme) }))

const warning = (name: string, summary: string, value: unknown): FaultSpec =>
  entry(`warning_${name}`, summary, set({ warning: value }))

const otherUuid = '9d7f0d0e-3c7b-5a41-8f0e-0d6f3a2b1c00'

const firstAttempt = (call: FaultCall): boolean => call.request.attempt === 1

const failWith500 = ({ draft }: FaultCall): void => {
  draft.status = 500
  draft.json = { error: { message: 'sandbox fault', code: 500 } }
}

const envelopeFaults: readonly FaultSpec[] = [
  envelope('no_entry', 'no entry at all', set({ requests: [] })),
  billing('no_entry_once', 'no entry on the first attempt, then the truth', (call) => {
    if (firstAttempt(call)) call.draft.json.requests = []
  }),
  billing('no_envelope', 'an object without the list', ({ draft }) => {
    draft.json = {}
  }),
  billing('bare_list', 'the list under another name', ({ draft }) => {
    draft.json = { data: draft.json.requests }
  }),
  envelope('error_beside', 'an error beside the list',
    set({ error: { message: 'sandbox fault', code: 500 } })),
  envelope('error_null', 'an error of null beside the list', set({ error: null })),
  envelope('duplicate_entry', 'the entry twice', (json) => {
    json.requests = entriesOf(json).flatMap((one) => [one, { ...one }])
  }),
  envelope('extra_entry', 'a second entry for another id', (json) => {
    json.requests = [...entriesOf(json), { requestId: otherUuid, costNanoUsd: 1000 }]
  }),
  entry('other_id', 'one entry, for another id', set({ requestId: otherUuid })),
  entry('no_request_id', 'an entry without its id', drop('requestId')),
  entry('uppercase_id', 'the right id in capitals', (one) => {
    one.requestId = String(one.requestId).toUpperCase()
  }),
  billing('500_once', 'status 500 on the first attempt, then the truth', (call) => {
    if (firstAttempt(call)) failWith500(call)
  }),
  billing('500_always', 'status 500', failWith500),
]

const costFaults: readonly FaultSpec[] = [
  entry('no_cost', 'an entry without a cost', drop('costNanoUsd')),
  cost('negative', 'a cost of -1', '-1'),
  cost('negative_zero', 'a cost written -0', '-0'),
  cost('above_range', 'a cost one above the range', '1000000000001'),
  cost('top_of_range', 'the highest cost in the range', '1000000000000'),
  cost('huge', 'a cost past the safe integers', '9007199254740993'),
  cost('float', 'a cost written 1.0', '1.0'),
  cost('fraction', 'a cost of half a nano-dollar', '0.5'),
  cost('exponent', 'a cost written 1e3', '1e3'),
  cost('bool', 'a cost of true', 'true'),
  cost('string', 'a cost in quotes', '"1000"'),
  cost('null', 'a cost of null', 'null'),
  cost('list', 'a cost in a list', '[1000]'),
  billing('zero_first', 'a cost of 0 on the first attempt, then the truth', (call) => {
    if (!firstAttempt(call)) return
    for (const one of entriesOf(call.draft.json)) one.costNanoUsd = 0
  }),
  cost('zero_always', 'a cost of 0', '0'),
  entry('cost', 'a cost of your choice', (one, value) => {
    one.costNanoUsd = value
  }, { meaning: 'nano-USD', fallback: 1000 }),
  entry('overrun', 'a cost one micro-dollar above a bound', (one, value) => {
    one.costNanoUsd = (value + 1) * 1000
  }, { meaning: 'the bound in micro-USD', fallback: 100_000 }),
]

const warningFaults: readonly FaultSpec[] = [
  warning('text', 'a warning beside a valid cost', 'cost is an estimate'),
  warning('space', 'a warning of one space', ' '),
  warning('empty', 'an empty warning, which means none', ''),
  warning('null', 'a null warning, which means none', null),
  warning('false', 'a warning of false', false),
  warning('zero', 'a warning of 0', 0),
  warning('list', 'a warning of []', []),
  warning('object', 'a warning of {}', {}),
]

/** Faults in what billing says. */
export const billingFaults: readonly FaultSpec[] =
  [...envelopeFaults, ...costFaults, ...warningFaults]
