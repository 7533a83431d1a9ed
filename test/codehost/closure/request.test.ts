/** The request that closes capacity: exactly what it says, or nothing. */
import * as fc from 'fast-check'
import t from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import {
  closeRequestJson, closeRequestOf, type ReadRequest,
} from '../../../src/codehost/jobs/closed/request.js'
import { followThroughKind, publicationKind } from '../../../src/codehost/jobs/kinds.js'
import { errorOf } from '../../support/refused.js'

const parseCloseRequest = (
  bytes: Uint8Array, kind: typeof followThroughKind | typeof publicationKind,
): ReadRequest => closeRequestOf(closeRequestJson(bytes), kind)

const key = '0f8fad5b-d9cb-469f-a165-70867728950e'
const good = {
  acknowledged_capacity_close: true, expected_job_revision: 5, expected_connection_revision: 2,
  expected_connection_fence: 1, idempotency_key: key,
}
const numbers = [
  'expected_job_revision', 'expected_connection_revision', 'expected_connection_fence',
] as const

const text = (fields: Readonly<Record<string, string>>): string => `{${
  Object.entries(fields).map(([name, raw]) => `"${name}":${raw}`).join(',')}}`

const rawOf = (more: Readonly<Record<string, string>>): string => {
  const raw = Object.fromEntries(
    Object.entries(good).map(([name, value]) => [name, JSON.stringify(value)]))
  return text({ ...raw, ...more })
}

const without = (name: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(good).filter(([one]) => one !== name)))

const codeOf = (raw: string | Uint8Array, kind: typeof followThroughKind | typeof publicationKind =
  followThroughKind): string => {
  try {
    parseCloseRequest(Buffer.from(raw as string), kind)
    return 'accepted'
  } catch (error) {
    if (error instanceof SallyportError) return `${error.kind} ${error.code}`
    throw error
  }
}

const badNumbers = [
  'null', '0', '-1', '1.5', '"1"', 'true', 'false', '1.0', '1e0', '-0', '9007199254740992',
  '1e999', '[]', '{}',
]

t.test('C-115 C-116 C-117 C-129 each expected number is a plain integer above zero, in every spelling of anything else refused', async (t) => {
  t.equal(codeOf(rawOf({})), 'accepted')
  t.equal(codeOf(rawOf({}), publicationKind), 'accepted')
  for (const name of numbers) {
    t.equal(codeOf(rawOf({ [name]: '9007199254740991' })), 'accepted')
    for (const raw of badNumbers) {
      for (const kind of [followThroughKind, publicationKind] as const) {
        t.match(codeOf(rawOf({ [name]: raw }), kind), /^rejected /, `${name} ${raw}`)
      }
    }
    t.equal(codeOf(without(name)), 'rejected request_invalid', `${name} is required`)
  }
})

t.test('C-114 the acknowledgment is the literal true and nothing that resembles it', async (t) => {
  for (const raw of ['false', 'null', '1', '"true"', '"1"', '1.0', '[true]', '{}']) {
    t.match(codeOf(rawOf({ acknowledged_capacity_close: raw })), /^rejected /, raw)
  }
  t.equal(codeOf(without('acknowledged_capacity_close')), 'rejected request_invalid')
})

t.test('C-118 the key is a UUID in canonical lowercase, to its last character', async (t) => {
  const bad = [
    'null', '1', '""', '"abc"', JSON.stringify(key.toUpperCase()), `"{${key}}"`,
    `"urn:uuid:${key}"`, `"${key.replaceAll('-', '')}"`, `"${key}\\n"`, `" ${key}"`, `"${key}0"`,
  ]
  for (const raw of bad) t.match(codeOf(rawOf({ idempotency_key: raw })), /^rejected /, raw)
})

