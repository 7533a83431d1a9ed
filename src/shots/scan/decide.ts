/**
 * What becomes of one file that was read: a pure rule over the rows that were loaded for it. Same
 * bytes are a duplicate, whatever they look like; like bytes are never more than a suppression by
 * the visual-run gate, which compares with the current representative of the folder and nothing
 * else (S-069 to S-076).
 */
import { shotLimits } from '../constants.js'
import { rowClassificationNow, type CurrentFacts } from '../observations/as-of-now.js'
import type {
  FileName, Observation, SeenFile, VisualRun,
} from '../observations/observation-rows.js'
import type { IgnoredHere } from '../source/ignored.js'
import { capturedAtOf } from './captured-at.js'
import { gate, type GateDecision } from './gate.js'
import { needsReading, standsForOthers } from './needs-reading.js'
import { gapBefore, quarterOf, seenAgain } from './run.js'
import { isSameFile } from './same-file.js'
import type { Representative, TakenFile } from './types.js'

/** The rows that a decision rests on. */
export interface Loaded {
  readonly folderDigest: string
  /** What the file's own row says; it may have been written since the walk by another scan. */
  readonly seen: SeenFile | undefined
  /** The observation that this row leads to. */
  readonly seenObservation: Observation | undefined
  /** Observations of the same bytes, of any folder. */
  readonly twins: readonly Observation[]
  /** Observations that the same bytes were suppressed for, newest last. */
  readonly standIns: readonly Observation[]
  readonly representative: Representative | null
  readonly now: CurrentFacts
  readonly refreshMs: number
  /** What does not count of images of the file's size. */
  readonly ignored: IgnoredHere | null
}

/** What becomes of the file. */
export type Decision =
  /** Another scan took this very file in since the walk. */
  | { readonly kind: 'seen' }
  /** What its row says still holds; only the file's own facts are new. Nothing is counted. */
  | { readonly kind: 'again'; readonly reason: string; readonly changed: Observation | null }
  | { readonly kind: 'rejected'; readonly reason: string }
  /** `changed`: the observation with this path, or found again; null where nothing changes. */
  | {
    readonly kind: 'duplicate'
    readonly reason: string
    readonly observation: Observation
    readonly changed: Observation | null
  }
  | GateDecision<Observation>

/**
 * Rows of the scanned folder count unless archived. Of others those that were analysed: one that
 * was not is stale as soon as its folder is not in force, and would hide the image for good.
 */
const countsAsTwin = (row: Observation, { folderDigest, now }: Loaded): boolean => {
  if (row.archived_at !== null) return false
  return row.root_digest === folderDigest
    || (row.payload !== null && rowClassificationNow(row, now) === null)
}

const twinOf = (loaded: Loaded): Observation | undefined => {
  const twins = loaded.twins.filter((row) => countsAsTwin(row, loaded))
  return twins.find((row) => row.root_digest === loaded.folderDigest) ?? twins[0]
}

const sameName = (a: FileName, b: FileName): boolean =>
  a.text === b.text && a.bytes_base64 === b.bytes_base64

/** The paths with this one among them; the oldest is kept, the last one makes room. */
const pathsWith = (row: Observation, taken: TakenFile): Observation['paths'] => {
  if (row.paths.some(({ name }) => sameName(name, taken.name))) return row.paths
  const kept = row.paths.slice(0, shotLimits.pathsPerObservationMax - 1)
  return [...kept, { name: taken.name, modified_at: taken.capturedAt }]
}

/**
 * A new file of a picture that stands: what stands still goes on being recorded. Behind a gap
 * nobody saw what was on the screen.
 */
const stillStanding = (
  row: Observation, taken: TakenFile, { seen, representative, refreshMs }: Loaded,
): Observation => {
  const stands = representative?.row.observation_id === row.observation_id
  const goesOn = gapBefore(row, taken) < refreshMs
  return stands && seen === undefined && goesOn ? seenAgain(row, taken) : row
}

const duplicateOf = (row: Observation, taken: TakenFile, loaded: Loaded): Decision => {
  const kind = 'duplicate'
  // Names are told below a row's own folder: another folder's row does not learn this one.
  if (row.root_digest !== loaded.folderDigest) {
    return { kind, reason: 'same_bytes_elsewhere', observation: row, changed: null }
  }
  const paths = pathsWith(row, taken)
  const found = row.classification === 'source_missing'
  const standing = stillStanding(row, taken, loaded)
  const changed = found || paths !== row.paths || standing !== row
    ? { ...standing, paths, classification: found ? null : row.classification } : null
  return { kind, reason: found ? 'found_again' : 'same_bytes', observation: row, changed }
}

/** Whether a file holds what it held when its row was written; an unread one by its facts. */
const sameContent = (seen: SeenFile, taken: TakenFile): boolean =>
  seen.sha256 === taken.sha256
  && (seen.sha256 !== null
    || (seen.bytes === taken.bytes && seen.modified_ns === taken.modifiedNs))

