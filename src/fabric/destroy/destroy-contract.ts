/** What goes in and comes out of destroying a state. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, strictInteger, count, iso, text } from '../../base/schema.js'
import { nullableCommand, sentence } from '../../base/told.js'
import { amountMicrousdMax } from '../../governance/ledger/ledger-limits.js'

/** What is left when a state is gone. */
const stayingKinds = [
  'key_and_anchor', 'backups', 'timers', 'name', 'foreign', 'directory', 'images', 'blocks',
] as const

const staysShape = v.strictObject({
  what: v.picklist(stayingKinds),
  /** Paths, lines of a crontab, names within the directory: at most 20. */
  where: v.array(text),
  text: sentence,
  /** What takes it away; null where nothing of this program does. */
  command: nullableCommand,
})
export type Stays = v.InferOutput<typeof staysShape>

const openShape = v.strictObject({
  reserved: count,
  contacted: count,
  unknown: count,
  /** Jobs of the code host of which nobody knows what they did there. */
  effects: count,
  /** What those charges hold, micro-USD. */
  microusd: count,
})
/** What nobody knows the end of yet. */
export type OpenSum = v.InferOutput<typeof openShape>

const shape = v.strictObject({
  /** Whether this only tells what would go. */
  dry_run: v.boolean(),
  /** What was typed to destroy it: its name of `at`, else the last part of its path. */
  name: text,
  state_dir: text,
  store_id: text,
  /** When an earlier run that was cut off began; null for one that began here. */
  begun_at: v.nullable(iso),
  /** Rows by collection, the most first; empty where an earlier run had begun. */
  rows: v.array(v.strictObject({ collection: text, count })),
  /** Sealed keys and tokens of providers and code hosts. */
  keys: count,
  /** Sealed files, and their bytes. */
  artifacts: count,
  artifact_bytes: count,
  /** All files of the state, and their bytes. */
  files: count,
  bytes: count,
  /** Null where an earlier run had begun. */
  open: v.nullable(openShape),
  stays: v.array(staysShape),
})
/** What went, or would, and what stays. */
export type StateDestroyDocument = v.InferOutput<typeof shape>

/** Range of the sum that is acknowledged, micro-USD. */
export const openSumRange = { min: 0, max: amountMicrousdMax } as const

/** Destroying a state that its name and what is open of it acknowledge. */
export const stateDestroy = contract({
  name: 'state.destroy',
  input: closedObject({
    acknowledged_destroy: v.optional(v.string()),
    acknowledged_open_microusd: v.optional(strictInteger(openSumRange.min, openSumRange.max)),
    dry_run: v.optional(v.boolean()),
  }),
  output: shape,
})
