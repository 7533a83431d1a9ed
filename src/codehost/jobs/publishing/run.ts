/** A publication from its sealed plan to its end; what its local work needed goes with the end. */
import { runOrder } from '../../../contact/engine.js'
import type { CodehostContext } from '../../context.js'
import type { Ran, RunnableJob } from '../claim.js'
import { openPublication, type OpenPublication } from '../publication/open.js'
import { boundProducer } from '../publication/approve.js'
import { lookBefore } from '../preflight.js'
import { lookForPublication, requireLooks, type PublicationLooks } from './preflight.js'
import { publicationOrder } from './run-order.js'
import { nextEffect } from './sendable.js'
import { dropStage } from './stages.js'

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
    dropStage(ctx.gov, ran.job)
    return ran
  } finally {
    publication.close()
  }
}
