/** What the rows say to the end of an operation's money. */
import t from 'tap'
import { endMoney } from '../../src/contact/money.js'
import type { MoneyEnd } from '../../src/contact/order.js'
import { markUnknown } from '../../src/governance/ledger/steps.js'
import { binding, contacted, evidence, ledgerOf, now } from '../support/governance/ledger.js'
import type { Memory } from '../support/governance/memory.js'

const end = (memory: Memory, given: MoneyEnd) =>
  memory.transact((tx) => endMoney(tx, now, binding(), given))
const settled = { ledger: 'settle', chargedMicrousd: 90, evidence } as const
const released = { ledger: 'release' } as const

t.test('what the rows refuse of a charge is told; a hold that was given back already is no refusal', (t) => {
  const memory = contacted()
  t.equal(end(memory, released), null)
  t.equal(end(memory, released), null, 'recovery may have been faster')
  const refused = { kind: 'conflict', code: 'ledger_step_out_of_order' }
  t.hasStrict(end(memory, settled), refused)
  t.hasStrict(end(memory, { ledger: 'unknown', reason: 'timeout' }), refused)
  const unknown = contacted()
  unknown.transact((tx) => markUnknown(tx, now, { ...binding(), reason: 'timeout' }))
  t.hasStrict(end(unknown, settled), refused, 'a person settles it by now')
  t.hasStrict(end(unknown, released), { kind: 'blocked', reason: 'outcome_not_recorded' },
    'what recovery took for sent is owed, whatever the run knows')
  const paid = contacted()
  t.equal(end(paid, settled), null)
  t.hasStrict(end(paid, released), refused)
  t.equal(end(ledgerOf(1000), settled), null, 'nothing was held')
  t.end()
})
