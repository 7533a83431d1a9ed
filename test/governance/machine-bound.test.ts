/** What rests on a folder of one machine names it, and whoever it is handed over to. */
import t from 'tap'
import {
  bindToHere, carryBound, gatherBound, handOver, isBound, isHere, isInherited,
  machineBoundCollection, machineOf, requireHere,
} from '../../src/governance/machine-bound.js'
import { firstMachine } from '../../src/state/first-machine.js'
import { World } from '../world/world.js'

const [a, b, c] = ['a', 'b', 'c'].map((machine) => ({ machine })) as [
  { machine: string }, { machine: string }, { machine: string },
]
const first = { machine: firstMachine }
const directory = { machine: null }

t.test('in a directory nothing is bound, everything is here and no record is made', async (t) => {
  const { store } = await World.in(t).store()
  const before = store.read().sequence
  await store.transact('test', (tx) => {
    bindToHere(directory, tx, 'codehost_job', 'x')
    handOver(directory, tx, 'first')
  })
  const view = store.read()
  t.equal(view.sequence, before)
  t.strictSame(view.all(machineBoundCollection), [])
  t.ok(isHere(directory, view, 'codehost_job', 'x'))
})

t.test('what no row names is of the machine that the state began on, and what one names is of that one alone', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('test', (tx) => bindToHere(a, tx, 'codehost_job', 'x'))
  const view = store.read()
  t.strictSame(view.all(machineBoundCollection),
    [{ id: 'codehost_job/x', doc: { machine: 'a' } }])
  t.strictSame([a, b, first].map((one) => isHere(one, view, 'codehost_job', 'x')),
    [true, false, false])
  t.strictSame([a, b, first].map((one) => isHere(one, view, 'codehost_job', 'y')),
    [false, false, true])
  t.strictSame([isBound(view, 'codehost_job', 'x'), isBound(view, 'shots_folder', 'x')],
    [true, false])
  requireHere(a, view, 'codehost_job', 'x')
  t.throws(() => requireHere(b, view, 'codehost_job', 'x'), {
    kind: 'rejected', code: 'of_other_machine', details: { machine: 'a' },
  })
  const { sequence } = view
  await store.transact('test', (tx) => bindToHere(a, tx, 'codehost_job', 'x'))
  t.equal(store.read().sequence, sequence, 'the same again is no record')
})

t.test('what a machine had is of whoever it was handed over to, and of the heir of that one', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('test', (tx) => bindToHere(a, tx, 'shots_folder', 'x'))
  t.notOk(isInherited(store.read(), 'shots_folder', 'x'))
  const handed = (to: { machine: string }, from: string) =>
    store.transact('test', (tx) => handOver(to, tx, from))
  await handed(b, 'a')
  t.equal(machineOf(store.read(), 'shots_folder', 'x'), 'b')
  t.ok(isInherited(store.read(), 'shots_folder', 'x'))
  await handed(c, 'b')
  await handed(c, firstMachine)
  await handed(c, 'a')
  const view = store.read()
  t.equal(machineOf(view, 'shots_folder', 'x'), 'c')
  t.equal(machineOf(view, 'shots_folder', 'y'), 'c')
  await store.transact('test', (tx) => bindToHere(b, tx, 'machine', 'c'))
  t.match(machineOf(store.read(), 'shots_folder', 'x'), /^[bc]$/, 'a circle has an end')
})

t.test('an old copy of a state has things lie where the state that it replaces had them last', async (t) => {
  const [old, former] = [await World.in(t).store(), await World.in(t).store()]
  await old.store.transact('test', (tx) => bindToHere(a, tx, 'shots_folder', 'x'))
  await former.store.transact('test', (tx) => {
    bindToHere(b, tx, 'shots_folder', 'x')
    bindToHere(b, tx, 'codehost_job', 'y')
  })
  const carry = () => old.store.transact('test', (tx) => carryBound(tx, former.store.read()))
  await carry()
  const { sequence } = old.store.read()
  t.strictSame(old.store.read().all(machineBoundCollection),
    former.store.read().all(machineBoundCollection))
  await carry()
  t.equal(old.store.read().sequence, sequence)
})

t.test('a directory that is shared again has all that it holds with the machine that shares it', async (t) => {
  const { store } = await World.in(t).store()
  const { sequence } = store.read()
  await store.transact('test', (tx) => gatherBound(tx, undefined))
  t.equal(store.read().sequence, sequence, 'one that was never shared is left alone')
  await store.transact('test', (tx) => {
    bindToHere(a, tx, 'shots_folder', 'x')
    handOver(b, tx, 'a')
  })
  await store.transact('test', (tx) => gatherBound(tx, 'c'))
  t.strictSame(['x', 'y'].map((id) => machineOf(store.read(), 'shots_folder', id)), ['c', 'c'])
  await store.transact('test', (tx) => gatherBound(tx, undefined))
  t.strictSame(store.read().all(machineBoundCollection), [])
})
