/**
 * The one place that writes observations. Beside each document go the counters that status reads,
 * the calendar by which work and reports are found, and the folder's own facts, all in the caller's
 * one record; nothing else writes those rows, so they cannot drift apart.
 */
import { digestOf } from '../../base/canonical.js'
import type { Tx, View } from '../../state/types.js'
import { shotLimits } from '../constants.js'
import { folderDigestOf } from '../source/folder-digest.js'
import {
  shotCollections as c, type FileName, type Observation, type ShotCount, type ShotFolder,
} from './rows.js'

/** Id of a file's row: folder and name bytes, so that equal text of other bytes is another file. */
export const fileIdOf = (folderDigest: string, name: FileName): string =>
  digestOf({ root: folderDigest, name: name.text, bytes: name.bytes_base64 })

/** The hour of capture by which an observation is found. */
export const hourOf = (capturedAt: string): string =>
  capturedAt.slice(0, capturedAt.indexOf('T') + 3)

/** The facts that a counter row is about. */
export type CountKey = Omit<ShotCount, 'count'>

/** What a row is counted under. */
export const countKeyOf = (row: Observation): CountKey => ({
  root_digest: row.root_digest,
  analysis_status: row.analysis_status,
  classification: row.classification,
  archived: row.archived_at !== null,
  model: row.payload?.model ?? null,
  prompt_version: row.payload?.prompt_version ?? null,
  schema_version: row.payload?.schema_version ?? null,
})

/** Id of a counter row. */
export const countIdOf = (key: CountKey): string => digestOf(key)

const addCount = (tx: Tx, row: Observation, by: 1 | -1): void => {
  const key = countKeyOf(row)
  const id = countIdOf(key)
  const count = (tx.get(c.counts, id)?.count ?? 0) + by
  if (count > 0) tx.put(c.counts, id, { ...key, count })
  else tx.remove(c.counts, id)
}

const pageId = (hour: string, page: number): string => `${hour}#${page}`

/** Adds a new observation to the last page of its hour, or to a new page when that is full. */
const addToCalendar = (tx: Tx, row: Observation): void => {
  const hour = hourOf(row.captured_at)
  const known = tx.get(c.hours, hour) ?? { hour, pages: 1, last_page_ids: 0, statuses: {} }
  const full = known.last_page_ids >= shotLimits.hourPageIdsMax
  const pages = full ? known.pages + 1 : known.pages
  const id = pageId(hour, pages - 1)
  const ids = [...(tx.get(c.hourPages, id)?.ids ?? []), row.observation_id]
  tx.put(c.hourPages, id, { ids })
  tx.put(c.hours, hour, { ...known, pages, last_page_ids: ids.length })
}

const addHourStatus = (tx: Tx, row: Observation, by: 1 | -1): void => {
  if (row.archived_at !== null) return
  const id = hourOf(row.captured_at)
  const hour = tx.get(c.hours, id)
  if (hour === undefined) return
  const count = (hour.statuses[row.analysis_status] ?? 0) + by
  const statuses = { ...hour.statuses, [row.analysis_status]: count }
  if (count <= 0) delete statuses[row.analysis_status]
  tx.put(c.hours, id, { ...hour, statuses })
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
  tx.put(c.folders, folder.root_digest, {
    ...folder,
    observations: folder.observations + (before === undefined ? 1 : 0),
    visual_runs: folder.visual_runs + hasRun(row) - hasRun(before),
    suppressed: folder.suppressed + suppressedOf(row) - suppressedOf(before),
    latest_captured_at: later(folder.latest_captured_at, row.captured_at),
    latest_analyzed_at: later(folder.latest_analyzed_at, row.payload?.analyzed_at ?? null),
    archived: folder.archived + archived(row) - archived(before),
  })
}

const addTwin = (tx: Tx, row: Observation): void => {
  const known = tx.get(c.contents, row.sha256)
  const twin = { observation_id: row.observation_id, root_digest: row.root_digest }
  tx.put(c.contents, row.sha256, {
    ...known, sha256: row.sha256, observations: [...(known?.observations ?? []), twin],
  })
}

/** Notes that these bytes were suppressed for an observation: they never get a row of their own. */
export const noteSuppressed = (tx: Tx, sha256: string, observationId: string): void => {
  const known = tx.get(c.contents, sha256)
  const others = (known?.suppressed_for ?? []).filter((id) => id !== observationId)
  tx.put(c.contents, sha256, {
    sha256, observations: known?.observations ?? [],
    suppressed_for: [...others, observationId].slice(-shotLimits.pathsPerObservationMax),
  })
}

/**
 * Writes an observation, new or changed, and everything that is counted from it. Hash, folder,
 * capture time and id of a known one never change (S-161): a changed one is a defect and throws.
 */
export const putObservation = (tx: Tx, now: string, row: Observation): void => {
  const before = tx.get(c.observations, row.observation_id)
  if (before === undefined) {
    addTwin(tx, row)
    addToCalendar(tx, row)
  } else {
    const same = before.sha256 === row.sha256 && before.captured_at === row.captured_at
      && before.root === row.root
    if (!same) throw new TypeError('hash, folder and capture time of an observation never change')
    addCount(tx, before, -1)
    addHourStatus(tx, before, -1)
  }
  tx.put(c.observations, row.observation_id, row)
  addCount(tx, row, 1)
  addHourStatus(tx, row, 1)
  updateFolder(tx, now, before, row)
}
