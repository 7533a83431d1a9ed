/** What digests and conclusions have alike once their text was bought: judged, sealed, told. */
import { sha256Hex } from '../../base/canonical.js'
import type { AcceptedReply, CallEnd, Judged } from '../../gateway/call/order.js'
import { registerArtifact } from '../../governance/artifacts.js'
import type { Tx } from '../../state/types.js'
import { judgeReply } from '../payload/reply.js'
import { holdsSecret } from '../payload/secrets.js'
import { codePoints, judgeText } from './judge.js'
import type { TextRoute } from './readiness.js'

/** What an accepted reply comes to: the bytes of its sealed payload. */
export interface BoughtText {
  readonly payload: Buffer
}

/** Judges a reply by the proof of its route and as a text; `payloadOf` makes its payload. */
export const judgeBought = (
  reply: AcceptedReply, { proof }: TextRoute, charsMax: number,
  payloadOf: (content: string) => Buffer,
): Judged<BoughtText> => {
  const refused = judgeReply(reply, proof) ?? judgeText(reply.content, charsMax, holdsSecret)
  return refused === null
    ? { refused, content: { payload: payloadOf(reply.content) } } : { refused }
}

/** Who owns a text under which label, and what its row says of how it was made. */
interface TextTerms {
  readonly label: string
  readonly owner: string
  readonly route: TextRoute
  readonly promptVersion: string
}

/**
 * Registers the sealed text of a call that succeeded and gives what its row says of it, in the
 * record that settles its charge: both or neither. Null where the call gave no text.
 */
export const keepBought = (
  tx: Tx, now: string, { receipt, usable, sealed: ref }: CallEnd<BoughtText>,
  { label, owner, route, promptVersion }: TextTerms,
) => {
  if (usable === null || ref === null) return null
  const { reply, content: { payload } } = usable
  const { artifact_id } = registerArtifact(tx, now, {
    label, ref, owner, taskId: null, adopted: true,
  })
  return {
    artifact_id,
    payload_sha256: sha256Hex(payload),
    content_chars: codePoints(reply.content),
    model: route.setup.model,
    reply_model: reply.model,
    reply_provider: reply.provider,
    prompt_version: promptVersion,
    operation_id: receipt.operation_id,
    cost_microusd: receipt.cost.amount_microusd ?? 0,
    written_at: now,
  }
}
