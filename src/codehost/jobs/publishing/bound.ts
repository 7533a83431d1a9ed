/** An approval binds the local work of one run: its attempt, its fence, and every program. */
import { canonicalJson } from '../../../base/canonical.js'
import { fail, type SallyportError } from '../../../base/errors.js'
import type { View } from '../../../state/types.js'
import type { ChangedReason } from '../../producer/launch.js'
import type { ProducerBinding } from '../../producer/shapes.js'
import { ledgerOf } from '../ledger.js'
import { producerJobOf } from '../publication/bind.js'
import type { Job } from '../rows.js'

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