t.test('C-113 C-127 C-131 no other field is taken, and no field of the other kind', async (t) => {
  const extra = [
    'intents', 'credential', 'grant', 'proof_digest', 'process_id', 'expected', 'kind', 'job_id',
    '__proto__', 'constructor',
  ]
  for (const name of extra) t.match(codeOf(rawOf({ [name]: '1' })), /^rejected /, name)
  t.equal(codeOf(rawOf({ remote_id: '5' })), 'accepted')
  t.match(codeOf(rawOf({ remote_id: '5' }), publicationKind), /^rejected /)
  const hints = { remote_commit_id: `"${'a'.repeat(40)}"`, pr_number: '7' }
  t.equal(codeOf(rawOf(hints), publicationKind), 'accepted')
  for (const [name, raw] of Object.entries(hints)) {
    t.match(codeOf(rawOf({ [name]: raw })), /^rejected /, name)
  }
})

t.test('C-119 C-121 C-130 hints may be left out and are exact where they are given; null is not left out', async (t) => {
  for (const raw of badNumbers) {
    t.match(codeOf(rawOf({ remote_id: raw })), /^rejected /, `remote_id ${raw}`)
    t.match(codeOf(rawOf({ pr_number: raw }), publicationKind), /^rejected /, `pr_number ${raw}`)
  }
  const ids = [
    'null', '1', `"${'a'.repeat(39)}"`, `"${'a'.repeat(41)}"`, `"${'A'.repeat(40)}"`,
    `"${'g'.repeat(40)}"`, `"${'a'.repeat(40)}\\n"`,
  ]
  for (const raw of ids) {
    t.match(codeOf(rawOf({ remote_commit_id: raw }), publicationKind), /^rejected /, raw)
  }
})

t.test('doubled fields, marks, other encodings, depth and size are refused before anything is looked at', async (t) => {
  const doubled = rawOf({}).replace('{', '{"expected_job_revision":5,')
  t.equal(codeOf(doubled), 'rejected json_duplicate_key')
  t.equal(codeOf(`\uFEFF${rawOf({})}`), 'rejected json_has_bom')
  t.equal(codeOf(Buffer.from([0x7b, 0xff, 0x7d])), 'rejected json_not_utf8')
  t.equal(codeOf(rawOf({}).slice(0, -1)), 'rejected not_json')
  t.equal(codeOf('[]'), 'rejected request_invalid')
  t.equal(codeOf(rawOf({ remote_id: '[[]]' })), 'rejected json_too_deep')
  t.equal(codeOf(Buffer.alloc(16 * 1024 * 1024, 0x20)), 'rejected json_too_large')
})

t.test('C-182 spacing and order of fields do not tell two requests apart, any other value does', async (t) => {
  const of = (raw: string): string => parseCloseRequest(Buffer.from(raw), followThroughKind).sha256
  fc.assert(fc.property(
    fc.shuffledSubarray(Object.keys(good), { minLength: 5 }),
    fc.constantFrom('', ' ', '\n\t '), fc.constantFrom(...numbers), fc.integer({ min: 6, max: 99 }),
    (names, space, changed, value) => {
      const raw = `${space}{${space}${names.map((name) =>
        `"${name}"${space}:${space}${JSON.stringify(good[name as keyof typeof good])}`)
        .join(`${space},`)}}${space}`
      t.equal(of(raw), of(rawOf({})))
      t.not(of(rawOf({ [changed]: String(value) })), of(rawOf({})))
    },
  ), { numRuns: 50 })
  t.not(of(rawOf({ remote_id: '1' })), of(rawOf({})), 'a hint that was added is another request')
})

t.test('what is refused is never quoted', async (t) => {
  const secret = 'ghp_SECRET'
  for (const raw of [rawOf({ [secret]: '1' }), rawOf({ idempotency_key: `"${secret}"` })]) {
    const error = errorOf(() => parseCloseRequest(Buffer.from(raw), followThroughKind))
    t.equal(error.code, 'request_invalid')
    t.notMatch(`${String(error)}${JSON.stringify(error)}`, secret)
  }
})
