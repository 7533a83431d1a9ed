import { join } from 'node:path'
import t from 'tap'
import { bootstrapLedger } from '../../../src/governance/ledger/account.js'
import { balances } from '../../../src/governance/ledger/find-reservation.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { createStore, openStore } from '../../../src/state/store.js'
import { startChild } from '../../support/children.js'
import { temporaryFolder } from '../../world/place.js'
import { now } from '../../support/governance/ledger.js'

t.test('processes that race for the last unit share exactly the ceiling', async (t) => {
  const base = temporaryFolder(t)
  const places = { dir: join(base, 'state'), configDir: join(base, 'config') }
  const ceiling = 40
  const store = createStore({ ...places, profile: { name: 'test' } })
  t.teardown(() => store.close())
  await store.transact('test', (tx) => bootstrapLedger(tx, now, ceiling))
  const children = ['a', 'b', 'c'].map((label) =>
    startChild(t, 'reserve', { ...places, label }))
  const taken = await Promise.all(children.map(async (child) => Number(await child.line())))
  for (const child of children) t.equal(await child.ended(), 0)
  t.equal(taken.reduce((sum, count) => sum + count, 0), ceiling, taken.join(' + '))
  const reader = openStore({ ...places, mode: 'read' })
  t.teardown(() => reader.close())
  t.hasStrict(balances(reader.read()), { held_microusd: ceiling, available_microusd: 0 })
  t.strictSame(verifyLedger(reader.read()), [])
})
