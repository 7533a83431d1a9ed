/**
 * Rules of `state check` over the screenshot source: everything that is counted or indexed from
 * observations is counted again, receipts chain, and what a row refers to is there.
 */
import { canonicalJson } from '../base/canonical.js'
import type { Problem } from '../governance/context.js'
import { collections } from '../governance/rows.js'
import type { View } from '../state/types.js'
import { shotLabels } from './constants.js'
import { fileIdOf } from './observations/observation-store.js'
import { folderDigestOf } from './source/folder-digest.js'
import { verifyReceipts } from './receipts/verify.js'
import {
  countIdOf, countKeyOf, shotCollections as c, type Observation, type ShotCount, type ShotFolder,
} from './observations/rows.js'

type Found = (code: string, subject: string, text: string) => void

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)

const rowsOf = (view: View): Observation[] => view.all(c.observations).map(({ doc }) => doc)

const verifyRows = (view: View, found: Found): void => {
  for (const { id, doc } of view.all(c.observations)) {
    if (id !== doc.observation_id) {
      found('observation_id_mismatch', id, 'An observation lies under another id.')
    }
    if (doc.root_digest !== folderDigestOf(doc.root)) {
      found('observation_root_mismatch', id, 'An observation names a folder that is not its own.')
    }
    if (doc.analysis_status === 'succeeded' && doc.payload === null) {
      found('observation_without_payload', id, 'A succeeded observation has no analysis.')
    }
    const { payload } = doc
    if (payload === null) continue
    const artifact = view.get(collections.artifacts, payload.artifact_id)
    const right = artifact?.label === shotLabels.payload && artifact.adopted
      && artifact.ref.sha256 === payload.sha256
    if (!right) found('payload_missing', id, 'The analysis that an observation names is not there.')
  }
}

/** Counters by id, counted again. */
const countsOf = (rows: readonly Observation[]): Map<string, ShotCount> => {
  const counts = new Map<string, ShotCount>()
  for (const row of rows) {
    const key = countKeyOf(row)
    const id = countIdOf(key)
    counts.set(id, { ...key, count: (counts.get(id)?.count ?? 0) + 1 })
  }
  return counts
}

const verifyCounts = (view: View, rows: readonly Observation[], found: Found): void => {
  const counts = countsOf(rows)
  const stored = view.all(c.counts)
  const right = stored.length === counts.size
    && stored.every(({ id, doc }) => same(counts.get(id) ?? null, doc))
  if (!right) found('shot_counts_differ', 'counts', 'Counters disagree with the observations.')
}

const grouped = (
  rows: readonly Observation[], keyOf: (row: Observation) => string,
): Map<string, Observation[]> => {
  const groups = new Map<string, Observation[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

const verifyContents = (view: View, rows: readonly Observation[], found: Found): void => {
  const twins = grouped(rows, (row) => row.sha256)
  const stored = view.all(c.contents)
  const observed = stored.filter(({ doc }) => doc.observations.length > 0)
  const right = observed.length === twins.size && stored.every(({ id, doc }) => {
    const expected = (twins.get(id) ?? []).map((row) => row.observation_id).sort()
    const ids = doc.observations.map((one) => one.observation_id).sort()
    const standIns = doc.suppressed_for ?? []
    return doc.sha256 === id && same(ids, expected) && ids.length + standIns.length > 0
      && standIns.every((one) => view.get(c.observations, one) !== undefined)
      && doc.observations.every((one) =>
        view.get(c.observations, one.observation_id)?.root_digest === one.root_digest)
  })
  if (!right) found('shot_contents_differ', 'contents', 'Contents disagree with the observations.')
}

const newest = (times: readonly (string | null | undefined)[]): string | null =>
  times.filter((one) => typeof one === 'string').sort().at(-1) ?? null

type FolderFacts = Pick<
  ShotFolder, 'observations' | 'visual_runs' | 'suppressed' | 'archived' | 'latest_captured_at'
>

const folderFactsOf = (rows: readonly Observation[]): FolderFacts => {
  const suppressed = rows.map((row) => row.screenshot_visual_run?.suppressed_count ?? 0)
  return {
    observations: rows.length,
    visual_runs: suppressed.filter((count) => count > 0).length,
    suppressed: suppressed.reduce((sum, count) => sum + count, 0),
    archived: rows.filter((row) => row.archived_at !== null).length,
    latest_captured_at: newest(rows.map((row) => row.captured_at)),
  }
}

const isRight = (view: View, folder: ShotFolder, rows: readonly Observation[]): boolean => {
  const { observations, visual_runs, suppressed, archived, latest_captured_at } = folder
  const analyzed = newest(rows.map((row) => row.payload?.analyzed_at))
  // A dropped analysis leaves the time when there was one; it never lies before a present one.
  const later = analyzed === null || (folder.latest_analyzed_at ?? '') >= analyzed
  const { representative } = folder
  return later
    && same({ observations, visual_runs, suppressed, archived, latest_captured_at },
      folderFactsOf(rows))
    && (representative === null
      || view.get(c.observations, representative.observation_id)?.root_digest
        === folder.root_digest)
}

const verifyFolders = (view: View, rows: readonly Observation[], found: Found): void => {
  const byFolder = grouped(rows, (row) => row.root_digest)
  for (const { id, doc } of view.all(c.folders)) {
    const mine = byFolder.get(id) ?? []
    byFolder.delete(id)
    const named = doc.root_digest === id && folderDigestOf(doc.root) === id
    if (!named || !isRight(view, doc, mine)) {
      found('shot_root_differs', id, 'The facts of a folder disagree with its observations.')
    }
  }
  for (const id of byFolder.keys()) {
    found('shot_root_missing', id, 'Observations name a folder that is not there.')
  }
}

const verifyFiles = (view: View, found: Found): void => {
  for (const { id, doc } of view.all(c.files)) {
    const { observation_id: observation } = doc
    const right = id === fileIdOf(doc.root_digest, doc.name)
      && (observation === null || view.get(c.observations, observation) !== undefined)
      && (doc.outcome === 'rejected' || observation !== null)
    if (!right) found('shot_file_differs', id, 'What became of a file names no observation.')
  }
}

/** Recomputes everything that is derived; an empty list means that nothing drifted or was lost. */
export const verifyShots = (view: View): Problem[] => {
  const problems: Problem[] = []
  const found: Found = (code, subject, text) => void problems.push({ code, subject, text })
  const rows = rowsOf(view)
  verifyRows(view, found)
  verifyCounts(view, rows, found)
  verifyContents(view, rows, found)
  verifyFolders(view, rows, found)
  verifyFiles(view, found)
  verifyReceipts(view, found)
  return problems
}

/** Sealed content that rows name themselves, beside the registry: the fingerprints of folders. */
export const shotArtifacts = (
  view: View,
): readonly { readonly label: string, readonly ref: NonNullable<
  NonNullable<ShotFolder['representative']>['fingerprint']
> }[] => view.all(c.folders).flatMap(({ doc }) => {
  const ref = doc.representative?.fingerprint ?? null
  return ref === null ? [] : [{ label: shotLabels.fingerprint, ref }]
})
