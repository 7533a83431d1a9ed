/**
 * What the calls of each purpose cost, by the hour in which they were claimed: a few rows that
 * answer for a rolling day without a look at the history. They are written in the claiming and in
 * the closing record of each call, where an operator settles an unknown charge, and where recovery
 * finds that a dead process sent nothing. A call that may have been sent stays counted with its
 * full bound: too much, never too little.
 */
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'
import { gatewayPurposes, type GatewayPurpose } from '../constants.js'

const spendShape = v.strictObject({
  /** `2026-11-20T14`, UTC. */
  hour: v.pipe(v.string(), v.regex(/^[-+0-9]+T[0-9]{2}$/)),
  purpose: v.picklist(gatewayPurposes),
  /** Calls that were, or may have been, or may yet be sent. */
  requests: count,
  /** Bounds of calls that are under way or whose charge is not known, micro-USD. */
  held_microusd: count,
  settled_microusd: count,
})
/** Calls of one purpose that were claimed in one hour. */
type SpendHour = v.InferOutput<typeof spendShape>

/** Sums by `<hour>#<purpose>`; the newest `hoursKept` of all are kept. */
export const spendCollection: CollectionSpec<SpendHour> = {
  name: 'gateway_spend', schema: spendShape, partition: 'one',
}

const hourMs = 3_600_000
/** By number, not by age: one call under a clock that stood ahead must not wipe out the day. */
const hoursKept = 400

const hourOf = (iso: string): string => iso.slice(0, iso.indexOf('T') + 3)

/** Which sum is meant. */
interface SpendKey {
  readonly purpose: GatewayPurpose
  /** Time of the claim, ISO. */
  readonly at: string
}

/** What is added to it. */
export interface SpendChange {
  readonly requests?: number
  readonly heldMicrousd?: number
  readonly settledMicrousd?: number
}

const forgetOld = (tx: Tx): void => {
  const ids = tx.all(spendCollection).map(({ id }) => id)
  for (const id of ids.slice(0, Math.max(0, ids.length - hoursKept))) {
    tx.remove(spendCollection, id)
  }
}

const idOf = ({ purpose, at }: SpendKey): string => `${hourOf(at)}#${purpose}`

/** Whether the sums of that hour are still kept. */
export const hasSpend = (view: Pick<View, 'get'>, key: SpendKey): boolean =>
  view.get(spendCollection, idOf(key)) !== undefined

const plus = (sum: number, change = 0): number => Math.max(0, sum + change)

/** Adds to the sum of an hour, in the caller's record. */
export const addSpend = (tx: Tx, { purpose, at }: SpendKey, change: SpendChange): void => {
  const hour = hourOf(at)
  const id = idOf({ purpose, at })
  const known = tx.get(spendCollection, id)
  if (known === undefined) forgetOld(tx)
  const before = known ?? { hour, purpose, requests: 0, held_microusd: 0, settled_microusd: 0 }
  tx.put(spendCollection, id, {
    ...before,
    requests: plus(before.requests, change.requests),
    held_microusd: plus(before.held_microusd, change.heldMicrousd),
    settled_microusd: plus(before.settled_microusd, change.settledMicrousd),
  })
}

/** What was spent since a time, whole hours: the first one counts whole. */
interface SpendSum {
  readonly requests: number
  readonly heldMicrousd: number
  readonly settledMicrousd: number
}

/** Sums of these purposes over the 24 hours before `nowMs`, and the hour in which they begin. */
export const spendOfDay = (
  view: View, purposes: ReadonlySet<GatewayPurpose>, nowMs: number,
): SpendSum => {
  const since = hourOf(isoFromMs(nowMs - 24 * hourMs))
  const rows = view.all(spendCollection).map(({ doc }) => doc)
    .filter((row) => row.hour >= since && purposes.has(row.purpose))
  const sum = (pick: (row: SpendHour) => number): number =>
    rows.reduce((total, row) => total + pick(row), 0)
  return {
    requests: sum((row) => row.requests),
    heldMicrousd: sum((row) => row.held_microusd),
    settledMicrousd: sum((row) => row.settled_microusd),
  }
}

/**
 * From when on all sums of what was claimed since then are there, ISO: those of long ago are not
 * kept. Null where nothing since then was forgotten.
 */
export const spendKnownSince = (view: View, since: string): string | null => {
  const rows = view.all(spendCollection)
  const [oldest] = rows
  if (oldest === undefined || rows.length < hoursKept) return null
  // Of its hour others may have been forgotten.
  const known = isoFromMs(msFromIso(`${oldest.doc.hour}:00:00.000Z`) + hourMs)
  return known > since ? known : null
}

/** What was claimed in one hour. */
export interface SpendOfHour extends Omit<SpendSum, 'requests'> {
  /** Beginning of the hour, ISO. */
  readonly at: string
}

/**
 * Hours that begin within a period, half-open, in which calls of these purposes were claimed,
 * oldest first: each is of one of two neighbouring periods. Sums of long ago are not kept, so their
 * hours are not there.
 */
export const spendByHour = (
  view: View, purposes: ReadonlySet<GatewayPurpose>,
  { since, until }: { readonly since: string; readonly until: string },
): SpendOfHour[] => {
  const hours = new Map<string, SpendOfHour>()
  for (const { doc } of view.all(spendCollection)) {
    const at = `${doc.hour}:00:00.000Z`
    if (at < since || at >= until || !purposes.has(doc.purpose)) continue
    const before = hours.get(at)
    hours.set(at, {
      at,
      heldMicrousd: plus(doc.held_microusd, before?.heldMicrousd),
      settledMicrousd: plus(doc.settled_microusd, before?.settledMicrousd),
    })
  }
  return [...hours.values()].filter((one) => one.heldMicrousd + one.settledMicrousd > 0)
    .sort((a, b) => (a.at < b.at ? -1 : 1))
}
