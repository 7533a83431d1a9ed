/** How many machines a status names that asks nobody. */
import t from 'tap'
import { noteMachines, notedMachines } from '../../../src/state/place/machines-note.js'
import type { MachineRow } from '../../../src/state/place/place.js'
import type { PlacedStore } from '../../../src/state/place/placed-store.js'

t.test('a machine that was retired is not among those that are noted', (t) => {
  const store = { runDir: t.testdir() } as unknown as PlacedStore
  const row = { retired: null } as MachineRow
  t.equal(notedMachines(store), null, 'nobody has said so far')
  noteMachines(store, [row, { ...row, retired: '2026-11-20T10:00:00.000Z' }, row])
  t.equal(notedMachines(store), 2)
  t.end()
})
