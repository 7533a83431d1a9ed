/** What every reply of a model has to be before its content is looked at. */
import type { AcceptedReply } from '../../gateway/call/order.js'
import type { GatewayProof } from '../../gateway/proof.js'

/** Why a whole reply is refused, whatever it says. */
type ReplyRefusal = 'reply_model_changed' | 'reply_provider_changed' | 'reply_truncated'

/** The names that the proof recorded, and that the model came to an end of its own. */
export const judgeReply = (reply: AcceptedReply, proof: GatewayProof): ReplyRefusal | null => {
  if (reply.model !== proof.reply_model) return 'reply_model_changed'
  if (reply.provider !== proof.reply_provider) return 'reply_provider_changed'
  // A provider that tells no reason is believed; one that broke off says so by another one.
  return reply.finish === null || reply.finish === 'stop' ? null : 'reply_truncated'
}
