/**
 * Rules of `state check` over the screenshot source: everything that is counted or indexed from
 * observations is counted again, receipts chain, and what a row refers to is there. No collection
 * that grows with the images is held.
 */
import { canonicalJson } from '../base/canonical.js'
import type { Problem } from '../governance/context.js'
import { collections } from '../governance/rows.js'
import { each } from '../state/each.js'
import { TextSet } from '../state/text-sums.js'
import type { View } from '../state/types.js'
import { edgeSource, screenshotSource, shotLabels } from './constants.js'
import { fileIdOf } from './observations/observation-store.js'
import { devicePlace, folderDigestOf, isDevicePlace } from './source/folder-digest.js'
import { verifyReceipts } from './receipts/verify-receipts.js'
import { Recount, noObservations, twinText, type Recounted } from './observations/recount.js'
import {
  shotCollections as c, type Observation, type ShotFolder,
} from './observations/observation-rows.js'

type Found = (code: string, subject: string, text: string) => void

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)

/** The analyses that observations may name, as `<id>/<digest>`. */
const payloadsIn = (view: View): TextSet => {
  const payloads = new TextSet()
  for (const { id, doc } of each(view, collections.artifacts)) {
    if (doc.label === shotLabels.payload && doc.adopted) payloads.add(`${id}/${doc.ref.sha256}`)
  }
  return payloads
}

/** What a device captured lies at the place of that device, and nothing else does. */
const isOfItsPlace = ({ source, root, edge }: Observation): boolean => (edge === undefined
  ? source === screenshotSource && !isDevicePlace(root)
  : source === edgeSource && root === devicePlace(edge.device_id).folder)

/** Every observation by itself; gives what was counted of all of them. */
const verifyRows = (view: View, found: Found): Recount => {
  const recount = new Recount()
  const payloads = payloadsIn(view)
  for (const entry of each(view, c.observations)) {
    const { id, doc } = entry
    recount.add(entry)
    if (id !== doc.observation_id) {
      found('observation_id_mismatch', id, 'An observation lies under another id.')
    }
    if (doc.root_digest !== recount.rootDigestOf(doc.root) || !isOfItsPlace(doc)) {
      found('observation_root_mismatch', id, 'An observation names a folder that is not its own.')
    }
    if (doc.analysis_status === 'succeeded' && doc.payload === null) {
      found('observation_without_payload', id, 'A succeeded observation has no analysis.')
    }
    const { payload } = doc
    if (payload !== null && !payloads.has(`${payload.artifact_id}/${payload.sha256}`)) {
      found('payload_missing', id, 'The analysis that an observation names is not there.')
    }
  }
  return recount
}

const verifyCounts = (view: View, recount: Recount, found: Found): void => {
  const counts = recount.counts()
  const stored = view.all(c.counts)
  const right = stored.length === counts.size
    && stored.every(({ id, doc }) => same(counts.get(id) ?? null, doc))
  if (!right) found('shot_counts_differ', 'counts', 'Counters disagree with the observations.')
}

const verifyContents = (view: View, { ids, twins }: Recount, found: Found): void => {
  let right = true
  for (const { id, doc } of each(view, c.contents)) {
    const standIns = doc.suppressed_for ?? []
    for (const { observation_id: twin, root_digest: root } of doc.observations) {
      twins.right(twinText(id, twin, root))
    }
    const named = doc.sha256 === id && doc.observations.length + standIns.length > 0
    if (!named || !standIns.every((one) => ids.has(one))) right = false
  }
  if (!right || !twins.isEven) {
    found('shot_contents_differ', 'contents', 'Contents disagree with the observations.')
  }
}

const isRight = (view: View, folder: ShotFolder, counted: Recounted): boolean => {
  const { observations, visual_runs, suppressed, archived, latest_captured_at } = folder
  const changed_little = folder.small_changes?.images ?? 0
  const { latest_analyzed_at: analyzed, ...facts } = counted
  // A dropped analysis leaves the time when there was one; it never lies before a present one.
  const later = analyzed === null || (folder.latest_analyzed_at ?? '') >= analyzed
  const { representative } = folder
  return later
    && same(
      { observations, visual_runs, suppressed, archived, changed_little, latest_captured_at },
      facts)
    && (representative === null
      || view.get(c.observations, representative.observation_id)?.root_digest
        === folder.root_digest)
}

const verifyFolders = (view: View, { folders }: Recount, found: Found): void => {
  const left = new Map(folders)
  for (const { id, doc } of view.all(c.folders)) {
    const mine = left.get(id) ?? noObservations()
    left.delete(id)
    const named = doc.root_digest === id && folderDigestOf(doc.root) === id
    if (!named || !isRight(view, doc, mine)) {
      found('shot_root_differs', id, 'The facts of a folder disagree with its observations.')
    }
  }
  for (const id of left.keys()) {
    found('shot_root_missing', id, 'Observations name a folder that is not there.')
  }
}

const verifyFiles = (view: View, { ids }: Recount, found: Found): void => {
  for (const { id, doc } of each(view, c.files)) {
    const { observation_id: observation } = doc
    const right = id === fileIdOf(doc.root_digest, doc.name)
      && (observation === null || ids.has(observation))
      && (doc.outcome === 'rejected' || observation !== null)
    if (!right) found('shot_file_differs', id, 'What became of a file names no observation.')
  }
}

/** Recomputes everything that is derived; an empty list means that nothing drifted or was lost. */
export const verifyShots = (view: View): Problem[] => {
  const problems: Problem[] = []
  const found: Found = (code, subject, text) => void problems.push({ code, subject, text })
  const recount = verifyRows(view, found)
  verifyCounts(view, recount, found)
  verifyContents(view, recount, found)
  verifyFolders(view, recount, found)
  verifyFiles(view, recount, found)
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
