import { fail } from '../../base/errors.js'
import { parseGatewaySelector } from '../../governance/selectors.js'
import { gatewayLimits, routingControls, type GatewayPlace } from '../constants.js'
import type { SlotSetup } from '../setup.js'
import type { CallContent } from './order.js'

/** Request headers. The key appears here and nowhere else. */
export const gatewayHeaders = (apiKey: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
  accept: 'application/json',
})

/**
 * The exact bytes of a request. Every routing control is always there, `only` holds exactly the
 * slot's allow-list, there is no `models` list and no stream, and the cost is asked for. The model
 * text is parsed again, so that a forged row cannot name the text capability's model.
 * Throws `rejected` `selector_refused`, `request_too_large`.
 */
export const completionRequestBytes = (
  place: GatewayPlace, setup: SlotSetup, content: CallContent,
): Buffer => {
  const { wireModel } = parseGatewaySelector(setup.model, place.reserved)
  const body = {
    model: wireModel,
    messages: content.messages,
    max_tokens: content.maxTokens,
    stream: false,
    ...(content.responseFormat === null ? {} : { response_format: content.responseFormat }),
    usage: { include: true },
    provider: { only: setup.upstream_allow, ...routingControls },
  }
  const bytes = Buffer.from(JSON.stringify(body), 'utf8')
  if (bytes.length <= gatewayLimits.requestBytesMax) return bytes
  throw fail.rejected(
    'request_too_large',
    `The request is ${bytes.length} bytes; the limit is ${gatewayLimits.requestBytesMax} bytes.`,
    { details: { bytes: bytes.length, limit: gatewayLimits.requestBytesMax } },
  )
}
