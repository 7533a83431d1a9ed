/**
 * What lets somebody look after a closure: the closure itself, as its checkpoint durably tells it,
 * and everything that it was made under, unchanged. It lets nothing else be done (C-170 to C-177).
 */
import { fail } from '../../../base/errors.js'
import type { Session } from '../../../governance/context.js'
import type { View } from '../../../state/types.js'
import {
  changedBinding, observationBindings, type BindingName, type Bindings,
} from '../bindings.js'
import { requireIdentity, type Identified } from '../eligible.js'
import { checkpointClosure } from '../../jobs/closed/fence.js'
import { closureCollection, type Closure } from '../../jobs/closed/closed-job-rows.js'
import { closureFaults } from '../verify-closures.js'
import type { ObserveRequest } from './request.js'

/** A closed job with what closed it. */
export interface ClosedJob extends Identified { readonly closure: Closure }

const next = (jobId: string): string => `Look at it: \`sallyport codehost jobs ${jobId}\`.`

/** The closure that the checkpoints of a job tell of, with nothing that contradicts it. */
const closureOf = (view: View, jobId: string): Closure => {
  const id = checkpointClosure(view, jobId)
  if (id === null) {
    throw fail.conflict('not_closed', 'Only a job that was closed by proof is observed.', {
      next: next(jobId), details: { job_id: jobId },
    })
  }
  const closure = view.get(closureCollection, id)
  if (closure?.job_id === jobId && closureFaults(view, id, closure).length === 0) return closure
  throw fail.blocked(
    'closure_contradicted', 'The closure of this job is not borne out by its rows.', {
      next: 'Run `sallyport state check`.', details: { job_id: jobId },
    },
  )
}

/**
 * The closed job under its original session, connection, repository and credential. Throws as
 * `requireIdentity`, `conflict` (`not_closed`, `stale_read_revision`), `blocked`
 * `closure_contradicted`.
 */
export const requireObservable = (
  view: View, session: Session, jobId: string, request: ObserveRequest,
): ClosedJob => {
  const identified = requireIdentity(view, session, jobId)
  const closure = closureOf(view, jobId)
  const { connection: { revision } } = identified
  if (revision === request.expected_read_revision) return { ...identified, closure }
  throw fail.conflict(
    'stale_read_revision', 'The connection has another revision than was asked for.', {
      next: 'See it, and acknowledge again: `sallyport codehost connections`.',
      details: { job_id: jobId, revision },
    },
  )
}

const changed = (name: BindingName, jobId: string) => fail.conflict(
  'observation_binding_changed', 'What this look rests on changed while it was under way.', {
    reason: name, details: { job_id: jobId },
    next: `Nothing was recorded. ${next(jobId)}`,
  },
)

/** Throws `conflict` `observation_binding_changed` unless everything is as it was. */
export const requireObserved = (
  view: View, { job: { job_id: jobId }, closure }: ClosedJob, before: Partial<Bindings>,
): void => {
  const name = changedBinding(before, observationBindings(view, jobId))
  if (name !== null) throw changed(name, jobId)
  if (checkpointClosure(view, jobId) !== closure.closure_id) throw changed('job_closure', jobId)
}
