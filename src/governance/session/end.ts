/** Ending sessions. Ending only ever narrows, so it is never hard. */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { documents } from '../../state/each.js'
import { rowsOfEntries, rowsUnder, walkIndex } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import type { Gov, Session } from '../context.js'
import { collections, rootsByEnd, rootsByOwner, rootsUnended, type Root } from '../rows.js'
import { sessionFacts, type SessionFacts } from './live.js'

/** Why a root ended. */
type EndReason = 'logout' | 'replaced' | 'revoked' | 'principal_disabled'

/** How long a root that is over stays listed; the audit keeps it for ever. */
export const rootKeepMs = 30 * 24 * 3_600_000

/** Who ends a root: the session that asks, or nobody known. */
interface EndedBy {
  readonly principal: string | null
  readonly root: string | null
}

/** Ends one root within a transaction; one that has ended stays as it is. */
export const endRootRow = (
  tx: Tx,
  now: string,
  root: Root,
  reason: EndReason,
  by: EndedBy,
): boolean => {
  if (root.ended !== null) return false
  tx.mark()
  tx.put(collections.roots, root.root_id, { ...root, ended: { at: now, reason } })
  appendAudit(tx, now, { what: 'session.ended', ...by, subject: root.root_id, facts: { reason } })
  return true
}

/** Ends every root of one principal except `keep`; says which it ended. */
export const endRootsOf = (
  tx: Tx,
  now: string,
  principalId: string,
  reason: EndReason,
  by: EndedBy,
): readonly string[] =>
  rowsUnder(tx, collections.roots, rootsUnended, { under: [principalId] })
    .filter(({ doc }) => endRootRow(tx, now, doc, reason, by))
    .map(({ doc }) => doc.root_id)

/**
 * Takes roots that have been over for longer than `rootKeepMs` from the list; says which. The row
 * of one that another row names, or may name, lies with the past ones from then on, until no row
 * names it any more (`state prune`).
 */
export const pruneRoots = (tx: Tx, now: string): readonly string[] => {
  const before = isoFromMs(msFromIso(now) - rootKeepMs)
  const dead = rowsUnder(tx, collections.roots, rootsByEnd, { from: before, reverse: true })
  for (const { id, doc } of dead) {
    tx.remove(collections.roots, id)
    if (doc.named !== false) tx.put(collections.pastRoots, id, doc)
  }
  return dead.map(({ id }) => id)
}

interface SessionFilter {
  /** Those of every owner; else the operator's own. */
  readonly all?: boolean | undefined
  /** Only those that are live. */
  readonly live?: boolean | undefined
  /** Only those that were opened before this one, which need not exist. */
  readonly after?: string | undefined
  /** At most so many; left out: all of them. */
  readonly limit?: number | undefined
}

/** Roots of one owner, newest first; with `live` those that were not ended. */
const rootsOf = (
  view: View, owner: string, { live = false, after, limit }: SessionFilter,
): Iterable<Root> => {
  const entries = walkIndex(view, collections.roots, live ? rootsUnended : rootsByOwner, {
    under: [owner], from: after, reverse: true,
  })
  return documents(rowsOfEntries(view, collections.roots, entries, limit))
}

/** Sessions of the operator, or of every owner with `all`, or the live ones; newest first. */
export const listSessions = (
  gov: Gov, view: View, session: Session, filter: SessionFilter = {},
): readonly SessionFacts[] => {
  const { all = false, live = false, after, limit = Number.POSITIVE_INFINITY } = filter
  const listed = (roots: Iterable<Root>): SessionFacts[] => {
    const found: SessionFacts[] = []
    for (const root of roots) {
      const facts = sessionFacts(view, gov, root)
      if (facts.live || !live) found.push(facts)
      if (found.length >= limit) break
    }
    return found
  }
  if (!all) return listed(rootsOf(view, session.principal.principal_id, filter))
  if (!live) {
    const from = after === undefined ? {} : { after }
    return listed(documents(view.range(collections.roots, { reverse: true, limit, ...from })))
  }
  // Who has no row any more has no live session.
  return view.all(collections.principals)
    .flatMap(({ id }) => listed(rootsOf(view, id, filter)))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit)
}
