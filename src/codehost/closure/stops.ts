/**
 * Stops and what reads for a closure: they are read out of their folder, before and after, since
 * nobody records one here; the next writer does (C-239).
 */
import type { Session } from '../../governance/context.js'
import { stopCovering } from '../../governance/stops/pending.js'
import { offRoutes, stoppedError, type Aim, type Party } from '../../governance/stops/stop.js'
import type { CodehostContext } from '../context.js'

/** Like every read: what ends writes does not end it. */
export const covered = ({ kind }: Aim): boolean | undefined => (kind === 'all' ? false : undefined)

/** Whose a closure or an observation is, for stops. */
export const partyOf = ({ principal, root }: Session): Party =>
  ({
    principal: principal.principal_id, root: root.root_id, task: null, connection: null,
    ...offRoutes,
  })

/** Throws `unauthorized` where a stop that nobody has recorded yet covers the asker. */
export const requireUnstopped = ({ gov }: CodehostContext, session: Session): void => {
  const stop = stopCovering(gov.store, partyOf(session), covered)
  if (stop !== undefined) throw stoppedError(stop)
}
