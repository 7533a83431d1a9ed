/** What ends for one owner or one session, each by a stop: in force without the state's lock. */
import { fail } from '../../base/errors.js'
import { lookUp } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { nowIso, type Gov, type Session } from '../context.js'
import { disabledForGood, isDisabledForGood, requireDisablable } from '../principals.js'
import { collections, rootsUnended, type Principal, type Root } from '../rows.js'
import { rootOfToken } from '../session/authenticate.js'
import { dropLastUse } from '../session/last-use.js'
import { requireRootRow, sessionFacts, type SessionFacts } from '../session/live.js'
import { askedThrough, stopNow, type Recorded } from './act.js'

/** What every act here answers besides its own. */
interface InForce {
  /** Null where there was nothing to stop. */
  readonly recorded: Recorded | null
}

/**
 * Disables an owner for good and ends its sessions; its tasks, goals and liabilities stay. Nothing
 * to do for one that a person has disabled before; one that a restore has is disabled for good.
 * Throws `not_found`, `conflict`/`last_principal` for the last one left, and what `stopNow` throws.
 */
export const disablePrincipal = async (
  gov: Gov, session: Session, nameOrId: string,
): Promise<{ readonly principal: Principal; readonly sessions_ended: number } & InForce> => {
  const found = (): Principal => requireDisablable(gov.store.read(), nameOrId)
  const done = await stopNow(gov, () => {
    requireRootRow(gov.store.read(), nowIso(gov), session.root.root_id)
    const row = found()
    return {
      aim: { kind: 'principal', target: row.principal_id },
      by: askedThrough('principal disable', session), isDone: isDisabledForGood(row),
    }
  })
  const principal = found()
  if (done === null) return { principal, sessions_ended: 0, recorded: null }
  const { stop, recorded } = done
  const ended = recorded.row?.facts['sessions_ended']
    ?? lookUp(gov.store.read(), collections.roots, rootsUnended, {
      under: [principal.principal_id],
    }).length
  return {
    principal: disabledForGood(principal, recorded.row?.recorded_at ?? stop.at),
    sessions_ended: Number(ended), recorded,
  }
}

/**
 * Ends the session of a token, also one that is idle. A token that belongs to no session, or to one
 * that is over, is nothing to do. Throws what `stopNow` throws.
 */
export const logout = async (
  gov: Gov, token: string,
): Promise<{ readonly ended: boolean; readonly rootId: string | null } & InForce> => {
  const rootIn = (view: View): Root | undefined => {
    const found = rootOfToken(gov, view, token)
    return found?.ended === null ? found : undefined
  }
  const live = rootIn(gov.store.read()) ?? rootIn(await gov.store.fresh())
  const root = live ?? rootOfToken(gov, gov.store.read(), token)
  if (root === undefined) return { ended: false, rootId: null, recorded: null }
  const { principal_id: principal, root_id: rootId } = root
  const done = await stopNow(gov, () => ({
    aim: { kind: 'root', target: rootId }, by: { principal, root: rootId, verb: 'logout' },
    isDone: live === undefined,
  }))
  if (done === null) return { ended: false, rootId, recorded: null }
  dropLastUse(gov.store.dir, rootId)
  return { ended: true, rootId, recorded: done.recorded }
}

/**
 * Ends a session by its id: the operator's own, or that of any other owner, since the same
 * operator could stop every route with `policy revoke`. Throws `not_found`/`session_not_found`, and
 * what `stopNow` throws.
 */
export const revokeSession = async (
  gov: Gov, session: Session, rootId: string,
): Promise<{ readonly session: SessionFacts; readonly ended: boolean } & InForce> => {
  const rootRow = (): Root => {
    const row = gov.store.read().get(collections.roots, rootId)
    if (row !== undefined) return row
    throw fail.notFound('session_not_found', 'There is no session with this id.', {
      next: 'Run `sallyport session list --all`.',
    })
  }
  const done = await stopNow(gov, () => {
    requireRootRow(gov.store.read(), nowIso(gov), session.root.root_id)
    return {
      aim: { kind: 'root', target: rootId }, by: askedThrough('session revoke', session),
      isDone: rootRow().ended !== null,
    }
  })
  if (done !== null) dropLastUse(gov.store.dir, rootId)
  const facts = sessionFacts(gov.store.read(), gov, rootRow())
  const recorded = done?.recorded ?? null
  if (done === null || recorded?.row !== null) {
    return { session: facts, ended: done !== null, recorded }
  }
  return {
    session: { ...facts, live: false, ended_at: done.stop.at, ended_reason: 'revoked' },
    ended: true, recorded,
  }
}
