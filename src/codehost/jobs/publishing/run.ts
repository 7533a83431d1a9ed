/** A publication from its sealed plan to its end; what its local work needed goes with the end. */
import { runOrder } from '../../../contact/engine.js'
import type { CodehostContext } from '../../context.js'
import type { Ran, RunnableJob } from '../claim.js'
import { openPublication, type OpenPublication } from '../publication/open.js'
import { nextRunProblem, openBinding } from '../publication/bind.js'
import { aheadOf, lookBefore } from '../preflight.js'
import { lookForPublication, requireLooks, type PublicationLooks } from './preflight.js'
import { publicationOrder } from './run-order.js'
import type { Job } from '../rows.js'
import { ledgerOf } from '../ledger.js'
import { approvedOtherwise } from './bound.js'
import { nextEffect } from './sendable.js'
import { dropStage } from './stages.js'

/** What the producer is, or is given, is what was approved, and for this very run. */
const requireBound = ({ gov }: CodehostContext, job: Job, publication: OpenPublication): void => {
  const view = gov.store.read()
  if (ledgerOf(view, job.job_id).producer !== null) return
  const reason = nextRunProblem(gov, view, job, publication)
  if (reason !== null) throw approvedOtherwise(job, reason)
}

const runOpened = async (
  ctx: CodehostContext, runnable: RunnableJob, publication: OpenPublication,
): Promise<Ran> => {
  const { job } = runnable
  const binding = openBinding(ctx.gov, ctx.gov.store.read(), job)
  requireBound(ctx, job, publication)
  const looks = await lookBefore<PublicationLooks>(ctx, {
    ...runnable, look: (get) => lookForPublication(ctx.gov.clock, publication, get),
    unsent: (why) => ({ repository: why, base: null, branch: null }),
  })
  requireLooks(job, publication, looks)
  return runOrder(ctx, publicationOrder(ctx, {
    ...runnable, publication, binding, ahead: aheadOf(looks.repository),
  }))
}

/** Runs a publication, or goes on with one. Throws what kept it from being begun. */
export const runPublication = async (
  ctx: CodehostContext, runnable: RunnableJob,
): Promise<Ran> => {
  const { gov: { store } } = ctx
  const view = store.read()
  nextEffect(view, runnable.job)
  const publication = openPublication(ctx.gov, view, runnable.job)
  try {
    const ran = await runOpened(ctx, runnable, publication)
    dropStage(ctx.gov, ran.job)
    return ran
  } finally {
    publication.close()
  }
}
