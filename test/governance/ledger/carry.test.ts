/** What is carried over from former states: one rule for replaced ones and for damaged ones. */
import t from 'tap'
import { findIdempotent } from '../../../src/governance/board/admit.js'
import { carryKeys } from '../../../src/governance/board/carry-keys.js'
import { isLostKey } from '../../../src/governance/board/lost-keys.js'
import { bootstrapLedger, setCeiling } from '../../../src/governance/ledger/account.js'
import { carryLiabilities } from '../../../src/governance/ledger/carry.js'
import { amountMicrousdMax } from '../../../src/governance/ledger/ledger-limits.js'
import { manualSource } from '../../../src/governance/ledger/machine.js'
import { post } from '../../../src/governance/ledger/post.js'
import { balances, findReservation } from '../../../src/governance/ledger/find-reservation.js'
import {
  markContacted, markUnknown, release, reserve, settle,
} from '../../../src/governance/ledger/steps.js'
import {
  holdCeiling, unreadOperation, unreadRuntime,
} from '../../../src/governance/ledger/unread.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { collections } from '../../../src/governance/rows.js'
import type { Session } from '../../../src/governance/context.js'
import type { Former, Hole } from '../../../src/state/care/former.js'
import { binding, evidence, ledgerOf, now, request } from '../../support/governance/ledger.js'
import { Memory } from '../../support/governance/memory.js'

const hole: Hole = { id: 'log-1-0123456789abcdef' }

const formerOf = (memory: Memory, change: Partial<Former> = {}): Former =>
  ({
    view: memory.view(), holes: [], readable: true, settled: false, knows: () => false, ...change,
  })

/** A ledger with one operation in each state, each of a bound of 100. */
const busy = (ceiling = 1000): Memory => {
  const memory = ledgerOf(ceiling)
  const ids = ['reserved', 'released', 'contacted', 'unknown', 'settled', 'overrun']
  memory.transact((tx) => {
    for (const id of ids) {
      reserve(tx, now, request({ operationId: id, taskId: null }))
      if (id === 'reserved') continue
      if (id === 'released') {
        release(tx, now, { ...binding(id), proof: 'never_contacted' })
        continue
      }
      markContacted(tx, now, binding(id))
      if (id === 'unknown') markUnknown(tx, now, { ...binding(id), reason: 'timeout' })
      const charged = { settled: 40, overrun: 130 }[id]
      if (charged !== undefined) {
        settle(tx, now, { ...binding(id), chargedMicrousd: charged, evidence })
      }
    }
  })
  return memory
}

const carry = (memory: Memory, formers: readonly Former[]) =>
  memory.transact((tx) => carryLiabilities(tx, now, formers, 'test'))

const heldOf = (memory: Memory, id: string): string => {
  const found = findReservation(memory.view(), id)
  return found === undefined ? 'nothing' : `${found.state} ${found.bound_microusd}`
}

t.test('A-089 A-124 what a whole former state owed is kept as unknown at its full bound', async (t) => {
  const memory = ledgerOf(1000)
  const { liabilities, unread } = carry(memory, [formerOf(busy())])
  t.strictSame([...liabilities].sort(), ['contacted', 'overrun', 'settled', 'unknown'])
  t.strictSame(unread, [])
  t.equal(heldOf(memory, 'settled'), 'unknown 100')
  t.equal(heldOf(memory, 'overrun'), 'unknown 130', 'a charge above the bound is what is owed')
  t.equal(heldOf(memory, 'reserved'), 'nothing', 'no contact was ever recorded')
  t.strictSame(verifyLedger(memory.view()), [])
  t.strictSame(carry(memory, [formerOf(busy())]).liabilities, [], 'once')
})

t.test('A-124 what is carried over goes on saying what it is for', async (t) => {
  const former = ledgerOf(1000)
  former.transact((tx) => {
    reserve(tx, now, request({ operationId: 'image', taskId: null, subject: 'obs_1' }))
    markContacted(tx, now, binding('image'))
  })
  const memory = ledgerOf(1000)
  carry(memory, [formerOf(former)])
  t.equal(findReservation(memory.view(), 'image')?.subject, 'obs_1')
  t.strictSame(verifyLedger(memory.view()), [])
})

t.test('A-124 beside unread records a hold without a contact is owed too; one given back is not', async (t) => {
  const memory = ledgerOf(1000)
  carry(memory, [formerOf(busy(), { holes: [hole] })])
  t.equal(heldOf(memory, 'reserved'), 'unknown 100')
  t.equal(heldOf(memory, 'released'), 'nothing')
})

