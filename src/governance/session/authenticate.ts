import { fail } from '../../base/errors.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import type { Gov, Session } from '../context.js'
import { collections, rootsByToken, type Root } from '../rows.js'
import { stopCovering } from '../stops/pending.js'
import { offRoutes, stoppedError, stopsEverybody } from '../stops/stop.js'
import { touchLastUse } from './last-use.js'
import { requireLiveRow, sessionMoment } from './live.js'
import { isToken, sameDigest, tokenDigest } from './token.js'

/**
 * The root that a token belongs to, live or not. It is found by the digest under the store's key,
 * which nobody without that key can aim at, so that the time of the look tells nothing of tokens.
 */
export const rootOfToken = (gov: Gov, view: View, token: string): Root | undefined => {
  if (!isToken(token)) return undefined
  const digest = tokenDigest(gov.store, token)
  const found = rowsUnder(view, collections.roots, rootsByToken, { under: [digest] }).at(-1)?.doc
  return found !== undefined && sameDigest(found.token_digest, digest) ? found : undefined
}

/** A stop that waits to be recorded ends a session as its record will. */
const requireUnstopped = (gov: Gov, { root_id: root, principal_id: principal }: Root): void => {
  const party = { principal, root, task: null, connection: null, ...offRoutes }
  const stop = stopCovering(gov.store, party, () => false)
  if (stop === undefined || stopsEverybody(stop)) return
  throw stoppedError(stop)
}

const requireWhole = ({ store }: Gov): void => {
  const { damage } = store.health()
  if (damage === null) return
  throw fail.damaged(damage.code, `${damage.message} Whose session this is cannot be told.`, {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })
}

/** Whether, and how often, a use of a session is noted. */
interface TouchRule {
  readonly touch?: boolean
  /** A use this soon after the noted one is not noted, ms; left out: each is. */
  readonly touchEveryMs?: number
}

/**
 * The operator behind a token. Throws `unauthorized`: `session_required` (none given),
 * `session_invalid`, `session_ended`, `session_expired`, `session_idle`,
 * `session_clock_stepped_back`, `principal_disabled`; or `damaged` where damage may hide its row.
 * Notes the use unless `touch` is false. `view`: the rows that the caller has just read.
 */
export const authenticate = (
  gov: Gov,
  token: string | null | undefined,
  { touch = true, touchEveryMs }: TouchRule = {},
  view: View = gov.store.read(),
): Session => {
  const next = 'Run `sallyport login`.'
  if (token === null || token === undefined || token === '') {
    throw fail.unauthorized('session_required', 'This needs a session.', { next })
  }
  const found = rootOfToken(gov, view, token)
  if (found === undefined) {
    // Its row may be among those that damage hides.
    requireWhole(gov)
    throw fail.unauthorized('session_invalid', 'There is no such session.', { next })
  }
  return liveSession(gov, view, found.root_id, { touch, touchEveryMs })
}

/** Of a root that somebody has proved to be the holder of. */
const liveSession = (
  gov: Gov, view: View, rootId: string,
  { touch, touchEveryMs }: { readonly touch: boolean; readonly touchEveryMs: number | undefined },
): Session => {
  const moment = sessionMoment(gov, rootId)
  const session = requireLiveRow(view, rootId, moment)
  const { root } = session
  requireUnstopped(gov, root)
  if (touch) {
    // A note that is seldom must not be what ends a session that is used.
    const everyMs = touchEveryMs === undefined
      ? undefined : Math.min(touchEveryMs, root.idle_ms / 10)
    const note = { everyMs, seenMs: moment.lastUseMs }
    touchLastUse(gov.store.dir, root.root_id, gov.clock.wallMs(), note)
  }
  return session
}

/**
 * The operator of a session whose token was judged before, by its id: for what a face made from
 * that session in its own memory. Throws as `authenticate`; notes a use only where `touch` says so.
 */
export const authenticateRoot = (
  gov: Gov, rootId: string, { touch = false, touchEveryMs }: TouchRule = {},
  view: View = gov.store.read(),
): Session => {
  if (view.get(collections.roots, rootId) === undefined) requireWhole(gov)
  return liveSession(gov, view, rootId, { touch, touchEveryMs })
}
