/**
 * What the gateway said its key has spent, reading by reading, and what this state knows of the
 * time between two of them: charges that replies told, and contacts whose charge is not known.
 * Rows tell facts only; what follows from them says `range.ts`.
 */
import * as v from 'valibot'
import { count, iso, text } from '../../base/schema.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'

const openShape = v.strictObject({
  operation_id: text,
  bound_microusd: count,
  /** When its end was recorded; null where its process died before. */
  ended_at: v.nullable(iso),
})
/** A contact whose charge no reply told. */
export type OpenContact = v.InferOutput<typeof openShape>

const sinceEntries = {
  /** Sum of what replies told, micro-USD, each rounded up. */
  told_microusd: count,
  told: count,
  last_told_at: v.nullable(iso),
  open: v.array(openShape),
  /** There were more contacts without a known charge than are kept here. */
  open_more: v.boolean(),
}

const sinceShape = v.strictObject(sinceEntries)
/** What came about since the newest reading. */
type Since = v.InferOutput<typeof sinceShape>

const readingShape = v.strictObject({
  number: count,
  read_at: iso,
  key_fingerprint: text,
  /** US dollars as the reply wrote them, over the whole life of the key. */
  usage_usd: text,
  /** The same of what is billed elsewhere, by a key of an upstream; null where it is not told. */
  elsewhere_usd: v.nullable(text),
  /** Every contact since the reading before is told here; false begins a new row of readings. */
  continues: v.boolean(),
  ...sinceEntries,
})
/** One reading, with what came about since the one before. */
export type UsageReading = v.InferOutput<typeof readingShape>

/** Readings by their number, as 12 digits; the newest `readingsKept` are kept. */
export const readingCollection: CollectionSpec<UsageReading> = {
  name: 'gateway_usage_readings', schema: readingShape, partition: 'one',
}

/** One row, `the`, from the first reading on; without it nothing is counted. */
export const sinceCollection: CollectionSpec<Since> = {
  name: 'gateway_usage_since', schema: sinceShape, partition: 'one',
}

const sinceId = 'the'
const readingsKept = 1_000
const openMax = 64
const idDigits = 12

const nothingSince: Since = {
  told_microusd: 0, told: 0, last_told_at: null, open: [], open_more: false,
}

/** Whether a contact came about since the newest reading. */
export const isSpentSince = (view: Pick<View, 'get'>): boolean => {
  const since = view.get(sinceCollection, sinceId)
  return since !== undefined && (since.told > 0 || since.open.length > 0)
}

/** Contacts of which no reading tells yet. */
export const openSinceReading = (view: Pick<View, 'get'>): readonly OpenContact[] =>
  view.get(sinceCollection, sinceId)?.open ?? []

/** Counts a contact, in the record of its mark: its charge is not known from here on. */
export const noteContact = (tx: Tx, operationId: string, boundMicrousd: number): void => {
  const since = tx.get(sinceCollection, sinceId)
  if (since === undefined) return
  const one = { operation_id: operationId, bound_microusd: boundMicrousd, ended_at: null }
  tx.put(sinceCollection, sinceId, since.open.length < openMax
    ? { ...since, open: [...since.open, one] } : { ...since, open_more: true })
}

/** Counts how it ended, in the record of its end; `chargedMicrousd` null: nobody knows. */
export const noteEnd = (
  tx: Tx, now: string, operationId: string, chargedMicrousd: number | null,
): void => {
  const since = tx.get(sinceCollection, sinceId)
  const one = since?.open.find(({ operation_id: id }) => id === operationId)
  if (since === undefined || one === undefined) return
  const others = since.open.filter((other) => other !== one)
  tx.put(sinceCollection, sinceId, chargedMicrousd === null
    ? { ...since, open: [...others, { ...one, ended_at: now }] }
    : {
      ...since, open: others, told_microusd: since.told_microusd + chargedMicrousd,
      told: since.told + 1, last_told_at: now,
    })
}

/** Stops counting: the next reading begins anew. For whatever breaks the row of readings. */
export const forgetSince = (tx: Tx): void => {
  if (tx.get(sinceCollection, sinceId) !== undefined) tx.remove(sinceCollection, sinceId)
}

/** Keeps a reading with what came about since the one before, and counts from here on. */
export const keepReading = (
  tx: Tx, read: Pick<UsageReading, 'read_at' | 'key_fingerprint' | 'usage_usd' | 'elsewhere_usd'>,
): UsageReading => {
  const [newest] = tx.range(readingCollection, { reverse: true, limit: 1 })
  const since = tx.get(sinceCollection, sinceId)
  const number = (newest?.doc.number ?? 0) + 1
  const reading = { ...read, ...since ?? nothingSince, number, continues: since !== undefined }
  tx.put(readingCollection, String(number).padStart(idDigits, '0'), reading)
  tx.put(sinceCollection, sinceId, nothingSince)
  const [oldest] = tx.range(readingCollection, { limit: 1 })
  if (oldest !== undefined && oldest.doc.number <= number - readingsKept) {
    tx.remove(readingCollection, oldest.id)
  }
  return reading
}

/** Every reading that is kept, oldest first. */
export const readingsIn = (view: View): readonly UsageReading[] =>
  view.all(readingCollection).map(({ doc }) => doc)
