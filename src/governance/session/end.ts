/** Ending sessions. Ending only ever narrows, so it is never hard. */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { nowIso, type Gov } from '../context.js'
import { collections, type Root } from '../rows.js'
import { rootOfToken } from './authenticate.js'
import { dropLastUse } from './last-use.js'
import { requireRootRow, sessionFacts } from './live.js'
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
const endRoot = (
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
    .filter(({ doc }) => endRoot(tx, now, doc, reason, by))
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

/**
 * Ends the session of a token. A token that belongs to no session, or to one that is over, is
 * nothing to do.
 */
export const logout = async (
  gov: Gov,
  token: string,
): Promise<{ readonly ended: boolean; readonly rootId: string | null }> => {
  const root = rootOfToken(gov, gov.store.read(), token)
  if (root === undefined || root.ended !== null) {
    return { ended: false, rootId: root?.root_id ?? null }
  }
  const ended = await gov.store.transact('logout', (tx) => {
    const row = tx.get(collections.roots, root.root_id)
    const by = { principal: root.principal_id, root: root.root_id }
    return row !== undefined && endRoot(tx, nowIso(gov), row, 'logout', by)
  })
  dropLastUse(gov.store.dir, root.root_id)
  return { ended, rootId: root.root_id }
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

/**
 * Ends a session by its id: the operator's own, or that of any other owner, since the same
 * operator could stop every route with `policy revoke`. Throws `not_found`/`session_not_found`.
 */
export const revokeSession = async (
  gov: Gov,
  session: Session,
  rootId: string,
): Promise<{ readonly session: SessionFacts; readonly ended: boolean }> => {
  const ended = await gov.store.transact('session revoke', (tx) => {
    const now = isoFromMs(gov.clock.wallMs())
    requireRootRow(tx, now, session.root.root_id)
    const row = tx.get(collections.roots, rootId)
    if (row === undefined) {
      throw fail.notFound('session_not_found', 'There is no session with this id.', {
        next: 'Run `sallyport session list --all`.',
      })
    }
    const by = { principal: session.principal.principal_id, root: session.root.root_id }
    return endRoot(tx, now, row, 'revoked', by)
  })
  dropLastUse(gov.store.dir, rootId)
  const view = gov.store.read()
  const root = view.get(collections.roots, rootId)
  if (root === undefined) throw new Error('the ended session has no row')
  return { session: sessionFacts(view, gov, root), ended }
}
