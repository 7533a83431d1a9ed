/**
 * Whether nothing is left of a publication's local work, out of its binding, its ledger and the
 * durable marker in its stage, and out of nothing else: a lock that can be taken, a process that is
 * gone and the word of a caller prove nothing (C-205 to C-209, C-211, C-268, C-269).
 */
import { join } from 'node:path'
import { canonicalJson, sha256Hex } from '../../../base/canonical.js'
import { SallyportError } from '../../../base/errors.js'
import type { Gov } from '../../../governance/context.js'
import type { Guard } from '../../../state/holds/guard.js'
import type { View } from '../../../state/types.js'
import { openBinding, producerJobOf } from '../../jobs/publication/bind.js'
import type { Job } from '../../jobs/job-rows.js'
import { loadEvidence } from '../../producer/evidence.js'
import { digestOfFile } from '../../producer/inventory.js'
import { stageNames } from '../../producer/producer-limits.js'
import { judgeProducer, type NoProofReason } from '../../producer/proof.js'
import type { ProducerBinding } from '../../producer/shapes.js'
import { bindingBytes, stagePath } from '../../producer/stage.js'
import { producerToken } from '../../producer/token.js'
import { closureBlocked, type ClosureBlocker } from '../blockers.js'
import type { PublicationInventory } from './inventory.js'

/** What proves that nothing of the local work is left. */
interface Quiescence {
  /** `prefix`: it ended before it had made everything. */
  readonly standing: 'complete' | 'prefix'
  /** SHA-256 of the marker. */
  readonly markerSha256: string
}

const blockers: Readonly<Record<NoProofReason, ClosureBlocker>> = {
  stage_missing: 'producer_stage_missing',
  binding_changed: 'producer_binding_changed',
  start_missing: 'producer_start_missing',
  start_invalid: 'producer_start_invalid',
  marker_missing: 'producer_marker_missing',
  marker_ambiguous: 'producer_marker_ambiguous',
  marker_invalid: 'producer_marker_invalid',
  marker_legacy: 'producer_marker_legacy',
  marker_late: 'producer_marker_late',
  stage_changed: 'producer_stage_changed',
}

const boundOf = (gov: Pick<Gov, 'store'>, view: View, job: Job): ProducerBinding => {
  try {
    return openBinding(gov, view, job)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    throw closureBlocked('producer_unproved', job.job_id, error)
  }
}

/** The binding is the one that the ledger told of before anything was started. */
const isAsTold = (
  binding: ProducerBinding, job: Job, { spawn }: Pick<PublicationInventory, 'spawn'>,
): boolean => binding.producer_id === spawn.producer_id
  && sha256Hex(bindingBytes(binding)) === spawn.binding_sha256
  && canonicalJson(binding.job) === canonicalJson(producerJobOf(job, spawn))

const hasHelper = (dir: string, { helper }: ProducerBinding): boolean => {
  try {
    return digestOfFile(join(dir, stageNames.helper))?.sha256 === helper.sha256
  } catch {
    return false
  }
}

/**
 * The proof as it lies there now. Throws `blocked` `closure_blocked` (`producer_…`), and the disk's
 * own errors.
 */
export const requireQuiescence = (
  gov: Pick<Gov, 'store'>, view: View, job: Job,
  inventory: Pick<PublicationInventory, 'spawn' | 'producer' | 'contacted'>,
): Quiescence => {
  const { store } = gov
  const binding = boundOf(gov, view, job)
  const blocked = (reason: ClosureBlocker) => closureBlocked(reason, job.job_id)
  if (!isAsTold(binding, job, inventory)) throw blocked('producer_binding_changed')
  const verdict = judgeProducer(
    binding, producerToken(store, binding.producer_id), loadEvidence(store.dir, job.job_id))
  if (!verdict.quiescent) {
    const isHelper = verdict.reason === 'stage_changed'
      && !hasHelper(stagePath(store.dir, job.job_id), binding)
    throw blocked(isHelper ? 'producer_helper_changed' : blockers[verdict.reason])
  }
  const { complete, markerSha256 } = verdict
  const { producer, contacted } = inventory
  const recorded = producer.markerSha256 ?? markerSha256
  if (recorded !== markerSha256) throw blocked('producer_marker_differs')
  // Nothing is sent before everything was made: such a marker contradicts what was sent.
  if (!complete && contacted.length > 0) throw blocked('producer_marker_differs')
  return { standing: complete ? 'complete' : 'prefix', markerSha256 }
}

/**
 * The guard of the producer, which its supervisor holds for as long as it lives. Throws `blocked`
 * `closure_blocked` `producer_running`. Having it proves nothing. Null where none was bound.
 */
export const holdProducerGuard = async (
  { store }: Pick<Gov, 'store'>, job: Job,
): Promise<Guard | null> => {
  const producerId = job.approval?.producer?.producer_id
  if (producerId === undefined) return null
  try {
    return await store.holds.hold('producer', producerId)
  } catch (error) {
    if (!(error instanceof SallyportError) || error.code !== 'guard_held') throw error
    throw closureBlocked('producer_running', job.job_id, error)
  }
}
