/**
 * Whether a root is live. Two parts: what its row says (ended, absolute expiry, owner disabled),
 * which a rule inside a transaction can check from rows alone; and idle expiry, which needs the
 * last use kept in `run/`.
 *
 * The wall clock may step back. Time never runs back for a session: the newest moment at which it
 * was used counts as now. A step back by more than a minute refuses it, because the time that
 * passes until the clock has caught up again could not be counted and would lengthen it.
 */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import { nowIso, placeOf, type Gov, type Place, type Session } from '../context.js'
import { orUndefined } from '../judge/fact.js'
import { collections, type Principal, type Root } from '../rows.js'
import { readLastUse } from './last-use.js'

/** How far the wall clock may lie behind the newest use before a session is refused. */
export const clockStepBackMsMax = 60_000

const next = 'Run `sallyport login`.'

/** Owner of a root, if it exists and is not disabled. */
const enabledOwner = (view: View, root: Root): Principal => {
  const principal = view.get(collections.principals, root.principal_id)
  if (principal === undefined || principal.disabled_at !== null) {
    const text = 'The owner of this session is disabled.'
    throw fail.unauthorized('principal_disabled', text, { next })
  }
  return principal
}

/**
 * The session that a root's row still allows at `now` (ISO). Throws `unauthorized`:
 * `session_invalid`, `session_ended`, `session_expired`, `principal_disabled`. Looks at rows only,
 * so not at idleness.
 */
export const requireRootRow = (view: View, now: string, rootId: string): Session =>
  allowedBy(view, now, view.get(collections.roots, rootId))

/** The same of a row that was read. */
const allowedBy = (view: View, now: string, root: Root | undefined): Session => {
  if (root === undefined) {
    throw fail.unauthorized('session_invalid', 'There is no such session.', { next })
  }
  if (root.ended !== null) {
    const reason = root.ended.reason
    throw fail.unauthorized('session_ended', 'This session has ended.', { next, reason })
  }
  if (msFromIso(now) >= msFromIso(root.expires_at)) {
    throw fail.unauthorized('session_expired', 'This session is past its expiry.', { next })
  }
  return { root, principal: enabledOwner(view, root) }
}

/** What a rule over rows cannot know of a session: milliseconds since 1970 UTC. */
interface SessionMoment {
  readonly wallMs: number
  /** Its last use; null where it is not known. */
  readonly lastUseMs: number | null
}

/** That of this moment. Reads a file. */
export const sessionMoment = (at: Gov | Place, rootId: string): SessionMoment => {
  const { dir, clock } = placeOf(at)
  return { wallMs: clock.wallMs(), lastUseMs: readLastUse(dir, rootId) }
}

/** Newest moment at which a root is known to have been used, milliseconds. */
const newestUseMs = (root: Root, lastUseMs: number | null): number =>
  Math.max(msFromIso(root.issued_at), lastUseMs ?? 0)

/**
 * The session of a root that is live: row, owner, absolute and idle expiry. Throws `unauthorized`
 * as `requireRootRow` does, or `session_idle`, or `session_clock_stepped_back`. Touches nothing.
 */
export const liveSession = (view: View, at: Gov | Place, rootId: string): Session =>
  requireLiveRow(view, rootId, sessionMoment(at, rootId))

/**
 * As `liveSession`, from rows and two numbers that were read before: for a transaction that reads
 * no file, in which nevertheless a session may be found to have idled away or its clock set back.
 */
export const requireLiveRow = (view: View, rootId: string, moment: SessionMoment): Session =>
  liveBy(view, view.get(collections.roots, rootId), moment)

/** The same of a row that was read. */
const liveBy = (view: View, row: Root | undefined, moment: SessionMoment): Session => {
  const { wallMs: wall, lastUseMs } = moment
  const used = row === undefined ? 0 : newestUseMs(row, lastUseMs)
  const session = allowedBy(view, isoFromMs(Math.max(wall, used)), row)
  if (wall < used - clockStepBackMsMax) {
    const text = 'The clock of this machine lies behind the last use of this session.'
    throw fail.unauthorized('session_clock_stepped_back', text, { next })
  }
  if (Math.max(wall, used) - used >= session.root.idle_ms) {
    throw fail.unauthorized('session_idle', 'This session was idle for too long.', { next })
  }
  return session
}

/** The root of a live session; throws as `liveSession` does. */
export const liveRoot = (view: View, at: Gov | Place, rootId: string): Root =>
  liveSession(view, at, rootId).root

/**
 * Whether a session lives, as far as is known here. On a shared state rows alone say whether it is
 * over: what another machine notes of its use is not known.
 */
export const mayLive = (view: View, gov: Gov, rootId: string): boolean =>
  orUndefined(() => (gov.store.machine === null ? liveRoot(view, gov, rootId)
    : requireRootRow(view, nowIso(gov), rootId))) !== undefined

/** When a root ends by itself unless it is used again, milliseconds since 1970 UTC. */
export const rootEndsMs = (view: View, at: Gov | Place, rootId: string): number => {
  const { dir } = placeOf(at)
  const root = view.get(collections.roots, rootId)
  if (root === undefined || root.ended !== null) return 0
  const used = newestUseMs(root, readLastUse(dir, rootId))
  return Math.min(used + root.idle_ms, msFromIso(root.expires_at))
}

const isLive = (view: View, root: Root, moment: SessionMoment): boolean => {
  try {
    liveBy(view, root, moment)
    return true
  } catch {
    return false
  }
}

/** What the world sees of a root. */
export const sessionFacts = (view: View, at: Gov | Place, root: Root) => {
  // One look for all: with two of them a session could end between its times and `live`.
  const moment = sessionMoment(at, root.root_id)
  const used = newestUseMs(root, moment.lastUseMs)
  const idleEnd = Math.min(used + root.idle_ms, msFromIso(root.expires_at))
  return {
    id: root.root_id,
    principal: view.get(collections.principals, root.principal_id)?.name ?? root.principal_id,
    issued_at: root.issued_at,
    last_use_at: isoFromMs(used),
    idle_expires_at: isoFromMs(idleEnd),
    expires_at: root.expires_at,
    ended_at: root.ended?.at ?? null,
    ended_reason: root.ended?.reason ?? null,
    live: isLive(view, root, moment),
  }
}
export type SessionFacts = ReturnType<typeof sessionFacts>
