/** A publication from its sealed plan to its end; what its local work needed goes with the end. */
import { runOrder } from '../../../contact/engine.js'
import type { CodehostContext } from '../../context.js'
import { removeStage } from '../../producer/stage.js'
import type { Ran, RunnableJob } from '../claim.js'
import { openPublication, type OpenPublication } from '../publication/open.js'
import { boundProducer } from '../publication/approve.js'
import { lookBefore } from '../preflight.js'
import type { Job } from '../rows.js'
import { lookForPublication, requireLooks, type PublicationLooks } from './preflight.js'
import { publicationOrder } from './run-order.js'
import { nextEffect } from './sendable.js'

/** The stage proves the local work for as long as the connection is occupied, and no longer. */
export const dropStage = ({ gov: { store } }: CodehostContext, job: Job): void => {
  const isOver = !job.reserved && ['succeeded', 'failed', 'cancelled'].includes(job.state)
  if (isOver) removeStage(store.dir, job.job_id)
}

const runOpened = async (
  ctx: CodehostContext, runnable: RunnableJob, publication: OpenPublication,
): Promise<Ran> => {
  const { job } = runnable
  const binding = boundProducer(ctx.gov, ctx.gov.store.read(), job)
  const looks = await lookBefore<PublicationLooks>(ctx, {
    ...runnable, look: (get) => lookForPublication(publication, get),
    unsent: (why) => ({ repository: why, base: null, branch: null }),
  })
  requireLooks(job, publication, looks)
  return runOrder(ctx, publicationOrder(ctx, { ...runnable, publication, binding }))
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
    dropStage(ctx, ran.job)
    return ran
  } finally {
    publication.close()
  }
}
