import t from 'tap'
import { appendAudit, listAudit, verifyAudit } from '../../src/governance/audit.js'
import { collections, type AuditRow } from '../../src/governance/rows.js'
import type { Tx } from '../../src/state/types.js'
import type { Teardown } from '../world/place.js'
import { World, type StateWorld } from '../world/world.js'

const entry = { what: 'test.done', principal: null, root: null, subject: 'x' }

const filled = async (t: Teardown): Promise<StateWorld> => {
  const bench = await World.still(t).store()
  for (const number of [1, 2, 3, 4]) {
    await bench.transact((tx, now) => appendAudit(tx, now, { ...entry, facts: { number } }))
  }
  return bench
}

t.test('an empty audit and an appended one verify', async (t) => {
  const bench = await World.still(t).store()
  t.strictSame(verifyAudit(bench.view()), [])
  await bench.transact((tx, now) => {
    appendAudit(tx, now, entry)
    appendAudit(tx, now, { ...entry, facts: { a: 1, b: 'text', c: true, d: null } })
  })
  const rows = listAudit(bench.view())
  t.strictSame(rows.map(({ number }) => number), [1, 2])
  t.equal(rows[0]?.previous_digest, '0'.repeat(64))
  t.strictSame(verifyAudit(bench.view()), [])
})

t.test('a changed, removed, doubled, moved or added row breaks the chain', async (t) => {
  const change = (tx: Tx, row: AuditRow, patch: Partial<AuditRow>): void =>
    tx.put(collections.audit, row.audit_id, { ...row, ...patch })
  const forgeries: Record<string, (tx: Tx, rows: readonly AuditRow[]) => void> = {
    'a changed fact': (tx, rows) => change(tx, rows[1]!, { facts: { number: 9 } }),
    'a changed name': (tx, rows) => change(tx, rows[3]!, { what: 'test.other' }),
    'a removed row': (tx, rows) => tx.remove(collections.audit, rows[1]!.audit_id),
    'a removed newest row': (tx, rows) => tx.remove(collections.audit, rows[3]!.audit_id),
    'a removed head': (tx) => tx.remove(collections.auditHead, 'the'),
    'swapped numbers': (tx, rows) => {
      change(tx, rows[1]!, { number: 3 })
      change(tx, rows[2]!, { number: 2 })
    },
    'an added row': (tx, rows) =>
      tx.put(collections.audit, 'aud_x', { ...rows[3]!, audit_id: 'aud_x', number: 5 }),
    'a row under another id': (tx, rows) => tx.put(collections.audit, 'aud_y', rows[0]!),
  }
  for (const [name, forge] of Object.entries(forgeries)) {
    const bench = await filled(t)
    t.strictSame(verifyAudit(bench.view()), [])
    await bench.transact((tx) => forge(tx, listAudit(tx)))
    t.ok(verifyAudit(bench.view()).length > 0, name)
  }
})

t.test('a fact is short, so that no content slips in', async (t) => {
  const bench = await World.still(t).store()
  const long = { ...entry, facts: { text: 'x'.repeat(513) } }
  await t.rejects(bench.transact((tx, now) => appendAudit(tx, now, long)),
    new TypeError('an audit fact is longer than 512 characters'))
  t.strictSame(listAudit(bench.view()), [])
})
