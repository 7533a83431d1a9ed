/**
 * What binds the local work of a publication: at approval its stage is made, and everything that
 * its producer is and is given is sealed under the approval (C-079). A run takes it from here.
 */
import * as v from 'valibot'
import { canonicalJson, sha256Hex } from '../../../base/canonical.js'
import { fail, type SallyportError } from '../../../base/errors.js'
import { discardStored, readArtifact } from '../../../governance/artifacts.js'
import { connectionCollection } from '../../../governance/connections/connection-rows.js'
import type { Gov } from '../../../governance/context.js'
import { newId } from '../../../base/ids.js'
import type { Tx, View } from '../../../state/types.js'
import { producerLabel } from '../../constants.js'
import { bindingProblem, type ChangedReason, type ProducerRun } from '../../producer/launch.js'
import { bindingShape, type ProducerBinding, type ProducerJob } from '../../producer/shapes.js'
import { bindingBytes, createStage, removeStage } from '../../producer/stage.js'
import { producerToken } from '../../producer/token.js'
import type { ProducerTools } from '../../producer/tools.js'
import { ledgerOf } from '../ledger.js'
import { registerJobArtifact, type JobArtifact } from '../prepared.js'
import type { Approval, Job } from '../job-rows.js'
import type { OpenPublication } from './open.js'
import { bindStage } from './stage-machine.js'

/**
 * Whose work a producer does when the job runs next, as of one view: the attempt and the fence that
 * its reservation will have. Another job that runs through the connection before makes the fence
 * another one, and the publication has to be approved again.
 */
export const nextProducerJob = (view: Pick<View, 'get'>, job: Job): ProducerJob => {
  const connection = view.get(connectionCollection, job.connection_id)
  const holds = connection?.active_job_id === job.job_id
  return producerJobOf(job, {
    attempt: job.attempt + 1, fence: (connection?.active_fence ?? 0) + (holds ? 0 : 1),
  })
}

/** Whose work it is, at an attempt and under a fence. */
export const producerJobOf = (
  job: Pick<Job, 'job_id' | 'root' | 'authority_sha256'>,
  { attempt, fence }: { readonly attempt: number, readonly fence: number },
): ProducerJob =>
  ({ job_id: job.job_id, root_id: job.root, attempt, authority: job.authority_sha256, fence })

const changed = (reason: ChangedReason): SallyportError =>
  fail.conflict(
    'producer_changed', 'This machine would make other objects than were previewed.', {
      reason,
      next: 'Prepare the publication anew, under another idempotency key: the same key finds this '
        + 'job.',
    })

/** Throws `conflict` `producer_changed` where a program is not the one that the preview showed. */
const requirePlannedTools = (
  { producer }: Pick<OpenPublication, 'producer'>, tools: ProducerTools,
): void => {
  if (producer.helper.sha256 !== tools.helper.sha256) throw changed('helper')
  for (const name of ['node', 'git', 'addon'] as const) {
    if (canonicalJson(producer[name]) !== canonicalJson(tools[name])) throw changed(name)
  }
}

/** The arguments and the environment are those that the preview showed. */
const requirePlanned = ({ producer }: OpenPublication, binding: ProducerBinding): void => {
  const same = canonicalJson(producer.arguments) === canonicalJson(binding.arguments.git)
    && canonicalJson(producer.environment) === canonicalJson(binding.environment)
    && producer.manifest_sha256 === binding.inputs.manifest_sha256
  if (!same) throw changed('inputs')
}

/** A producer that is bound, and its binding as it is sealed. */
export interface BoundProducer {
  readonly binding: ProducerBinding
  readonly artifact: JobArtifact
}

/** Makes the stage and seals the binding; nobody has registered either yet. */
export const bindProducer = (
  gov: Gov, view: View, job: Job, open: OpenPublication, tools: ProducerTools,
): BoundProducer => {
  const { store } = gov
  requirePlannedTools(open, tools)
  const binding = createStage(store.dir, {
    tools, job: nextProducerJob(view, job), manifest: open.manifest, commit: open.draft,
    tokenOf: (producerId) => producerToken(store, producerId),
  })
  try {
    requirePlanned(open, binding)
    const ref = store.artifacts.write(producerLabel, bindingBytes(binding))
    return { binding, artifact: { artifactId: newId('art'), label: producerLabel, ref } }
  } catch (error) {
    removeStage(store.dir, job.job_id)
    throw error
  }
}

