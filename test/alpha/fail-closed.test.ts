/**
 * The list of behaviours that must fail closed, each with the tests that show it with the real
 * client against a real TLS endpoint. A test that is renamed away or removed fails here.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkLedger } from '../support/ledger.js'
import { t } from '../support/tests-in-slices.js'
import { roomy } from '../world/alpha.js'
import { World } from '../world/world.js'

/** Behaviour, and the ids of which a test of it cites at least one. */
const behaviours: Readonly<Record<string, readonly string[]>> = {
  'unknown cost': ['A-122', 'A-124'],
  'timeout': ['A-181'],
  'crash': ['A-182'],
  'cancel race': ['A-183'],
  'revoke race': ['A-184'],
  'authority race': ['A-185'],
  'one attempt': ['A-026'],
  'idempotency': ['A-186'],
  'shared priority': ['A-198'],
  'peak of 1': ['A-197'],
  'cost warning': ['A-151'],
  'billing mismatch': ['A-176'],
  'model mismatch': ['A-173'],
  'identity mismatch': ['A-147'],
  'overflow': ['A-187'],
  'overrun': ['A-127', 'A-128'],
  'unsafe override': ['A-188'],
  'byte cap of the request': ['A-199'],
  'byte cap of the completion': ['A-200'],
  'byte cap of the answer': ['A-201'],
  'byte cap of billing': ['A-202'],
  'privacy': ['A-101', 'A-178'],
  'foreign owner': ['A-189'],
  'publication compare-and-set': ['A-190', 'A-076'],
  'credential compensation': ['A-191'],
}

const folder = join('test', 'alpha')

/** A test file runs the program or its use cases against the sandbox through one of these. */
const drivesTheClient = /\.alpha\(/
/** And looks at what came over the wire. */
const looksAtTheWire =
  /\b(inferences|billings|requests|sentNothing|cannotAsk)\(|\.(inferences|billings)\b/

/** Titles as they stand in the source, placeholders included. */
const titlesOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:t\.test|completions|billings|refuses)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs)]
    .map(([, , title = '']) => title)

interface Listed {
  readonly file: string
  readonly title: string
}

const listed: readonly Listed[] = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts') && name !== 'fail-closed.test.ts')
  .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
  .filter(({ text }) => drivesTheClient.test(text) && looksAtTheWire.test(text))
  .flatMap(({ file, text }) => titlesOf(text).map((title) => ({ file, title })))

const citing = (ids: readonly string[]): readonly Listed[] =>
  listed.filter(({ title }) => ids.some((id) => title.split(/[\s,]+/).includes(id)))

t.test('each behaviour that fails closed is cited by a test of the real client', async (t) => {
  t.ok(listed.length > 100, `${listed.length} titles`)
  for (const [behaviour, ids] of Object.entries(behaviours)) {
    const shown = citing(ids)
    t.ok(shown.length > 0, behaviour)
    for (const { file, title } of shown) t.comment(`${behaviour}: ${file}: ${title}`)
  }
})

/** Faults of the provider; by the kind of its end how often billing is asked, and what it costs. */
const faults: Readonly<Record<string, 'unknown' | 'charged' | 'overrun'>> = {
  billing_status_500: 'unknown', billing_warning_text: 'unknown', billing_other_id: 'unknown',
  billing_extra_entry: 'unknown', billing_above_range: 'unknown', billing_oversize: 'unknown',
  header_wrong: 'unknown', oversize: 'unknown', reset_mid_body: 'unknown',
  redirect_307: 'unknown', gzip: 'unknown', wrong_model: 'charged', two_choices: 'charged',
  answer_over_64k: 'charged', refusal: 'charged', billing_overrun: 'overrun',
  first_line_http2: 'unknown', first_line_foreign: 'unknown', first_line_nul: 'unknown',
  switching: 'unknown', billing_first_line_nul: 'unknown', billing_switching: 'unknown',
  billing_error_beside: 'unknown', error_beside: 'charged', error_in_choice: 'charged',
  chunk_object: 'charged', delta: 'charged',
}

t.test('A-180 whatever the provider does wrong, the real client asks once, gives no answer and keeps the charge', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ money: roomy })
  const account = () => checkLedger(t, rig)
  for (const [fault, end] of Object.entries(faults)) {
    const before = { sent: rig.inferences().length, unknown: account()?.unknown_microusd ?? 0 }
    const settled = account()?.settled_microusd ?? 0
    rig.sandbox.faults.set(fault, { service: 'provider' })
    const ran = await rig.ask()
    rig.sandbox.faults.clear()
    t.not(ran.status, 0, fault)
    t.equal(ran.stdout, '', `${fault}: no answer`)
    t.equal(rig.inferences().length - before.sent, 1, `${fault}: one inference`)
    const kept = (account()?.unknown_microusd ?? 0) - before.unknown
    t.equal(kept, end === 'unknown' ? roomy.boundMicrousd : 0, `${fault}: the bound stays held`)
    const paid = (account()?.settled_microusd ?? 0) - settled
    t.equal(paid > roomy.boundMicrousd, end === 'overrun', `${fault}: recorded whole`)
    t.equal(paid > 0, end !== 'unknown', `${fault}: settled from the bill alone`)
  }
  for (const fault of ['error_null', 'billing_error_null']) {
    rig.sandbox.faults.set(fault, { service: 'provider', times: 1 })
    t.equal((await rig.ask()).status, 0, `${fault}: null is none`)
  }
  const { opened, secured } = rig.sandbox.log.connections('provider')
  t.equal(opened, secured, 'every connection was TLS')
  t.ok(opened > Object.keys(faults).length, 'and each contact had its own')
})
