/** What goes in and comes out of logging in and out, and of the operations on sessions. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { pageFields } from '../../base/page.js'
import { closedObject, strictInteger, nullableText } from '../../base/schema.js'
import type { Recorded } from '../stops/act.js'
import { requestsDocument, requestsOf, requestsShape } from '../stops/requests.js'
import { sessionLimits } from './login.js'

/** A session: times and names, never the token or its digest. */
const sessionShape = v.strictObject({
  id: v.string(),
  /** Name of the owner. */
  principal: v.string(),
  issued_at: v.string(),
  last_use_at: v.string(),
  idle_expires_at: v.string(),
  expires_at: v.string(),
  ended_at: nullableText,
  ended_reason: nullableText,
  /** Whether it would be accepted now. */
  live: v.boolean(),
})
export type SessionDocument = v.InferOutput<typeof sessionShape>

const loginShape = v.strictObject({
  root: v.strictObject({
    id: v.string(),
    principal: v.string(),
    issued_at: v.string(),
    idle_expires_at: v.string(),
    expires_at: v.string(),
  }),
  /** What had left before of what rested on sessions that were replaced. */
  requests: requestsShape,
})
/** Result of a login: never the token. */
export type LoginDocument = v.InferOutput<typeof loginShape>

const { idleMsMin, idleMsMax, ttlMsMin, ttlMsMax } = sessionLimits

/** Opening a session; idle time and life in milliseconds. */
export const sessionLogin = contract({
  name: 'login',
  input: closedObject({
    owner: v.optional(v.string()),
    passphrase: v.optional(v.string()),
    idle: strictInteger(idleMsMin, idleMsMax),
    ttl: strictInteger(ttlMsMin, ttlMsMax),
    replace: v.optional(v.boolean()),
  }),
  output: loginShape,
  toDocument: ({ session, sent }: {
    readonly session: SessionDocument; readonly sent: Recorded['sent']
  }) => {
    const { id, principal, issued_at, idle_expires_at, expires_at } = session
    return {
      root: { id, principal, issued_at, idle_expires_at, expires_at },
      requests: requestsDocument(sent),
    }
  },
})

const logoutShape = v.strictObject({
  ended: v.boolean(), root: nullableText,
  /** What had left before of what rested on the session. */
  requests: requestsShape,
})
export const sessionLogout = contract({
  name: 'logout',
  output: logoutShape,
  toDocument: ({ ended, rootId, recorded }: {
    readonly ended: boolean; readonly rootId: string | null; readonly recorded: Recorded | null
  }) => ({ ended, root: rootId, requests: requestsOf(recorded) }),
})

const showShape = v.strictObject({ root: sessionShape })
export const sessionShow = contract({
  name: 'session.show',
  output: showShape,
  toDocument: (root: SessionDocument) => ({ root }),
})

/** Sessions of the operator or of every owner, newest first. */
export const sessionList = contract({
  name: 'session.list',
  input: closedObject({
    all: v.optional(v.boolean()), live: v.optional(v.boolean()),
    ...pageFields('root'),
  }),
  output: v.array(sessionShape),
  toDocument: (sessions: readonly SessionDocument[]) => [...sessions],
})

const revokedShape = v.strictObject({
  root: sessionShape, ended: v.boolean(),
  /** What had left before of what rested on it. */
  requests: requestsShape,
})
export const sessionRevoke = contract({
  name: 'session.revoke',
  input: closedObject({ session: v.string() }),
  output: revokedShape,
  toDocument: ({ session, ended, recorded }: {
    readonly session: SessionDocument; readonly ended: boolean; readonly recorded: Recorded | null
  }) => ({ root: session, ended, requests: requestsOf(recorded) }),
})