/** Lets go of a binding that no record named. */
export const unbindProducer = (gov: Gov, { binding, artifact }: BoundProducer): void => {
  removeStage(gov.store.dir, binding.job.job_id)
  discardStored(gov.store, artifact.ref.stored_sha256)
}

/** Registers a binding in the record of its approval; gives what the approval says of it. */
export const registerBinding = (
  { store }: Pick<Gov, 'store'>, tx: Tx, now: string, job: Job,
  { binding, artifact }: BoundProducer,
): NonNullable<Approval['producer']> => {
  registerJobArtifact(tx, now, job, artifact)
  bindStage(store, tx, job)
  return {
    producer_id: binding.producer_id, artifact_id: artifact.artifactId,
    binding_sha256: artifact.ref.sha256,
  }
}

const altered = (): SallyportError =>
  fail.damaged('plan_altered', 'What the producer of a job was bound to is not its own.', {
    next: 'Run `sallyport state check`.',
  })

const bindingOfBytes = (bytes: Buffer): ProducerBinding => {
  const parsed = v.safeParse(bindingShape, JSON.parse(bytes.toString('utf8')))
  if (parsed.success) return parsed.output
  throw altered()
}

/**
 * The binding of an approved publication. Throws `unauthorized` `codehost_write_denied` where none
 * was approved, `damaged` `plan_altered` where it is not the one that the approval names.
 */
export const openBinding = (gov: Pick<Gov, 'store'>, view: View, job: Job): ProducerBinding => {
  const bound = job.approval?.producer ?? null
  if (bound === null) {
    throw fail.unauthorized('codehost_write_denied', 'This publication is not approved.', {
      reason: 'approval_missing', next: `Look at it: \`sallyport codehost preview ${job.job_id}\`.`,
    })
  }
  const bytes = readArtifact(gov, view, bound.artifact_id, producerLabel)
  const binding = bindingOfBytes(bytes)
  const own = sha256Hex(bytes) === bound.binding_sha256
    && binding.producer_id === bound.producer_id && binding.job.job_id === job.job_id
  if (own) return binding
  throw altered()
}

/** Everything that a run gives its producer but the guard, for an attempt under a fence. */
export const producerRunOf = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, open: OpenPublication, current: ProducerJob,
): Omit<ProducerRun, 'guard'> => {
  const binding = openBinding(gov, view, job)
  return {
    binding, job: current, manifest: open.manifest, piecesOf: open.piecesOf,
    token: producerToken(gov.store, binding.producer_id),
  }
}

/**
 * What of an approved publication's binding would not hold if it ran next, as of one view; null
 * where all would. Looks at every bound file.
 */
export const nextRunProblem = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, open: OpenPublication,
): ChangedReason | null =>
  bindingProblem(gov.store.dir, producerRunOf(gov, view, job, open, nextProducerJob(view, job)))

/** `conflict` `producer_changed`: nothing was started, and it can be approved again. */
export const approvedOtherwise = ({ job_id }: Job, reason: ChangedReason): SallyportError =>
  fail.conflict('producer_changed', reason === 'job'
    ? 'Its approval was for another run: the connection was used since, or this one was cut off.'
    : 'This machine would make the objects otherwise than was approved.', {
    reason, next: `Look at it and approve it again: \`sallyport codehost preview ${job_id}\`.`,
    details: { job_id },
  })

/** The same for the very run that is being claimed; throws to refuse. */
export const requireBoundAs = (
  view: Pick<View, 'get' | 'range'>, job: Job, { job: bound }: ProducerBinding,
  as: { readonly attempt: number, readonly fence: number },
): void => {
  if (ledgerOf(view, job.job_id).producer !== null) return
  if (canonicalJson(producerJobOf(job, as)) === canonicalJson(bound)) return
  throw approvedOtherwise(job, 'job')
}
