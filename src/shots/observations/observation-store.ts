/**
 * The one place that writes observations. Beside each document go the counters that status reads
 * and that tell which groups there are, and the folder's own facts, all in the caller's
 * one record; nothing else writes those rows, so they cannot drift apart.
 */
import { digestOf } from '../../base/canonical.js'
import type { Tx, View } from '../../state/types.js'
import { shotLimits } from '../constants.js'
import { noteDigestDue } from '../digest/due.js'
import { folderDigestOf } from '../source/folder-digest.js'
import {
  contentIdOf, countIdOf, countKeyOf, shotCollections as c, type FileName, type Observation,
  type ShotFolder,
} from './observation-rows.js'
import { isSource } from '../texts/sources.js'
import { isHeld } from './unsettled.js'
import { withSmallChange } from './small-changes.js'

/** Id of a file's row: folder and name bytes, so that equal text of other bytes is another file. */
export const fileIdOf = (folderDigest: string, name: FileName): string =>
  digestOf({ root: folderDigest, name: name.text, bytes: name.bytes_base64 })

const addCount = (tx: Tx, row: Observation, by: 1 | -1): void => {
  const key = countKeyOf(row)
  const id = countIdOf(key)
  const count = (tx.get(c.counts, id)?.count ?? 0) + by
  if (count > 0) tx.put(c.counts, id, { ...key, count })
  else tx.remove(c.counts, id)
}

const later = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b > a) ? b : a

const emptyFolder = (folder: string, now: string): ShotFolder => ({
  root: folder, root_digest: folderDigestOf(folder), representative: null,
  observations: 0, visual_runs: 0, suppressed: 0, duplicates: 0, rejected: 0,
  latest_captured_at: null, latest_analyzed_at: null, archived: 0, last_scan: null,
  first_seen_at: now,
})

/** The row of a folder; a fresh one (not yet written) when it was never scanned. */
export const folderRow = (view: View, folder: string, now: string): ShotFolder =>
  view.get(c.folders, folderDigestOf(folder)) ?? emptyFolder(folder, now)

const suppressedOf = (row: Observation | undefined): number =>
  row?.screenshot_visual_run?.suppressed_count ?? 0

const hasRun = (row: Observation | undefined): number => (suppressedOf(row) > 0 ? 1 : 0)

const updateFolder = (
  tx: Tx, now: string, before: Observation | undefined, row: Observation,
): void => {
  const folder = folderRow(tx, row.root, now)
  const archived = (one: Observation | undefined): number =>
    one !== undefined && one.archived_at !== null ? 1 : 0
  const small = before === undefined
    ? withSmallChange(folder.small_changes, row) : folder.small_changes
  tx.put(c.folders, folder.root_digest, {
    ...folder,
    ...(small === undefined ? {} : { small_changes: small }),
    observations: folder.observations + (before === undefined ? 1 : 0),
    visual_runs: folder.visual_runs + hasRun(row) - hasRun(before),
    suppressed: folder.suppressed + suppressedOf(row) - suppressedOf(before),
    latest_captured_at: later(folder.latest_captured_at, row.captured_at),
    latest_analyzed_at: later(folder.latest_analyzed_at, row.payload?.analyzed_at ?? null),
    archived: folder.archived + archived(row) - archived(before),
  })
}

const addTwin = (tx: Tx, row: Observation): void => {
  const content = contentIdOf(row)
  const known = tx.get(c.contents, content)
  const twin = { observation_id: row.observation_id, root_digest: row.root_digest }
  tx.put(c.contents, content, {
    ...known, sha256: content, observations: [...(known?.observations ?? []), twin],
  })
}

/**
 * Notes that some bytes were suppressed for an observation: they never get a row of their own.
 * `sha256`: what `contentIdOf` makes of them.
 */
export const noteSuppressed = (tx: Tx, sha256: string, observationId: string): void => {
  const known = tx.get(c.contents, sha256)
  const others = (known?.suppressed_for ?? []).filter((id) => id !== observationId)
  tx.put(c.contents, sha256, {
    sha256, observations: known?.observations ?? [],
    suppressed_for: [...others, observationId].slice(-shotLimits.pathsPerObservationMax),
  })
}

/** What a digest of its window depends on; null while none is made from it. */
const digestedFrom = (row: Observation | undefined): string | null =>
  (row !== undefined && isSource(row) ? row.payload.sha256 : null)

/** A picture that is not held any more has none that stands for it. */
const withoutStander = ({ stood_for_by: by, ...row }: Observation): Observation =>
  (by !== undefined && isHeld(row) ? { ...row, stood_for_by: by } : row)

/**
 * Writes an observation, new or changed, and everything that is counted from it. Hash, folder,
 * capture time and id of a known one never change (S-161): a changed one is a defect and throws.
 */
export const putObservation = (tx: Tx, now: string, changed: Observation): void => {
  const row = withoutStander(changed)
  const before = tx.get(c.observations, row.observation_id)
  if (before === undefined) {
    addTwin(tx, row)
    addCount(tx, row, 1)
  } else {
    const same = before.sha256 === row.sha256 && before.captured_at === row.captured_at
      && before.root === row.root
    if (!same) throw new TypeError('hash, folder and capture time of an observation never change')
    if (countIdOf(countKeyOf(before)) !== countIdOf(countKeyOf(row))) {
      addCount(tx, before, -1)
      addCount(tx, row, 1)
    }
  }
  tx.put(c.observations, row.observation_id, row)
  if (digestedFrom(before) !== digestedFrom(row)) noteDigestDue(tx, row.captured_at)
  updateFolder(tx, now, before, row)
}
