/** Ending sessions. Ending only ever narrows, so it is never hard. */
import { msFromIso } from '../../base/clock.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import type { Gov } from '../context.js'
import { collections, type Root } from '../rows.js'
import { sessionFacts } from './live.js'
import type { Session, SessionFacts } from './types.js'

/** Why a root ended. */
export type EndReason = 'logout' | 'replaced' | 'revoked' | 'principal_disabled'

/** How long the row of a root that is over stays listed; the audit keeps it for ever. */
export const rootKeepMs = 30 * 24 * 3_600_000

/** Who ends a root: the session that asks, or nobody known. */
export interface EndedBy {
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
  tx
    .all(collections.roots)
    .filter(({ doc }) => doc.principal_id === principalId)
    .filter(({ doc }) => endRootRow(tx, now, doc, reason, by))
    .map(({ doc }) => doc.root_id)

/** Drops rows of roots that have been over for longer than `rootKeepMs`; says which. */
export const pruneRoots = (tx: Tx, now: string): readonly string[] => {
  const over = (root: Root): number =>
    Math.min(msFromIso(root.expires_at), root.ended === null ? Infinity : msFromIso(root.ended.at))
  const dead = tx
    .all(collections.roots)
    .filter(({ doc }) => over(doc) + rootKeepMs < msFromIso(now))
    .map(({ id }) => id)
  for (const id of dead) tx.remove(collections.roots, id)
  return dead
}

/** Sessions of the operator, or of every owner with `all`; newest first. */
export const listSessions = (
  gov: Gov,
  view: View,
  session: Session,
  { all = false }: { readonly all?: boolean } = {},
): readonly SessionFacts[] =>
  view
    .all(collections.roots)
    .map(({ doc }) => doc)
    .filter((root) => all || root.principal_id === session.principal.principal_id)
    .reverse()
    .map((root) => sessionFacts(view, gov, root))