t.test('the newest former state has the last word on an operation', async (t) => {
  const older = ledgerOf(1000)
  older.transact((tx) => {
    reserve(tx, now, request({ operationId: 'op', taskId: null }))
    markContacted(tx, now, binding('op'))
  })
  const newer = ledgerOf(1000)
  newer.transact((tx) => {
    reserve(tx, now, request({ operationId: 'op', taskId: null }))
    release(tx, now, { ...binding('op'), proof: 'never_contacted' })
  })
  const memory = ledgerOf(1000)
  t.strictSame(carry(memory, [formerOf(older), formerOf(newer)]).liabilities, [])
  t.strictSame(carry(memory, [formerOf(newer), formerOf(older)]).liabilities, ['op'])
})

t.test('what nobody can read holds the highest ceiling there ever was, once', async (t) => {
  const former = ledgerOf(5000)
  former.transact((tx) => setCeiling(tx, now, 2000))
  const memory = ledgerOf(3000)
  const { unread } = carry(memory, [formerOf(former, { holes: [hole] })])
  t.strictSame(unread, [unreadOperation(hole)])
  t.equal(heldOf(memory, unread[0] ?? ''), 'unknown 5000')
  t.hasStrict(balances(memory.view()), { ceiling_microusd: 2000, available_microusd: 0 })
  t.hasStrict(findReservation(memory.view(), unread[0] ?? ''), {
    runtime: unreadRuntime, task_id: null,
  })
  t.strictSame(verifyLedger(memory.view()), [])
  t.strictSame(carry(memory, [formerOf(former, { holes: [hole] })]).unread, [])
  memory.transact((tx) => setCeiling(tx, now, 6000))
  t.equal(balances(memory.view()).available_microusd, 1000, 'a raise gives what lies above')
})

t.test('where no ceiling was ever seen, what nobody can read holds all that there could be', async (t) => {
  const memory = ledgerOf()
  const { unread } = carry(memory, [formerOf(ledgerOf(), { holes: [hole] })])
  t.equal(heldOf(memory, unread[0] ?? ''), `unknown ${amountMicrousdMax}`)
  t.equal(balances(memory.view()).available_microusd, 0)
  t.strictSame(verifyLedger(memory.view()), [])
})

t.test('a copy that comes into force holds its whole ceiling beside what it owes, until a person has '
  + 'settled it, and once', async (t) => {
  const hold = (memory: Memory) => memory.transact((tx) => holdCeiling(tx, now))
  t.strictSame(hold(new Memory()), [], 'no ceiling was ever set')
  const memory = ledgerOf(100)
  carry(memory, [formerOf(busy())])
  t.ok(balances(memory.view()).unknown_microusd > 100, 'what is owed is above it')
  const [id = ''] = hold(memory)
  t.equal(heldOf(memory, id), 'unknown 100')
  t.strictSame(hold(memory), [], 'held once')
  memory.transact((tx) => setCeiling(tx, now, 300))
  const [more = ''] = hold(memory)
  t.equal(heldOf(memory, more), 'unknown 300', 'the one of a lower ceiling is not the whole one')
  const binding = { operationId: more, runtime: unreadRuntime, profile: unreadRuntime }
  memory.transact((tx) => post(tx, now, binding, findReservation(tx, more), {
    kind: 'manual_settle', amount_microusd: 0, evidence: { source: manualSource },
  }))
  t.equal(hold(memory).length, 1, 'what was settled holds nothing')
  t.strictSame(verifyLedger(memory.view()), [])
})

t.test('a store without a ledger gets the lower ceiling of the former states', async (t) => {
  const memory = ledgerOf()
  carry(memory, [formerOf(busy(900)), formerOf(ledgerOf(700))])
  t.equal(balances(memory.view()).ceiling_microusd, 700)
})

t.test('the lower ceiling stays; a former state that was carried over before lowers nothing', async (t) => {
  const memory = ledgerOf(1000)
  carry(memory, [formerOf(ledgerOf(400), { settled: true })])
  t.equal(balances(memory.view()).ceiling_microusd, 1000)
  carry(memory, [formerOf(ledgerOf(4000))])
  t.equal(balances(memory.view()).ceiling_microusd, 1000, 'nothing is ever raised')
  carry(memory, [formerOf(ledgerOf(400))])
  t.equal(balances(memory.view()).ceiling_microusd, 400)
})

t.test('nothing is made where nothing is owed', async (t) => {
  const memory = ledgerOf()
  carry(memory, [formerOf(ledgerOf(500))])
  t.strictSame(memory.view().all(collections.ledgerAccounts), [])
})

