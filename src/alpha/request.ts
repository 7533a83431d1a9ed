import { fail } from '../base/errors.js'
import { alphaLimits } from './constants.js'
import { parseUuidText } from './identity.js'
import type { AlphaTextInput } from './input.js'

/** `POST` address of the one inference (A-135: the public completion path under the base). */
export const inferenceUrl = (baseUrl: string): string => `${baseUrl}/chat/completions`

/** `POST` address of the cost readback; with the base's `/v1` it is `/v1/billing/costs`. */
export const billingUrl = (baseUrl: string): string => `${baseUrl}/billing/costs`

/** Request headers of both calls. The key appears here and nowhere else. */
export const providerHeaders = (apiKey: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'identity',
})

/**
 * The exact bytes of the inference request: the fixed model, one user message, `n` 1, the input's
 * own `max_tokens`, no stream; nothing else.
 * Throws `rejected` `request_too_large` above 64 KiB; nothing is cut.
 */
export const inferenceRequestBytes = (input: AlphaTextInput, modelId: string): Buffer => {
  const body = {
    model: modelId,
    messages: [{ role: 'user', content: input.question }],
    n: 1,
    max_tokens: input.max_output_tokens,
    stream: false,
  }
  return requireRequestSize(Buffer.from(JSON.stringify(body), 'utf8'))
}

/** Passes request bytes of at most 64 KiB; else `rejected` `request_too_large`. */
export const requireRequestSize = (bytes: Buffer): Buffer => {
  if (bytes.length > alphaLimits.requestBytesMax) {
    throw fail.rejected(
      'request_too_large',
      `The request is ${bytes.length} bytes; the limit is ${alphaLimits.requestBytesMax} bytes.`,
      { details: { bytes: bytes.length, limit: alphaLimits.requestBytesMax } },
    )
  }
  return bytes
}

/** The exact bytes of a billing request: one lowercase UUID. */
export const billingRequestBytes = (billingUuid: string): Buffer => {
  const uuid = parseUuidText(billingUuid)
  if (uuid === null) throw new TypeError('a billing request needs a strict UUID')
  return Buffer.from(JSON.stringify({ requestIds: [uuid] }), 'utf8')
}
