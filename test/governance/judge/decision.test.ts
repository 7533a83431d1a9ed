/** What is stored of a judgement, and what of it is believed at contact. */
import t from 'tap'
import { digestOf } from '../../../src/base/canonical.js'
import {
  decisionFacts, routeRowFacts, storeDecision, type DecisionCase, type JudgedRoute,
} from '../../../src/governance/judge/decision.js'
import { judge } from '../../../src/governance/judge/fact.js'
import { collections, type TrustDecision } from '../../../src/governance/rows.js'
import { Memory } from '../../support/governance/memory.js'

const fixed = {
  runtime: 'r', profile: 'p', provider: 'v', model: 'm', url: 'https://provider.test/',
}
const request = { kind: 'a request', amount: 3 }

/** A state that holds one decision, and the case of its operation. */
const stored = (change: (decision: TrustDecision) => TrustDecision = (one) => one) => {
  const memory = new Memory()
  const decision = memory.transact((tx) =>
    storeDecision(tx, 0, { operationId: 'op_1', request, denials: [] }))
  memory.transact((tx) =>
    tx.put(collections.decisions, decision.decision_id, change(decision)))
  const route: JudgedRoute = {
    ...fixed, operation_id: 'op_1', decision_id: decision.decision_id, contacted_at: null,
  }
  const one: DecisionCase = { view: memory.view(), operationId: 'op_1', request, fixed, route }
  return { decision, route, one }
}

const of = (one: DecisionCase, phase: 'preflight' | 'contact' = 'contact') =>
  judge([...routeRowFacts, ...decisionFacts], one, phase).map(({ name }) => name)

t.test('A-159 a stored, allowing decision of this very request is believed', async (t) => {
  t.strictSame(of(stored().one), [])
})

t.test('A-159 a decision that is missing, forged or of another request grants nothing', async (t) => {
  const forged: readonly ((one: TrustDecision) => TrustDecision)[] = [
    (one) => ({ ...one, outcome: 'deny' }),
    (one) => ({ ...one, reasons: ['x'] }),
    (one) => ({ ...one, operation_id: 'op_2' }),
    (one) => ({ ...one, request_digest: digestOf({}) }),
    (one) => ({ ...one, request: { ...request, amount: 4 } }),
  ]
  for (const [n, change] of forged.entries()) {
    t.strictSame(of(stored(change).one), ['decision_not_genuine'], `forged ${n}`)
  }
  const other = { ...request, amount: 4 }
  t.strictSame(of(stored((one) => ({
    ...one, request: other, request_digest: digestOf(other),
  })).one), ['decision_not_genuine'], 'genuine, of another request')
  t.strictSame(of(stored((one) => ({ ...one, decision_id: 'dec_2' })).one),
    ['decision_missing'], 'under another name')
  const { one, route } = stored()
  t.strictSame(of({ ...one, route: { ...route, decision_id: 'dec_2' } }), ['decision_missing'])
  t.strictSame(of({ ...one, route: undefined }), ['decision_missing'])
})

t.test('A-159 a save in between is told as one, and nothing else is', async (t) => {
  const at = (revision: unknown) => ({ kind: 'a request', policy_revision: revision })
  const within = (revision: unknown) => ({ kind: 'an effect', authority: at(revision) })
  const judged = (
    then: DecisionCase['request'], now: DecisionCase['request'],
    change: Partial<TrustDecision> = {},
  ) => of({
    ...stored((one) => ({ ...one, request: then, request_digest: digestOf(then), ...change })).one,
    request: now,
  })
  for (const shape of [at, within]) {
    t.strictSame(judged(shape(2), shape(2)), [])
    t.strictSame(judged(shape(1), shape(2)), ['policy_moved'])
    t.strictSame(judged(shape(3), shape(2)), ['decision_not_genuine'], 'decided later than now')
    t.strictSame(judged(shape('1'), shape(2)), ['decision_not_genuine'], 'no revision')
    t.strictSame(judged({ ...shape(2), kind: 'another' }, shape(2)), ['decision_not_genuine'])
    t.strictSame(judged(shape(1), shape(2), { request_digest: digestOf({}) }),
      ['decision_not_genuine'], 'forged and earlier')
  }
})

t.test('A-157 the route row says what the route is fixed to, member by member', async (t) => {
  const { one, route } = stored()
  for (const name of ['runtime', 'profile', 'provider', 'model', 'url'] as const) {
    t.strictSame(of({ ...one, route: { ...route, [name]: 'other' } }), [`${name}_mismatch`])
  }
  t.strictSame(of({ ...one, route: { ...route, operation_id: 'op_2' } }), ['route_mismatch'])
  t.strictSame(of({ ...one, route: undefined }, 'preflight'), [])
})

t.test('A-157 what was contacted is not decided again, and the mark itself is no reason', async (t) => {
  const { one, route } = stored()
  const contacted = { ...one, route: { ...route, contacted_at: '2026-11-20T10:00:00.000Z' } }
  t.strictSame(of(contacted, 'preflight'), ['already_contacted'])
  t.strictSame(of(contacted, 'contact'), [])
  t.strictSame(of(one, 'preflight'), [])
})

t.test('A-153 a decision says what was judged of which request, and when', async (t) => {
  const { decision } = stored()
  t.hasStrict(decision, {
    operation_id: 'op_1', outcome: 'allow', reasons: [], request,
    request_digest: digestOf(request), made_at: '1970-01-01T00:00:00.000Z',
  })
  const memory = new Memory()
  const denied = memory.transact((tx) => storeDecision(tx, 0, {
    operationId: 'op_1', request,
    denials: [{ name: 'b', kind: 'blocked' }, { name: 'a', kind: 'blocked' }],
  }))
  t.hasStrict(denied, { outcome: 'deny', reasons: ['b', 'a'] })
  t.strictSame(memory.view().get(collections.decisions, denied.decision_id), denied)
})
