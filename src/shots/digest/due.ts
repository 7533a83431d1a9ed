/**
 * Hours in which an analysis came about or went away since the digest job last looked: an image may
 * be analysed long after its day, and nobody walks all that there ever was to find its window.
 */
import * as v from 'valibot'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { iso } from '../../base/fields.js'
import type { CollectionSpec, Tx, View } from '../../state/types.js'

const dueShape = v.strictObject({ hour: iso })

/** By the beginning of an hour of capture, ISO: so ids are in order of time. */
export const digestDueCollection: CollectionSpec<v.InferOutput<typeof dueShape>> = {
  name: 'shot_digest_due', schema: dueShape, partition: 'one',
}

const hourMs = 3_600_000

/** Notes that what may be digested of a moment has changed, in the record that changes it. */
export const noteDigestDue = (tx: Tx, capturedAt: string): void => {
  const hour = isoFromMs(Math.floor(msFromIso(capturedAt) / hourMs) * hourMs)
  if (tx.get(digestDueCollection, hour) === undefined) tx.put(digestDueCollection, hour, { hour })
}

/** An hour that is to be looked at. */
export interface DueHour {
  readonly since: string
  readonly until: string
}

/** The newest hours that end at or before a moment, newest first, at most so many. */
export const dueHoursBefore = (view: View, before: string, most: number): readonly DueHour[] => {
  const hours: DueHour[] = []
  const found = view.range(digestDueCollection, { reverse: true })
  for (const { id } of found) {
    const until = isoFromMs(msFromIso(id) + hourMs)
    if (until <= before) hours.push({ since: id, until })
    if (hours.length === most) break
  }
  return hours
}

/** Forgets hours whose windows are as they should be. */
export const dropDigestDue = (tx: Tx, hours: readonly DueHour[]): void => {
  for (const { since } of hours) {
    if (tx.get(digestDueCollection, since) !== undefined) tx.remove(digestDueCollection, since)
  }
}