type Counts = Readonly<Record<string, number>>

/** One less under a key; a key without a count is left out. */
const lessOne = (counts: Counts, key: string): Record<string, number> => {
  const { [key]: count = 0, ...others } = counts
  return count > 1 ? { ...others, [key]: count - 1 } : others
}

/** A file that was touched since it was counted takes from the run's last quarter. */
const quartersWithout = (
  run: VisualRun, capturedAt: string,
): Pick<VisualRun, 'quarter_counts'> => {
  const counts = run.quarter_counts
  if (counts === undefined) return {}
  const quarter = quarterOf(capturedAt)
  const last = Object.keys(counts).sort().at(-1) ?? quarter
  return { quarter_counts: lessOne(counts, counts[quarter] === undefined ? last : quarter) }
}

/** An observation whose run no longer counts a file: its picture came to stand elsewhere. */
const without = (row: Observation, seen: SeenFile): Observation => {
  const run = row.screenshot_visual_run
  if (run === null || run.suppressed_count <= 1) return { ...row, screenshot_visual_run: null }
  const { latest_suppressed_path: latest, reason_counts: reasons } = run
  return {
    ...row,
    screenshot_visual_run: {
      ...run,
      suppressed_count: run.suppressed_count - 1,
      latest_suppressed_path: latest === seen.name.text ? null : latest,
      reason_counts: lessOne(reasons, seen.reason ?? ''),
      ...quartersWithout(run, capturedAtOf(BigInt(seen.modified_ns))),
    },
  }
}

/**
 * The observation whose run a file leaves when it becomes something else with the content that was
 * counted there, without it; null where there is none. A picture is counted once.
 */
export const runLeft = (
  taken: TakenFile, { seen, seenObservation }: Loaded, decision: Decision,
): Observation | null => {
  if (decision.kind === 'seen' || decision.kind === 'again') return null
  if (seen === undefined || seenObservation === undefined) return null
  const counted = seen.outcome === 'suppressed' && sameContent(seen, taken)
  return counted ? without(seenObservation, seen) : null
}

/** What its own row says of a file whose content is still the same; null: it is decided anew. */
const asBefore = (taken: TakenFile, { seen, seenObservation }: Loaded): Decision | null => {
  if (seen === undefined || !sameContent(seen, taken)) return null
  if (needsReading(seen, seenObservation)) return null
  if (isSameFile(seen, taken)) return { kind: 'seen' }
  const holds = seen.outcome === 'suppressed'
    || (seen.outcome === 'rejected' && taken.refused === seen.reason)
  return holds ? { kind: 'again', reason: 'same_bytes', changed: null } : null
}

/** A known file that leads where it led is not counted as one more duplicate. */
const countedOnce = (decision: Decision, taken: TakenFile, { seen }: Loaded): Decision => {
  if (decision.kind !== 'duplicate' || decision.reason === 'found_again') return decision
  if (seen === undefined || seen.outcome === 'suppressed') return decision
  const { reason, observation, changed } = decision
  const known = sameContent(seen, taken) && seen.observation_id === observation.observation_id
  return known ? { kind: 'again', reason, changed } : decision
}

/** Whether what was held back for a row is so still: nothing was ignored then, or the same. */
const stillIgnored = (row: Observation, { ignored }: Loaded): boolean =>
  row.ignored_sha256 === undefined || row.ignored_sha256 === ignored?.sha256

/** What the bytes were suppressed for before, while it still stands for them. */
const standInOf = (loaded: Loaded): Observation | undefined => loaded.standIns.findLast((row) =>
  countsAsTwin(row, loaded) && standsForOthers(row) && stillIgnored(row, loaded))

/** They come again: whatever lies between, they are what they were, and nothing to pay for. */
const asSuppressed = (observation: Observation, taken: TakenFile, loaded: Loaded): Decision => {
  const standing = stillStanding(observation, taken, loaded)
  const changed = standing === observation ? null : standing
  return { kind: 'duplicate', reason: 'same_bytes_suppressed', observation, changed }
}

/** Decides about one file. */
export const decide = (taken: TakenFile, loaded: Loaded): Decision => {
  const before = asBefore(taken, loaded)
  if (before !== null) return before
  if (taken.refused !== null) return { kind: 'rejected', reason: taken.refused }
  const twin = twinOf(loaded)
  if (twin !== undefined) {
    return countedOnce(duplicateOf(twin, taken, loaded), taken, loaded)
  }
  const standIn = standInOf(loaded)
  return standIn === undefined
    ? gate(taken, loaded.representative, loaded.refreshMs, loaded.ignored)
    : countedOnce(asSuppressed(standIn, taken, loaded), taken, loaded)
}
