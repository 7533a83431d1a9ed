/**
 * Reading back what devices sent: by a device what it sent itself, by the operator what any of its
 * devices sent. What belongs to somebody else is not there (S-033).
 */
import { fail } from '../base/errors.js'
import type { Gov, Session } from '../governance/context.js'
import { lookUp } from '../state/indexes.js'
import type { StreamReader, View } from '../state/types.js'
import { edgeLabel, edgeLimits } from './constants.js'
import type { EdgeParty } from './credential.js'
import {
  artifactsByDevice, artifactsByOwner, edgeCollections, type EdgeArtifact,
} from './edge-rows.js'

/** Who reads: a device with its credential, or an operator. */
type EdgeReader = EdgeParty | Session

const isTheirs = (by: EdgeReader, row: EdgeArtifact): boolean =>
  'device' in by
    ? row.device_id === by.device.device_id && row.owner === by.device.owner
    : row.owner === by.principal.principal_id

/** What is known of one; throws `not_found` `edge_artifact_not_found`, also for a foreign one. */
export const edgeArtifact = (view: View, by: EdgeReader, artifactId: string): EdgeArtifact => {
  const row = view.get(edgeCollections.artifacts, artifactId)
  if (row !== undefined && isTheirs(by, row)) return row
  throw fail.notFound('edge_artifact_not_found', 'There is no such upload of your devices.', {
    next: 'Run `sallyport edge artifacts`.',
  })
}

/**
 * Its bytes, no byte before its piece was verified; close the reader when done. Throws as
 * `edgeArtifact`, `blocked` `evidence_missing`, `damaged` `artifact_damaged`.
 */
export const openEdgeBytes = (
  gov: Pick<Gov, 'store'>, view: View, by: EdgeReader, artifactId: string,
): { readonly artifact: EdgeArtifact; readonly reader: StreamReader } => {
  const artifact = edgeArtifact(view, by, artifactId)
  return { artifact, reader: gov.store.artifacts.openStream(edgeLabel, artifact.ref) }
}

/** Which uploads are listed, newest first. */
interface EdgePage {
  readonly device?: string | undefined
  readonly limit?: number | undefined
  /** Only those that came before this one. */
  readonly before?: string | undefined
}

/** Where those that a reader may see are listed; null for a device that is not theirs. */
const placeOf = (view: View, by: EdgeReader, device: string | undefined) => {
  if ('device' in by) return { index: artifactsByDevice, key: by.device.device_id }
  const { principal_id: owner } = by.principal
  if (device === undefined) return { index: artifactsByOwner, key: owner }
  const isTheirs = view.get(edgeCollections.devices, device)?.owner === owner
  return isTheirs ? { index: artifactsByDevice, key: device } : null
}

/** A page of them; `next` is the `before` of the next page, null at the end. */
export const edgeArtifacts = (
  view: View, by: EdgeReader, page: EdgePage = {},
): { readonly artifacts: readonly EdgeArtifact[]; readonly next: string | null } => {
  const limit = page.limit ?? edgeLimits.pageDefault
  const place = placeOf(view, by, page.device)
  if (place === null) return { artifacts: [], next: null }
  const { index, key } = place
  const found = lookUp(view, edgeCollections.artifacts, index, {
    under: [key], reverse: true, limit: limit + 1,
    ...(page.before === undefined ? {} : { after: `${key}/${page.before}` }),
  })
  const artifacts = found.slice(0, limit).flatMap(({ id }) => {
    const row = view.get(edgeCollections.artifacts, id)
    return row !== undefined && isTheirs(by, row) ? [row] : []
  })
  return { artifacts, next: found.length > limit ? found[limit - 1]?.id ?? null : null }
}
