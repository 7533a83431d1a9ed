/** The order of a readback under the original identities, whatever kind of job it is for. */
import { runOrder } from '../../contact/engine.js'
import type { Closed, Closing, Running, Unsent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/read.js'
import type { Session } from '../../governance/session/types.js'
import type { Tx } from '../../state/types.js'
import { readOrder, type Get } from '../adapter/reads.js'
import { codehostLimits } from '../constants.js'
import { codehostBase, type CodehostContext } from '../context.js'
import type { Bound } from '../readiness.js'
import { hostPath, repositoryOf } from '../repository.js'
import type { Asked } from './boundary.js'
import { getJob, requireJobRevision } from './change.js'
import { sealJournal, type ReadReceipt } from './receipt.js'
import { requireReadable, type Reconciled } from './reconcile-checks.js'
import type { Job } from './rows.js'

/** What a kind of job reads, and what it makes of it. */
interface Reconciling<F> {
  readonly job: Job
  readonly readRevision: number
  read(get: Get): Promise<F>
  unsent(why: Unsent): F
  close(
    asked: Asked, tx: Tx, now: string, run: Running<Bound>, closing: Closing<F>,
  ): Closed<Reconciled>
}

/** Reads and closes; every boundary asks again for what the readback rests on. */
export const runReconcile = <F extends { readonly receipts: readonly ReadReceipt[] }>(
  ctx: CodehostContext, session: Session, reconciling: Reconciling<F>,
): Promise<Reconciled> => {
  const { job, readRevision } = reconciling
  const asked: Asked = { gov: ctx.gov, sealedHost: codehostBase(ctx.gov), askedHost: ctx.baseUrl }
  const connection = requireOwnConnection(ctx.gov.store.read(), session, job.connection_id)
  return runOrder(ctx, readOrder<F, Reconciled>(ctx, session, connection, {
    step: 'reconcile', verb: 'codehost reconcile', noun: 'reconcile',
    operationMsMax: codehostLimits.followThroughMsMax, connectionId: job.connection_id,
    path: hostPath.repository(repositoryOf(job.repository)),
    requires: (view) => {
      const row = getJob(view, job.job_id)
      requireJobRevision(row, job.revision)
      requireReadable(view, row, readRevision)
    },
    read: (get) => reconciling.read(get),
    unsent: (why) => reconciling.unsent(why),
    keep: ({ receipts }) => (receipts.length === 0 ? null : sealJournal(ctx.gov, receipts)),
    close: (tx, now, run, facts) => reconciling.close(asked, tx, now, run, facts),
  }))
}
