/**
 * What becomes of one file that was read: a pure rule over the rows that were loaded for it. Same
 * bytes are a duplicate, whatever they look like; like bytes are never more than a suppression by
 * the visual-run gate, which compares with the current representative of the root and nothing else
 * (S-069 to S-076).
 */
import { compareFingerprints, type Comparison } from '../../images/fingerprint.js'
import { visualLimit } from '../../images/limits.js'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { shotLimits } from '../constants.js'
import { rowClassificationNow, type CurrentFacts } from '../derive.js'
import { fileNameOfRow } from '../file-name.js'
import type { FileName, Observation, SeenFile, VisualRun } from '../rows.js'
import type { Representative, TakenFile } from './types.js'

/** The rows that a decision rests on. */
export interface Loaded {
  readonly rootDigest: string
  /** What the file's own row says; it may have been written since the walk by another scan. */
  readonly seen: SeenFile | undefined
  /** The observation that this row leads to. */
  readonly seenObservation: Observation | undefined
  /** Observations of the same bytes, of any root. */
  readonly twins: readonly Observation[]
  readonly representative: Representative | null
  readonly now: CurrentFacts
  readonly refreshMs: number
}

/** The cell in which two pictures differ most. */
type Cell = NonNullable<Comparison['cell']>

/** What becomes of the file. */
export type Decision =
  /** Another scan took this very file in since the walk. */
  | { readonly kind: 'seen' }
  | { readonly kind: 'rejected'; readonly reason: string }
  /** `changed`: the observation with this path, or found again; null where nothing changes. */
  | {
    readonly kind: 'duplicate'
    readonly reason: string
    readonly observation: Observation
    readonly changed: Observation | null
  }
  | {
    readonly kind: 'suppressed'
    readonly reason: string
    readonly measure: number
    readonly cell: Cell | null
    readonly changed: Observation
  }
  /** `reason`: why the gate did not hold it back. */
  | {
    readonly kind: 'ingested'
    readonly reason: string
    readonly measure: number | null
    readonly cell: Cell | null
  }

/** Whether a file is still exactly the one that a row is about. */
export const isSameFile = (
  row: Pick<SeenFile, 'bytes' | 'modified_ns' | 'inode'>,
  file: Pick<TakenFile, 'bytes' | 'modifiedNs' | 'inode'>,
): boolean =>
  row.bytes === file.bytes && row.modified_ns === file.modifiedNs && row.inode === file.inode

/** Whether a known file must be read again: its observation was missed there, or archived. */
export const needsReading = (observation: Observation | undefined): boolean =>
  observation !== undefined
  && (observation.archived_at !== null || observation.classification === 'source_missing')

/** Rows of the scanned root count unless archived; of others only those that are still in force. */
const countsAsTwin = (row: Observation, { rootDigest, now }: Loaded): boolean => {
  if (row.archived_at !== null) return false
  return row.root_digest === rootDigest || rowClassificationNow(row, now) === null
}

const twinOf = (loaded: Loaded): Observation | undefined => {
  const twins = loaded.twins.filter((row) => countsAsTwin(row, loaded))
  return twins.find((row) => row.root_digest === loaded.rootDigest) ?? twins[0]
}

const sameName = (a: FileName, b: FileName): boolean =>
  a.text === b.text && a.bytes_base64 === b.bytes_base64

/** The paths with this one among them; the oldest is kept, the last one makes room. */
const pathsWith = (row: Observation, taken: TakenFile): Observation['paths'] => {
  if (row.paths.some(({ name }) => sameName(name, taken.name))) return row.paths
  const kept = row.paths.slice(0, shotLimits.pathsPerObservationMax - 1)
  return [...kept, { name: taken.name, modified_at: taken.capturedAt }]
}

