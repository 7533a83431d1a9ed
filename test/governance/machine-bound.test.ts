/** What rests on a folder of one machine names it, and whoever it is handed over to. */
import t from 'tap'
import {
  bindToHere, firstMachine, handOver, isBound, isHere, machineBoundCollection, machineOf,
  requireHere,
} from '../../src/governance/machine-bound.js'
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
  const handed = (to: { machine: string }, from: string) =>
    store.transact('test', (tx) => handOver(to, tx, from))
  await handed(b, 'a')
  t.equal(machineOf(store.read(), 'shots_folder', 'x'), 'b')
  await handed(c, 'b')
  await handed(c, firstMachine)
  await handed(c, 'a')
  const view = store.read()
  t.equal(machineOf(view, 'shots_folder', 'x'), 'c')
  t.equal(machineOf(view, 'shots_folder', 'y'), 'c')
  await store.transact('test', (tx) => bindToHere(b, tx, 'machine', 'c'))
  t.match(machineOf(store.read(), 'shots_folder', 'x'), /^[bc]$/, 'a circle has an end')
})
