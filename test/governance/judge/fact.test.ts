/** How a list of facts is asked, and what its denials become. */
import t from 'tap'
import { fail, SallyportError } from '../../../src/base/errors.js'
import {
  always, denied, judge, ofRequest, orUndefined, toldName, underWay, untilContact, within,
  type Fact, type Phase,
} from '../../../src/governance/judge/fact.js'

interface Case { readonly absent: readonly string[] }

const fact = (
  name: string, phases: readonly Phase[], kind: 'blocked' | 'unauthorized' = 'blocked',
): Fact<Case> => ({ name, kind, phases, holds: ({ absent }) => !absent.includes(name) })

const names = (facts: readonly Fact<Case>[], absent: readonly string[], phase: Phase) =>
  judge(facts, { absent }, phase).map(({ name }) => name)

t.test('every question has the facts of its phases, in the order of the list', async (t) => {
  const facts = [
    fact('a', always), fact('b', underWay), fact('c', untilContact), fact('d', ofRequest),
  ]
  const all = ['d', 'c', 'b', 'a']
  t.strictSame(names(facts, all, 'status'), ['a', 'c'])
  t.strictSame(names(facts, all, 'admit'), ['a', 'b', 'c'])
  t.strictSame(names(facts, all, 'preflight'), ['a', 'b', 'c', 'd'])
  t.strictSame(names(facts, all, 'contact'), ['a', 'b', 'c', 'd'])
  t.strictSame(names(facts, all, 'adopt'), ['a', 'b'])
  for (const phase of always) t.strictSame(names(facts, [], phase), [], phase)
  t.strictSame(names(facts, ['b'], 'contact'), ['b'])
})

t.test('a name is told once, with the kind of the fact that denied first', async (t) => {
  let asked = 0
  const second: Fact<Case> = {
    name: 'a', kind: 'unauthorized', phases: always, holds: () => (asked += 1) < 0,
  }
  const twice = [fact('a', always), second]
  t.strictSame(judge(twice, { absent: ['a'] }, 'status'), [{ name: 'a', kind: 'blocked' }])
  t.equal(asked, 0, 'and nobody asks again')
  t.strictSame(judge(twice, { absent: [] }, 'status'), [{ name: 'a', kind: 'unauthorized' }])
})

t.test('facts of a part say nothing where there is no part, and keep name, kind and phase', async (t) => {
  const phases: Phase[] = []
  const inner: Fact<Case> = {
    name: 'a', kind: 'unauthorized', phases: ofRequest,
    holds: ({ absent }, phase) => {
      phases.push(phase)
      return absent.length === 0
    },
  }
  const outer = within(({ part }: { readonly part: Case | null }) => part, [inner])
  t.strictSame(judge(outer, { part: null }, 'contact'), [])
  t.strictSame(judge(outer, { part: { absent: ['x'] } }, 'admit'), [])
  t.strictSame(phases, [])
  t.strictSame(judge(outer, { part: { absent: [] } }, 'contact'), [])
  t.strictSame(judge(outer, { part: { absent: ['x'] } }, 'preflight'),
    [{ name: 'a', kind: 'unauthorized' }])
  t.strictSame(phases, ['contact', 'preflight'])
})

const partsOf = ({ kind, code, message, next, reason, details }: SallyportError) =>
  ({ kind, code, message, next, reason, details })

t.test('a refusal is told by its first denial, every name once, as it has always been told', async (t) => {
  const parts = { code: 'not_allowed', message: 'It is not.', next: 'See to it.' }
  const error = denied([
    { name: 'b', kind: 'unauthorized' }, { name: 'a', kind: 'blocked' },
    { name: 'other', kind: 'blocked' },
  ], { ...parts, toldAs: { other: 'a' }, details: { limit: 3 } })
  t.strictSame(partsOf(error), {
    ...parts, kind: 'unauthorized', reason: 'b', details: { limit: 3, reasons: 'b,a' },
  })
  t.strictSame(partsOf(denied([], parts)), {
    ...parts, kind: 'blocked', reason: 'not_decided', details: { reasons: '' },
  })
  t.strictSame(partsOf(denied([{ name: 'a', kind: 'budget' }], parts)), {
    ...parts, kind: 'budget', reason: 'a', details: { reasons: 'a' },
  })
  t.equal(toldName({ name: 'a', kind: 'blocked' }, { a: 'b' }), 'b')
  t.equal(toldName({ name: 'c', kind: 'blocked' }, { a: 'b' }), 'c')
})

t.test('a refusal reads as nothing there, a defect stays one', async (t) => {
  t.equal(orUndefined(() => 1), 1)
  t.equal(orUndefined(() => { throw fail.blocked('x', 'x') }), undefined)
  t.throws(() => orUndefined(() => { throw new TypeError('a defect') }), new TypeError('a defect'))
  t.ok(fail.blocked('x', 'x') instanceof SallyportError)
})
