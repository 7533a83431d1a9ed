/**
 * The sealed account of a closure: its header, its counts and the digests of the journals, in
 * order. What each readback showed lies in the journals. Its name is the SHA-256 of the stored
 * bytes; it is written before the record that names it, and by itself is no evidence (C-056, C-057,
 * C-218, C-259 to C-261).
 */
import { canonicalJson } from '../../base/canonical.js'
import { SallyportError } from '../../base/errors.js'
import type { Gov } from '../../governance/context.js'
import { sealedExtraBytes } from '../../state/keys.js'
import type { ArtifactRef } from '../../state/types.js'
import { closureLabel } from '../constants.js'
import type { Job } from '../jobs/job-rows.js'
import type { Bindings } from './bindings.js'
import { closureBlocked } from './blockers.js'
import { closureLimits } from '../jobs/closed/closed-job-limits.js'
import type { ProducerStatus } from './kind.js'
import type { ReadRequest } from '../jobs/closed/request.js'

/** What an account tells. */
export interface AccountParts {
  readonly closureId: string
  readonly at: string
  readonly job: Job
  readonly read: ReadRequest
  readonly bindings: Bindings
  readonly producer: ProducerStatus
  /** Digests of the journals, in the order of their readbacks. */
  readonly journals: readonly string[]
  readonly counts: {
    readonly effects: number
    readonly fresh: number
    readonly earlier: number
    readonly gets: number
    readonly raw_bytes: number
  }
}

/** The bytes of an account. Throws `blocked` `closure_blocked` beyond what is stored of one. */
export const accountBytes = (
  parts: AccountParts, bytesMax: number = closureLimits.artifactBytesMax,
): Buffer => {
  const { closureId, at, job, read, bindings, producer, journals, counts } = parts
  const bytes = Buffer.from(canonicalJson({
    schema: closureLabel, recovery_contract: 'V3', closure_id: closureId, closed_at: at,
    job_id: job.job_id, root: job.root, principal: job.owner, kind: job.native_kind,
    request: read.canonical, request_sha256: read.sha256, bindings, producer, journals, counts,
  }))
  if (bytes.length + sealedExtraBytes > bytesMax) {
    throw closureBlocked('artifact_too_large', job.job_id)
  }
  return bytes
}

/**
 * Writes an account; the same bytes may lie there already, others may not. Throws `blocked`
 * `closure_blocked`, `damaged` where a link stands in the way, and what the disk does.
 */
export const writeAccount = ({ store }: Pick<Gov, 'store'>, parts: AccountParts): ArtifactRef => {
  const bytes = accountBytes(parts)
  try {
    return store.artifacts.write(closureLabel, bytes, { deterministic: true })
  } catch (error) {
    const differs = error instanceof SallyportError && error.code === 'artifact_damaged'
    throw differs ? closureBlocked('artifact_conflict', parts.job.job_id, error) : error
  }
}