t.test('rows without an account stay as they are: nobody can spend there', async (t) => {
  const memory = new Memory()
  memory.transact((tx) => bootstrapLedger(tx, now, 1000))
  memory.transact((tx) => {
    for (const { id } of tx.all(collections.ledgerAccounts)) {
      tx.remove(collections.ledgerAccounts, id)
    }
  })
  t.strictSame(carry(memory, [formerOf(busy(), { holes: [hole] })]), {
    liabilities: [], unread: [],
  })
})

t.test('A-026 keys of former states are spent, and those that only their tasks name', async (t) => {
  const former = new Memory()
  const key = { key: 'k1', kind: 'x.v1', task_id: 't1', request_digest: '0'.repeat(64) }
  former.transact((tx) => tx.put(collections.idempotency, 'k1', key))
  const { request_digest: digest } = key
  const task = { idempotency_key: 'k2', kind: 'x.v1', task_id: 't2', request_digest: digest }
  const view: Former['view'] = {
    ...former.view(),
    range: (spec, options) => spec.name === 'tasks_open'
      ? [{ id: 't2', doc: task as never }] : former.view().range(spec, options),
  }
  const memory = new Memory()
  t.equal(memory.transact((tx) => carryKeys(tx, now, [{ ...formerOf(former), view }])), 2)
  t.strictSame(memory.view().all(collections.idempotency).map(({ doc }) => doc), [
    { ...key, restored: true }, { ...key, key: 'k2', task_id: 't2', restored: true },
  ])
  t.equal(memory.transact((tx) => carryKeys(tx, now, [{ ...formerOf(former), view }])), 0, 'once')
})

t.test('A-026 a range of keys that damage took is spent whole, whenever a key says that it was made', async (t) => {
  const [from, inside, to] = [
    '10000000-0000-4000-8000-000000000000', '10000000-0000-4000-8000-0000000000aa',
    '20000000-0000-4000-8000-000000000000',
  ]
  const key = (collection: string, id: string) => ({ collection, id })
  const lost = [
    { from: key('idempotency', from), to: key('idempotency', to) },
    { from: key('jobs', 'a'), to: key('jobs', 'b') },
  ]
  const memory = new Memory()
  memory.transact((tx) =>
    carryKeys(tx, now, [formerOf(new Memory(), { holes: [{ ...hole, lost }] })]))
  t.equal(memory.view().all(collections.lostKeys).length, 1)
  t.equal(isLostKey(memory.view(), from), true)
  t.equal(isLostKey(memory.view(), inside), true)
  t.equal(isLostKey(memory.view(), to), false)
  t.equal(isLostKey(memory.view(), '00000000-0000-4000-8000-000000000000'), false)
  const request = { kind: 'x.v1', requestDigest: '0'.repeat(64) }
  const asked = (key: string) => () =>
    findIdempotent(memory.view(), {} as Session, { ...request, key })
  t.throws(asked(inside), { kind: 'conflict', code: 'idempotency_key_spent' })
  t.equal(asked(to)(), null)
  const again = new Memory()
  again.transact((tx) => carryKeys(tx, now, [formerOf(memory)]))
  t.equal(isLostKey(again.view(), inside), true, 'and stays so in the next state')
  const [range] = again.view().all(collections.lostKeys)
  const released = { at: now, principal: 'prn_1' }
  again.transact((tx) => {
    if (range !== undefined) tx.put(collections.lostKeys, range.id, { ...range.doc, released })
  })
  t.equal(isLostKey(again.view(), inside), false)
  again.transact((tx) => carryKeys(tx, now, [formerOf(memory)]))
  t.equal(isLostKey(again.view(), inside), false, 'what a person released is not taken back')
  const open = new Memory()
  const all = [{ from: key('goals', 'x'), to: key('jobs', 'y') }]
  open.transact((tx) =>
    carryKeys(tx, now, [formerOf(new Memory(), { holes: [{ ...hole, lost: all }] })]))
  t.equal(isLostKey(open.view(), inside), true)
  const at = Date.parse(now)
  const uuid7 = (ms: number): string => {
    const hex = ms.toString(16).padStart(12, '0')
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
  }
  t.equal(isLostKey(open.view(), uuid7(at)), true)
  const hour = 3_600_000
  for (const ms of [at + 1, at + hour, at + 8766 * hour, at - 8766 * hour]) {
    t.equal(isLostKey(open.view(), uuid7(ms)), true, 'clients date keys as they like')
  }
})
