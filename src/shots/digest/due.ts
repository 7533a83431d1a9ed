/**
 * Hours in which an analysis came about or went away since the digest job last looked: an image may
 * be analysed long after its day, and nobody walks all that there ever was to find its window.
 */
import * as v from 'valibot'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { count, iso } from '../../base/schema.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'

/**
 * `changes` is the number of the record that noted the last change, so that whoever has looked
 * drops no later one with it, also where another one has dropped the hour meanwhile.
 */
const dueShape = v.strictObject({ hour: iso, changes: count })

/** By the beginning of an hour of capture, ISO: so ids are in order of time. */
export const digestDueCollection: CollectionSpec<v.InferOutput<typeof dueShape>> = {
  name: 'shot_digest_due', schema: dueShape, partition: 'one',
}

const hourMs = 3_600_000

/** Notes that what may be digested of a moment has changed, in the record that changes it. */
export const noteDigestDue = (tx: Tx, capturedAt: string): void => {
  const hour = isoFromMs(Math.floor(msFromIso(capturedAt) / hourMs) * hourMs)
  tx.put(digestDueCollection, hour, { hour, changes: tx.sequence + 1 })
}

/** An hour that is to be looked at. */
export interface DueHour {
  readonly since: string
  readonly until: string
  readonly changes: number
}

/** The newest hours that end at or before a moment, newest first, at most so many. */
export const dueHoursBefore = (view: View, before: string, most: number): readonly DueHour[] => {
  const hours: DueHour[] = []
  const found = view.range(digestDueCollection, { reverse: true })
  const beforeMs = msFromIso(before)
  for (const { id, doc: { changes } } of found) {
    const untilMs = msFromIso(id) + hourMs
    const until = isoFromMs(untilMs)
    // As numbers: the text of what ends behind the year 9999 comes before any other.
    if (untilMs <= beforeMs) hours.push({ since: id, until, changes })
    if (hours.length === most) break
  }
  return hours
}

/** Forgets hours whose windows are as they should be, but for one that has changed since. */
export const dropDigestDue = (tx: Tx, hours: readonly DueHour[]): void => {
  for (const { since, changes } of hours) {
    if (tx.get(digestDueCollection, since)?.changes === changes) {
      tx.remove(digestDueCollection, since)
    }
  }
}
