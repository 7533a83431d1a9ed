/** What goes in and comes out of the operations on machines of a shared state. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, count, iso, text } from '../../base/schema.js'
import { command } from '../../base/told.js'
import type { LeftUnderWay, MachineRow } from '../../state/place/place.js'

const machineShape = v.strictObject({
  name: text,
  /** UUID, made when it joined. */
  machine_id: text,
  /** Whether it is the one that this line was typed at. */
  here: v.boolean(),
  /** By the clock of the place, as the other times. */
  joined_at: iso,
  seen_at: iso,
  /** From then on nothing of it is taken any more; null where it was not retired. */
  retired_at: v.nullable(iso),
  /** The last record that it was known to have. */
  record: count,
})
export type MachineDocument = v.InferOutput<typeof machineShape>

/** A row of the place, and the id of the machine that asks. */
interface Listed {
  readonly row: MachineRow
  readonly here: string
}

const documentOf = ({ row, here }: Listed): MachineDocument => ({
  name: row.name,
  machine_id: row.machine,
  here: row.machine === here,
  joined_at: row.joined,
  seen_at: row.seen,
  retired_at: row.retired,
  record: row.sequence,
})

/** Every machine, retired ones among them, in the order of their joining. */
export const machineList = contract({
  name: 'machine.list',
  output: v.array(machineShape),
  toDocument: ({ rows, here }: {
    readonly rows: readonly MachineRow[]; readonly here: string
  }) => rows.map((row) => documentOf({ row, here })),
})

export const machineRetire = contract({
  name: 'machine.retire',
  input: closedObject({ name: v.string() }),
  output: v.strictObject({
    machine: machineShape,
    /** False where it had been retired before. */
    retired: v.boolean(),
    /** What it has, or may still be sending: others are kept from it, and a revoke names it. */
    under_way: v.array(text),
    /** When all of that is over, by the clock of the place; null where it has nothing. */
    under_way_until: v.nullable(iso),
  }),
  toDocument: ({ retired, left, ...listed }: Listed & {
    readonly retired: boolean; readonly left: LeftUnderWay
  }) => ({
    machine: documentOf(listed), retired,
    under_way: [...left.operations], under_way_until: left.until,
  }),
})

/** Inviting a machine: `to` is the file that is written. */
export const machineInvite = contract({
  name: 'machine.invite',
  input: closedObject({ name: v.string(), to: v.string(), passphrase: v.string() }),
  output: v.strictObject({
    name: text,
    file: text,
    /** Host and database of the state. */
    place: text,
    invited_at: iso,
    /** What is typed on the other machine, where the file lies there. */
    next: command,
  }),
  toDocument: (made: {
    readonly name: string; readonly file: string; readonly place: string
    readonly invitedAt: string; readonly next: string
  }) => ({
    name: made.name, file: made.file, place: made.place, invited_at: made.invitedAt,
    next: made.next,
  }),
})

/** A directory of this machine that is part of a shared state. */
export interface SharedHere {
  readonly stateDir: string
  readonly storeId: string
  readonly place: string
  readonly machineId: string
  readonly machineName: string
  /** The last record that it has. */
  readonly record: number
}

const sharedShape = v.strictObject({
  state_dir: text,
  store_id: text,
  /** Host and database of the state. */
  place: text,
  machine_id: text,
  machine_name: text,
  record: count,
})

const sharedDocument = (made: SharedHere) => ({
  state_dir: made.stateDir,
  store_id: made.storeId,
  place: made.place,
  machine_id: made.machineId,
  machine_name: made.machineName,
  record: made.record,
})

/** Joining a shared state; the invitation is a file, read strictly. */
export const machineJoin = contract({
  name: 'machine.join',
  input: closedObject({ file: v.string() }),
  output: sharedShape,
  toDocument: sharedDocument,
})

/** Giving a directory as it stands to a place that machines share. */
export const stateShare = contract({
  name: 'state.share',
  input: closedObject({ address: v.string() }),
  output: sharedShape,
  toDocument: sharedDocument,
})

/** Taking a shared state back into the directory of this machine. */
export const stateUnshare = contract({
  name: 'state.unshare',
  output: v.strictObject({
    state_dir: text, store_id: text,
    /** Where it was kept until now. */
    place: text,
    record: count,
  }),
  toDocument: (made: Pick<SharedHere, 'stateDir' | 'storeId' | 'place' | 'record'>) => ({
    state_dir: made.stateDir, store_id: made.storeId, place: made.place, record: made.record,
  }),
})

/** Going on at a server that another one took over from. */
export const stateAcceptServer = contract({
  name: 'state.accept_server',
  input: closedObject({ without: v.optional(v.array(v.string())) }),
  output: v.strictObject({
    /** False where the server was known and lacked nothing. */
    accepted: v.boolean(),
    /** Records that it had lost and that this machine gave back. */
    gave_back: count,
    /** Machines that were left out and retired. */
    without: v.array(text),
    record: count,
  }),
  toDocument: (made: {
    readonly accepted: { readonly gave_back: number, readonly without: readonly string[] } | null
    readonly record: number
  }) => ({
    accepted: made.accepted !== null,
    gave_back: made.accepted?.gave_back ?? 0,
    without: [...made.accepted?.without ?? []],
    record: made.record,
  }),
})
