/**
 * Rows of a state that several machines share which rest on a folder of one of them: image folders
 * and the stages of publications. A row of its own names the machine, in the same record as the row
 * that it speaks of, so that another machine refuses by name instead of calling missing what was
 * never there. A state that is kept in a directory has no machines, and none of these rows.
 */
import * as v from 'valibot'
import { fail, type SallyportError } from '../base/errors.js'
import { text } from '../base/schema.js'
import { firstMachine } from '../state/first-machine.js'
import type { CollectionSpec, Store, Tx, View } from '../state/types.js'

/** What can rest on a folder of one machine; `machine`: see `handOver`. */
export type BoundKind = 'shots_folder' | 'codehost_job' | 'machine'

const boundShape = v.strictObject({
  /** A UUID, or `first`. */
  machine: text,
})

/** By `<kind>/<id>`. */
export const machineBoundCollection: CollectionSpec<v.InferOutput<typeof boundShape>> = {
  name: 'machine_bound', schema: boundShape, partition: 'one',
}

/** What is asked of a store. */
type Where = Pick<Store, 'machine'>
type Rows = Pick<View, 'get'>

const idOf = (kind: BoundKind, id: string): string => `${kind}/${id}`

const rowOf = (view: Rows, kind: BoundKind, id: string): string | undefined =>
  view.get(machineBoundCollection, idOf(kind, id))?.machine

/** Who has what was a machine's: the machine itself, or whoever it was handed over to. */
const heirOf = (view: Rows, machine: string): string => {
  const seen = new Set<string>()
  let heir = machine
  while (!seen.has(heir)) {
    seen.add(heir)
    heir = rowOf(view, 'machine', heir) ?? heir
  }
  return heir
}

/** Whether a row names the machine of something: what is new may be bound to any. */
export const isBound = (view: Rows, kind: BoundKind, id: string): boolean =>
  rowOf(view, kind, id) !== undefined

/** The machine that something rests on. */
export const machineOf = (view: Rows, kind: BoundKind, id: string): string =>
  heirOf(view, rowOf(view, kind, id) ?? firstMachine)

/** Whether something came to its machine because its own one was retired: a person may move it. */
export const isInherited = (view: Rows, kind: BoundKind, id: string): boolean =>
  machineOf(view, kind, id) !== (rowOf(view, kind, id) ?? firstMachine)

/** Whether something rests on this machine; always, where the state is not shared. */
export const isHere = ({ machine }: Where, view: Rows, kind: BoundKind, id: string): boolean =>
  machine === null || machineOf(view, kind, id) === machine

const whats: Readonly<Record<Exclude<BoundKind, 'machine'>, string>> = {
  shots_folder: 'This image folder lies', codehost_job: 'The stage of this publication lies',
}

/** The refusal of what rests on another machine, which its details name. */
export const ofOtherMachine = (
  view: Rows, kind: Exclude<BoundKind, 'machine'>, id: string, next = 'Do this on that machine.',
): SallyportError => {
  const machine = machineOf(view, kind, id)
  return fail.rejected('of_other_machine', `${whats[kind]} on another machine: ${machine}.`, {
    next, details: { machine },
  })
}

/** Throws `rejected` `of_other_machine` unless something rests on this machine. */
export const requireHere = (
  store: Where, view: Rows, kind: Exclude<BoundKind, 'machine'>, id: string, next?: string,
): void => {
  if (!isHere(store, view, kind, id)) throw ofOtherMachine(view, kind, id, next)
}

/** Notes that something rests on this machine, whatever it rested on before. */
export const bindToHere = ({ machine }: Where, tx: Tx, kind: BoundKind, id: string): void => {
  if (machine === null || rowOf(tx, kind, id) === machine) return
  tx.put(machineBoundCollection, idOf(kind, id), { machine })
}

/** Whether what rested on a machine was handed over to another one, where the state has any. */
export const isHandedOver = (view: Rows, from: string): boolean => heirOf(view, from) !== from

/**
 * Hands everything that rests on a machine over to this one: for a machine that is retired, whose
 * folders were brought here or are gone. What is missing here is told as missing from then on.
 */
export const handOver = (store: Where, tx: Tx, from: string): void => {
  const { machine } = store
  if (machine === null || heirOf(tx, from) === machine) return
  bindToHere(store, tx, 'machine', heirOf(tx, from))
}

/** What a state that an old copy replaces had bound lies where it lay; may run twice. */
export const carryBound = (tx: Tx, former: View): void => {
  for (const { id, doc } of former.all(machineBoundCollection)) {
    const known = tx.get(machineBoundCollection, id)
    if (known?.machine !== doc.machine) tx.put(machineBoundCollection, id, doc)
  }
}

/**
 * Forgets all of it: what a directory holds lies here, and is of the machine that shares it.
 * `machine`: what rows call that one, where it had joined a state before; undefined: `first`.
 */
export const gatherBound = (tx: Tx, machine: string | undefined): void => {
  for (const { id } of tx.all(machineBoundCollection)) tx.remove(machineBoundCollection, id)
  if (machine === undefined) return
  tx.put(machineBoundCollection, idOf('machine', firstMachine), { machine })
}
