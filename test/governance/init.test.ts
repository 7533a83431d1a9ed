import t from 'tap'
import { verifyAudit } from '../../src/governance/audit.js'
import { initialize } from '../../src/governance/init.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { collections } from '../../src/governance/rows.js'
import { World } from '../world/world.js'

t.test('a new store gets one owner, its default goal and policy revision 1, and no session', async (t) => {
  const bench = await World.still(t).store()
  const { store } = bench.gov
  const made = await initialize(store, { ownerName: 'ada', clock: bench.clock })
  t.hasStrict(made.principal, { name: 'ada', passphrase: null, disabled_at: null })
  t.hasStrict(made.goal, { owner: made.principal.principal_id, is_default: true, revision: 1 })
  t.hasStrict(policyHead(bench.view()), { revision: 1 })
  t.strictSame(bench.view().all(collections.roots), [])
  t.strictSame(bench.view().all(collections.consents), [])
  t.strictSame(bench.view().all(collections.ledgerAccounts), [])
  t.strictSame(verifyAudit(bench.view()), [])
})

t.test('a store is initialized once', async (t) => {
  const bench = await World.still(t).store()
  await initialize(bench.gov.store, { ownerName: 'ada', clock: bench.clock })
  const again = initialize(bench.gov.store, { ownerName: 'bob', clock: bench.clock })
  await t.rejects(again, { kind: 'conflict', code: 'already_initialized' })
  t.equal(bench.view().all(collections.principals).length, 1)
})

t.test('a name or passphrase that is refused leaves the store empty', async (t) => {
  const bench = await World.still(t).store()
  const { clock } = bench
  const { store } = bench.gov
  await t.rejects(initialize(store, { ownerName: 'a b', clock }), { code: 'principal_name' })
  await t.rejects(initialize(store, { ownerName: 'ada', passphrase: 'short', clock }), {
    code: 'passphrase_length',
  })
  t.equal(bench.view().sequence, 0)
})