const duplicateOf = (row: Observation, taken: TakenFile, rootDigest: string): Decision => {
  const kind = 'duplicate'
  // Names are told below a row's own root: another root's row does not learn this one.
  if (row.root_digest !== rootDigest) {
    return { kind, reason: 'same_bytes_elsewhere', observation: row, changed: null }
  }
  const paths = pathsWith(row, taken)
  const found = row.classification === 'source_missing'
  const changed = found || paths !== row.paths
    ? { ...row, paths, classification: found ? null : row.classification } : null
  return { kind, reason: found ? 'found_again' : 'same_bytes', observation: row, changed }
}

const runOf = (row: Observation): VisualRun =>
  row.screenshot_visual_run ?? {
    representative_path: fileNameOfRow(row).text,
    first_seen: row.captured_at,
    last_seen: row.captured_at,
    suppressed_count: 0,
    latest_suppressed_path: null,
    reason_counts: {},
    quarter_counts: {},
  }

const quarterMs = 900_000

/** Counts an image in its quarter hour; a run of an earlier version stays without them. */
const quartersWith = (run: VisualRun, capturedAt: string): Pick<VisualRun, 'quarter_counts'> => {
  const counts = run.quarter_counts
  if (counts === undefined) return {}
  const quarter = isoFromMs(Math.floor(msFromIso(capturedAt) / quarterMs) * quarterMs)
  return { quarter_counts: { ...counts, [quarter]: (counts[quarter] ?? 0) + 1 } }
}

const earlier = (a: string, b: string): string => (a < b ? a : b)
const later = (a: string, b: string): string => (a > b ? a : b)

/** A clock that went backwards widens the run at its other end; it never turns it round. */
const extended = (row: Observation, taken: TakenFile, reason: string): Observation => {
  const run = runOf(row)
  return {
    ...row,
    screenshot_visual_run: {
      ...run,
      first_seen: earlier(run.first_seen, taken.capturedAt),
      last_seen: later(run.last_seen, taken.capturedAt),
      suppressed_count: run.suppressed_count + 1,
      latest_suppressed_path: taken.name.text,
      reason_counts: { ...run.reason_counts, [reason]: (run.reason_counts[reason] ?? 0) + 1 },
      ...quartersWith(run, taken.capturedAt),
    },
  }
}

/** How long the run would be with this image in it, milliseconds. */
const lengthWith = (row: Observation, taken: TakenFile): number => {
  const run = runOf(row)
  return msFromIso(later(run.last_seen, taken.capturedAt))
    - msFromIso(earlier(run.first_seen, taken.capturedAt))
}

const fresh = (
  reason: string, measure: number | null = null, cell: Cell | null = null,
): Decision => ({ kind: 'ingested', reason, measure, cell })

const gate = (taken: TakenFile, loaded: Loaded): Decision => {
  const { representative, refreshMs } = loaded
  if (representative === null) return fresh('first_image')
  const { row, fingerprint } = representative
  if (taken.fingerprint === null) return fresh('not_decodable')
  if (row.format !== taken.format) return fresh('other_format')
  if (row.width !== taken.width || row.height !== taken.height) return fresh('other_dimensions')
  if (fingerprint === null) return fresh('representative_not_decodable')
  const { comparable, measure, cell } = compareFingerprints(fingerprint, taken.fingerprint)
  if (!comparable) return fresh('not_comparable')
  if (measure > visualLimit) return fresh('looks_different', measure, cell)
  if (lengthWith(row, taken) >= refreshMs) return fresh('run_refreshed', measure, cell)
  const reason = measure === 0 ? 'same_picture' : 'looks_alike'
  return { kind: 'suppressed', reason, measure, cell, changed: extended(row, taken, reason) }
}

/** Decides about one file. */
export const decide = (taken: TakenFile, loaded: Loaded): Decision => {
  const { seen, seenObservation, rootDigest } = loaded
  const settled = seen !== undefined && isSameFile(seen, taken) && seen.sha256 === taken.sha256
  if (settled && !needsReading(seenObservation)) return { kind: 'seen' }
  if (taken.refused !== null) return { kind: 'rejected', reason: taken.refused }
  const twin = twinOf(loaded)
  return twin === undefined ? gate(taken, loaded) : duplicateOf(twin, taken, rootDigest)
}
