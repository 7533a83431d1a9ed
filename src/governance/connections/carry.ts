/**
 * What a state that was replaced knew of connections and its copy does not: consents that had
 * ended, modes that allowed less, capacity that a job occupied. Only ever narrows.
 */
import { canonicalJson } from '../../base/canonical.js'
import type { Carrier } from '../carrier.js'
import { endGrant } from './end-consent.js'
import { connectionCollection, type Connection, type ConnectionMode } from './connection-rows.js'

/** How much a mode allows, the most first. */
const order: readonly ConnectionMode[] = ['active', 'reconcile_only', 'disabled']
const narrower = (a: ConnectionMode, b: ConnectionMode): ConnectionMode =>
  (order.indexOf(a) > order.indexOf(b) ? a : b)

const isOver = ({ consent }: Connection, theirs: Connection): boolean =>
  consent !== null && consent.ended === null
  && (theirs.consent?.consent_id !== consent.consent_id || theirs.consent.ended !== null)

/**
 * Who occupies it: each reservation raises the fence and none lowers it, so that the higher fence
 * is the later word; under one fence, that it was given back is. Two jobs under one fence are of
 * histories that went on apart: neither gave it back.
 */
const occupantOf = (mine: Connection, theirs: Connection): string | null => {
  if (mine.active_fence !== theirs.active_fence) {
    return (mine.active_fence > theirs.active_fence ? mine : theirs).active_job_id
  }
  return theirs.active_job_id === null ? null : mine.active_job_id
}

const narrowed = (mine: Connection, theirs: Connection, now: string): Connection => ({
  ...(isOver(mine, theirs) ? endGrant(mine, now, 'stopped') : mine),
  mode: narrower(mine.mode, theirs.mode),
  consent_fence: Math.max(mine.consent_fence, theirs.consent_fence),
  active_job_id: occupantOf(mine, theirs),
  active_fence: Math.max(mine.active_fence, theirs.active_fence),
  revision: Math.max(mine.revision, theirs.revision),
})

/** Carries them over; a connection that the copy does not know keeps nothing open. */
export const carryConnections: Carrier = (tx, now, former) => {
  const changed = former.all(connectionCollection).flatMap(({ id, doc: theirs }) => {
    const mine = tx.get(connectionCollection, id)
    if (mine === undefined) return []
    const after = narrowed(mine, theirs, now)
    return canonicalJson(after) === canonicalJson(mine)
      ? [] : [{ ...after, revision: after.revision + 1, updated_at: now }]
  })
  for (const row of changed) tx.put(connectionCollection, row.connection_id, row)
  return changed.length
}
