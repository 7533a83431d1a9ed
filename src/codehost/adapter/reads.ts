/**
 * Protected reads through a connection, as one order: GETs alone, over connections of their own,
 * each asked for at every boundary. No task, no money; what ends writes does not end them.
 */
import type { Order, Running, Sent, Step, Unsent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import type { Connection } from '../../governance/connections/connection-rows.js'
import { momentOf } from '../../governance/judge/moment.js'
import { liveRoot } from '../../governance/session/live.js'
import type { Session } from '../../governance/context.js'
import { vaultDigest } from '../../governance/vault.js'
import type { HttpsReply } from '../../net/types.js'
import type { FreshView, View } from '../../state/types.js'
import { codehostLimits, codehostProfile, codehostProvider, codehostRuntime } from '../constants.js'
import { codehostBase, type CodehostContext } from '../context.js'
import { requireRead, type Bound } from '../readiness.js'
import { readHeaders } from './request.js'
import { saysAll } from './refusal.js'

/** Reads one path; the reply is judged whatever it is. A reply has 1 MiB unless it is said. */
export type Get = <V>(
  path: string, judge: (reply: HttpsReply) => V, replyBytesMax?: number,
) => Promise<Sent<V>>

type OrderParts<E, K> = Pick<Order<Bound, E, K>, 'step' | 'verb' | 'noun' | 'keep' | 'close'>

/** What reads are for. */
export interface Reading<E, K> extends OrderParts<E, K> {
  readonly connectionId: string
  /** First path, for the route row. */
  readonly path: string
  readonly operationMsMax: number
  /** What it requires besides, of the view of each boundary; throws to refuse. */
  readonly requires?: (view: FreshView) => void
  readonly read: (get: Get, key: Uint8Array) => Promise<E>
  readonly unsent: (why: Unsent) => E
}

/** The rows that reads through a connection begin with. */
export const boundOf = (
  view: View, session: Session, connection: Connection, baseUrl: string,
): Bound => ({
  connectionId: connection.connection_id, owner: session.principal.principal_id,
  root: session.root.root_id, repository: connection.repository, revision: connection.revision,
  vaultDigest: vaultDigest(view, connection.credential_ref) ?? '', baseUrl,
})

const authorityOf = <E, K>(
  ctx: CodehostContext, { requires }: Reading<E, K>,
) => (view: FreshView, { claimed }: Running<Bound>): number => {
  const moment = momentOf(ctx.gov, view)
  requireRead({ moment, bound: claimed, baseUrl: codehostBase(ctx.gov) })
  requires?.(view)
  return moment.policy.head.revision
}

/** One GET of a path below the host's base, as a step of an order. */
export const getStep = <V>(
  baseUrl: string, key: Uint8Array, path: string, judge: (reply: HttpsReply) => V,
  replyBytesMax: number = codehostLimits.smallReplyBytesMax,
  onReplyBytes?: (bytes: number) => boolean,
): Step<V> => ({
  authority: 'read',
  request: () => ({
    method: 'GET', url: `${baseUrl}${path}`, headers: readHeaders(key), requestBytesMax: 0,
    replyBytesMax, ...(onReplyBytes === undefined ? {} : { onReplyBytes }),
  }),
  timeoutMs: (leftMs) => (leftMs > 0 ? Math.min(leftMs, codehostLimits.requestMs) : null),
  judge,
})

export const readOrder = <E, K>(
  ctx: CodehostContext, session: Session, connection: Connection, reading: Reading<E, K>,
): Order<Bound, E, K> => {
  const authority = authorityOf(ctx, reading)
  const { step, verb, noun, operationMsMax, path, connectionId } = reading
  return {
    step, verb, noun, operationMsMax, lane: null, session: true,
    runtime: codehostRuntime, profile: codehostProfile, credential: connection.credential_ref,
    claim: (tx) => {
      liveRoot(tx, ctx.gov, session.root.root_id)
      const own = requireOwnConnection(tx, session, connectionId)
      return { kind: 'claimed', claimed: boundOf(tx, session, own, ctx.baseUrl) }
    },
    prepare: () => ({ hold: null, requestMs: codehostLimits.requestMs }),
    decide: (tx, _now, run) => ({
      provider: codehostProvider, url: `${ctx.baseUrl}${path}`, decision_id: null,
      policy_revision: authority(tx, run),
    }),
    authority: (view, _boundary, run) => authority(view, run),
    party: () => ({
      principal: session.principal.principal_id, root: session.root.root_id, connection: null,
    }),
    // A stop of everything ends what writes; this reads.
    covered: ({ kind }) => (kind === 'all' ? false : undefined),
    run: (send, { key }) => reading.read((at, judge, bytesMax) =>
      send({ ...getStep(ctx.baseUrl, key, at, judge, bytesMax), judgesHead: saysAll }), key),
    unsent: reading.unsent,
    money: () => ({ ledger: 'release' }),
    ...(reading.keep === undefined ? {} : { keep: reading.keep }),
    close: reading.close,
    details: () => ({ connection_id: connectionId }),
  }
}
