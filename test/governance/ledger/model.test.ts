/**
 * Random orders of steps, legal and illegal, against a model written apart from the rules. After
 * every step: each balance is exact, no earlier row has changed, a refusal changed nothing, and the
 * whole ledger recomputes from its rows.
 */
import fc from 'fast-check'
import t from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import { setCeiling } from '../../../src/governance/ledger/account.js'
import {
  markContacted, markUnknown, recheckRow, release, reserve, settle,
} from '../../../src/governance/ledger/steps.js'
import { manualSettle, reviewOverrun } from '../../../src/governance/ledger/by-hand.js'
import { balances, findReservation } from '../../../src/governance/ledger/find-reservation.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { collections, type LedgerRow } from '../../../src/governance/rows.js'
import type { Tx } from '../../../src/state/types.js'
import type { Memory } from '../../support/governance/memory.js'
import {
  binding, evidence, ledgerOf, now, request, sessionOf,
} from '../../support/governance/ledger.js'

interface Entry {
  bound: number
  stage: 'held' | 'sent' | 'lost' | 'paid' | 'free'
  charge: number
  waits: boolean
}

interface Model {
  ceiling: number
  readonly entries: Map<string, Entry>
}

const sum = (model: Model, pick: (entry: Entry) => number): number =>
  [...model.entries.values()].reduce((total, entry) => total + pick(entry), 0)

const expected = (model: Model): Record<string, number> => {
  const held = sum(model, (e) => (e.stage === 'held' || e.stage === 'sent' ? e.bound : 0))
  const unknown = sum(model, (e) => (e.stage === 'lost' ? e.bound : 0))
  const settled = sum(model, (e) => e.charge)
  return {
    ceiling_microusd: model.ceiling, held_microusd: held, unknown_microusd: unknown,
    settled_microusd: settled, consumed_microusd: held + unknown + settled,
  }
}

const consumed = (model: Model): number => expected(model)['consumed_microusd'] ?? 0

/** One step: what the ledger is asked, and whether and how the model says it goes. */
interface Action {
  readonly name: string
  readonly op: string
  readonly amount: number
}

const at = (model: Model, op: string, ...stages: Entry['stage'][]): Entry | undefined => {
  const entry = model.entries.get(op)
  return entry && stages.includes(entry.stage) ? entry : undefined
}

const pay = (entry: Entry | undefined, amount: number): boolean => {
  if (!entry) return false
  Object.assign(entry, { stage: 'paid', charge: amount, waits: amount > entry.bound })
  return true
}

const move = (entry: Entry | undefined, stage: Entry['stage']): boolean => {
  if (entry) entry.stage = stage
  return entry !== undefined
}

/** Moves the model; true when the step is legal. */
const predict = (model: Model, { name, op, amount }: Action): boolean => {
  switch (name) {
    case 'reserve': {
      const known = model.entries.get(op)
      if (known) return known.bound === amount
      if (amount < 1 || consumed(model) + amount > model.ceiling) return false
      model.entries.set(op, { bound: amount, stage: 'held', charge: 0, waits: false })
      return true
    }
    case 'contact': return move(at(model, op, 'held'), 'sent')
    case 'recheck': return at(model, op, 'held', 'sent', 'paid') !== undefined
    case 'settle': return pay(at(model, op, 'sent'), amount)
    case 'manual': return pay(at(model, op, 'lost'), amount)
    case 'unknown': return move(at(model, op, 'held', 'sent'), 'lost')
    case 'release': return move(at(model, op, 'held'), 'free')
    case 'proved': return move(at(model, op, 'held', 'sent'), 'free')
    case 'review': {
      const entry = model.entries.get(op)
      if (!entry?.waits) return false
      entry.waits = false
      return true
    }
    default:
      if (amount < 1) return false
      model.ceiling = amount
      return true
  }
}

const perform = (tx: Tx, { name, op, amount }: Action): unknown => {
  const named = binding(op)
  const owner = sessionOf('prn_1')
  switch (name) {
    case 'reserve': return reserve(tx, now, request({ operationId: op, bound: amount }))
    case 'contact': return markContacted(tx, now, named)
    case 'recheck': return recheckRow(tx, now, { ...named, policyRevision: 1 })
    case 'settle': return settle(tx, now, { ...named, chargedMicrousd: amount, evidence })
    case 'manual': return manualSettle(tx, now, owner, { operationId: op, amount })
    case 'unknown': return markUnknown(tx, now, { ...named, reason: 'model' })
    case 'release': return release(tx, now, { ...named, proof: 'never_contacted' })
    case 'proved': return release(tx, now, { ...named, proof: 'no_request_byte_sent' })
    case 'review':
      return reviewOverrun(tx, now, owner, op, amount % 2 === 0 ? 'accept' : 'reject')
    default: return setCeiling(tx, now, amount)
  }
}

const tried = (memory: Memory, action: Action): boolean => {
  try {
    memory.transact((tx) => perform(tx, action))
    return true
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

const rowsById = (memory: Memory): Map<string, LedgerRow> =>
  new Map(memory.view().all(collections.ledgerRows).map(({ id, doc }) => [id, doc]))

const unchanged = (before: Map<string, LedgerRow>, after: Map<string, LedgerRow>): boolean =>
  [...before].every(([id, row]) => JSON.stringify(after.get(id)) === JSON.stringify(row))

const names = [
  'reserve', 'reserve', 'reserve', 'contact', 'contact', 'recheck', 'settle', 'settle', 'manual',
  'unknown', 'release', 'proved', 'review', 'review', 'ceiling',
]
const actions = fc.array(
  fc.record({
    name: fc.constantFrom(...names),
    op: fc.constantFrom('op_1', 'op_2', 'op_3'),
    amount: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 1, maxLength: 30 },
)

const holdsFor = (list: readonly Action[]): void => {
  const model: Model = { ceiling: 20, entries: new Map() }
  const memory = ledgerOf(model.ceiling)
  for (const action of list) {
    const before = rowsById(memory)
    const legal = predict(model, action)
    if (tried(memory, action) !== legal) throw new Error(`${action.name}: legal is ${legal}`)
    const after = rowsById(memory)
    if (!unchanged(before, after)) throw new Error('an earlier row changed')
    if (!legal && after.size !== before.size) throw new Error('a refusal wrote a row')
    const stands = balances(memory.view())
    for (const [name, value] of Object.entries(expected(model))) {
      if (stands[name as keyof typeof stands] !== value) throw new Error(`${name} is not ${value}`)
    }
    for (const [op, entry] of model.entries) {
      const waits = findReservation(memory.view(), op)?.overrun === 'review_required'
      if (waits !== entry.waits) throw new Error('an overrun is not told')
    }
    const [problem] = verifyLedger(memory.view())
    if (problem) throw new Error(problem.code)
  }
}

t.test('any order of steps leaves exact balances and unchanged rows', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(actions, holdsFor), { numRuns: 250 }))
})

t.test('a recheck limit is the only step that the model leaves out', async (t) => {
  const list = Array.from({ length: 18 }, () => ({ name: 'recheck', op: 'op_1', amount: 1 }))
  const memory = ledgerOf(60)
  memory.transact((tx) => reserve(tx, now, request({ bound: 5 })))
  t.equal(list.filter((action) => tried(memory, action)).length, 16)
})
