/**
 * Reads what the gateway's key has spent: `GET {api_base}/key` (OpenRouter, "Get current API key":
 * `data.usage`, US dollars over the life of the key). It costs nothing and sends no content; it
 * takes the lane as every request does, passes the gates of what it is read for, and stops and
 * fence. A pass goes on whatever becomes of it; recovery and status never ask.
 */
import { SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Order, Sent } from '../../contact/order.js'
import { appendAudit } from '../../governance/audit.js'
import { denied } from '../../governance/judge/fact.js'
import { momentOf } from '../../governance/judge/moment.js'
import type { LanePriority } from '../../state/holds/lane.js'
import { giversOf } from '../../governance/policy/consents.js'
import { isIdentityEncoded, isRecord, member, parseReply } from '../../net/reply.js'
import type { HttpsReply } from '../../net/types.js'
import type { FreshView } from '../../state/types.js'
import { egressPurpose, gatewayCredentialRef, gatewayRuntime, profileOf } from '../constants.js'
import type { GatewayContext } from '../context.js'
import type { SlotUse } from '../readiness.js'
import { gatewayCollection, gatewayRouteId } from '../setup.js'
import { dollarLexeme } from './dollars.js'
import { keepReading } from './usage-rows.js'

/** What a reading is taken for: its gates are those of the calls that it is taken around. */
export interface ReadingFor extends SlotUse {
  readonly priority: LanePriority
  /** Principal id of whoever consented to the calls. */
  readonly principal: string
  /** Every gate of those calls, asked at each boundary; throws to refuse. */
  requires(view: FreshView): void
}

/** What a reply said, as it was written. */
interface Told {
  readonly usage: string
  readonly elsewhere: string | null
}

const limits = { requestMs: 10_000, operationMs: 30_000, replyBytes: 65_536, depth: 16 } as const

/** What the key is used with: both as they were when the reading began. */
interface Asked {
  readonly grantId: string
  readonly fingerprint: string
  readonly baseUrl: string
}

const urlOf = ({ baseUrl }: Asked): string => `${baseUrl}/key`

/** Total: a reason for every reply that tells no amount. */
export const usageIn = (reply: HttpsReply): Told | { readonly reason: string } => {
  if (reply.status !== 200) return { reason: `http_status_${reply.status}` }
  if (!isIdentityEncoded(reply.headers)) return { reason: 'content_encoding' }
  const root = parseReply(reply.body, { bytesMax: limits.replyBytes, depthMax: limits.depth })
  const data = root === null ? null : member(root, 'data')
  if (!isRecord(data)) return { reason: 'malformed_json' }
  const usage = dollarLexeme(member(data, 'usage'))
  if (usage === null) return { reason: 'usage_missing' }
  return { usage, elsewhere: dollarLexeme(member(data, 'byok_usage')) }
}

/**
 * The set-up is the one that the reading began under, and every gate of the calls is open, on rows
 * of now; answers the policy revision. Throws `trust_denied`, and what the gates throw.
 */
const requireOpen = (
  ctx: GatewayContext, use: ReadingFor, asked: Asked, view: FreshView,
): number => {
  const route = view.get(gatewayCollection, gatewayRouteId)
  const isSame = route !== undefined && route.grant_id === asked.grantId
    && route.api_base === asked.baseUrl && route.credential_fingerprint === asked.fingerprint
  if (!isSame) {
    throw denied([{ name: 'slot_changed', kind: 'unauthorized' }], {
      code: 'trust_denied',
      message: 'What this reading rests on does not stand any more.',
      next: 'Nothing was sent. See `sallyport gateway show`.',
    })
  }
  use.requires(view)
  return momentOf(ctx.gov, view).policy.head.revision
}

const reasonOf = (sent: Sent<Told | { readonly reason: string }>): string | null => {
  if (sent.kind !== 'reply') return sent.reason
  return 'reason' in sent.verdict ? sent.verdict.reason : null
}

type Read = Sent<Told | { readonly reason: string }>

const orderOf = (ctx: GatewayContext, use: ReadingFor): Order<Asked, Read, boolean> => ({
  step: 'usage',
  verb: 'gateway usage',
  noun: 'reading',
  operationMsMax: limits.operationMs,
  lane: use.priority,
  runtime: gatewayRuntime,
  profile: profileOf(use.slot),
  credential: gatewayCredentialRef,
  claim: (tx) => {
    const route = tx.get(gatewayCollection, gatewayRouteId)
    const claimed = {
      grantId: route?.grant_id ?? '', fingerprint: route?.credential_fingerprint ?? '',
      baseUrl: route?.api_base ?? '',
    }
    return { kind: 'claimed', claimed }
  },
  prepare: () => ({ hold: null, requestMs: limits.requestMs }),
  decide: (tx, _now, { claimed }) => ({
    provider: 'gateway', url: urlOf(claimed), decision_id: null,
    policy_revision: requireOpen(ctx, use, claimed, tx),
  }),
  authority: (view, _boundary, { claimed }) => requireOpen(ctx, use, claimed, view),
  party: (_run, view) => ({
    principal: use.principal, root: null, givers: giversOf(view, [egressPurpose, use.purpose]),
    provider: gatewayRuntime, slot: use.slot, purpose: use.purpose,
  }),
  run: (send, { claimed, key }) => send({
    authority: 'read',
    request: () => ({
      method: 'GET', url: urlOf(claimed),
      headers: { authorization: `Bearer ${key.toString('latin1')}`, accept: 'application/json' },
      requestBytesMax: 0, replyBytesMax: limits.replyBytes,
    }),
    timeoutMs: (leftMs) => (leftMs > 0 ? Math.min(leftMs, limits.requestMs) : null),
    judge: usageIn,
  }),
  unsent: (why) => why,
  money: () => ({ ledger: 'release' }),
  close: (tx, now, { claimed: { fingerprint }, operationId }, { evidence }) => {
    const reason = reasonOf(evidence)
    if (evidence.kind === 'reply' && !('reason' in evidence.verdict)) {
      keepReading(tx, {
        read_at: now, key_fingerprint: fingerprint, usage_usd: evidence.verdict.usage,
        elsewhere_usd: evidence.verdict.elsewhere,
      })
    }
    appendAudit(tx, now, {
      what: 'gateway.usage_read', principal: use.principal, root: null, subject: operationId,
      facts: { slot: use.slot, reason, face: ctx.gov.face },
    })
    const outcome = reason === null ? 'succeeded' : 'no_reading'
    return { kept: reason === null, outcome, adopts: false }
  },
  details: () => ({ slot: use.slot }),
})

/** Whether the pass may go on without a reading: what it says itself is told by the next call. */
const isNoMatter = (error: unknown): boolean =>
  error instanceof SallyportError && error.kind !== 'damaged' && error.kind !== 'failed'

/** Takes one reading; false where there is none. Throws defects, damage and a failed disk only. */
export const readUsage = async (ctx: GatewayContext, use: ReadingFor): Promise<boolean> => {
  try {
    return await runOrder(ctx, orderOf(ctx, use))
  } catch (error) {
    if (isNoMatter(error)) return false
    throw error
  }
}
