/**
 * What a complete 4xx of the host is worth: whether the whole of it proves that what was asked for
 * was refused, whether a limit of the token is its reason, and when the token may come back. Pure.
 */
import { isoFromMs } from '../../base/clock.js'
import {
  isIdentityEncoded, isRecord, member, parseReply, type JsonRecord,
} from '../../net/reply.js'
import { retryAfterOf, type RetryAfter } from '../../net/retry-after.js'
import type { HttpsReply } from '../../net/types.js'
import { codehostLimits } from '../constants.js'

const depthMax = 32
const limited = /\b(?:rate limit|abuse detection)/i
/** Hosts say so where they gave up, and may have done it all the same. */
const timedOut = /timed?[ -]?out|timeout/i
/** What is there already may be what was sent: a host, or what stands before it, tried twice. */
const isThere = /already[ _]exists/i

const saidIn = ({ headers, body }: HttpsReply): JsonRecord | null =>
  (isIdentityEncoded(headers)
    ? parseReply(body, { bytesMax: codehostLimits.smallReplyBytesMax, depthMax }) : null)

const messageOf = (said: JsonRecord | null): string => {
  const message = said === null ? undefined : member(said, 'message')
  return typeof message === 'string' ? message : ''
}

const lastOf = ({ headers }: HttpsReply, name: string): string => headers.get(name)?.at(-1) ?? ''

/** Whether a reply says that the token has no requests left for now. */
export const isLimited = (reply: HttpsReply): boolean => reply.status === 429
  || (reply.status === 403 && (reply.headers.has('retry-after')
    || lastOf(reply, 'x-ratelimit-remaining') === '0' || limited.test(messageOf(saidIn(reply)))))

/** Whether a head alone says what a reply does: of a 403 the body tells a limit from a token. */
export const saysAll = (head: HttpsReply): boolean => head.status !== 403 || isLimited(head)

const secondMs = 1_000

/** The end of the hour that a token's requests are counted in, by the host's own clock. */
const resetOf = (reply: HttpsReply): RetryAfter | null => {
  const told = lastOf(reply, 'x-ratelimit-reset')
  if (lastOf(reply, 'x-ratelimit-remaining') !== '0' || !/^\d{1,12}$/.test(told)) return null
  const atMs = Number(told) * secondMs
  const dateMs = Date.parse(lastOf(reply, 'date'))
  return Number.isNaN(dateMs) ? { atMs } : { afterMs: atMs - dateMs }
}

/** When the token may come back, of a reply that names a limit; null where it does not say. */
export const backOf = (reply: HttpsReply): RetryAfter | null =>
  (isLimited(reply) ? retryAfterOf(reply) ?? resetOf(reply) : null)

/** The same as members of the details of an error: seconds from now, or a time. */
export const backDetails = (
  back: RetryAfter | null,
): { readonly retry_after_s?: number, readonly retry_at?: string } => {
  if (back === null) return {}
  if ('afterMs' in back) return { retry_after_s: Math.max(0, Math.ceil(back.afterMs / secondMs)) }
  return { retry_at: isoFromMs(back.atMs) }
}

/** The same in words. */
export const backText = (back: RetryAfter): string => {
  const { retry_after_s: seconds, retry_at: at } = backDetails(back)
  return seconds === undefined ? `from ${at ?? ''} on` : `in ${seconds} s`
}

const isProblem = (value: unknown): boolean => {
  const code = isRecord(value) ? member(value, 'code') : undefined
  return typeof code === 'string'
}

/** A validation that failed comes before anything is done: each of its problems has a code. */
const saysInvalid = (said: JsonRecord): boolean => {
  const errors = member(said, 'errors') ?? []
  const all = Array.isArray(errors) && errors.every(isProblem)
  return all && (errors.length > 0 || messageOf(said) === 'Validation Failed')
}

/**
 * Whether a complete 4xx proves that what was asked for was not done. A 404 proves no absence and a
 * 408 no end; of a 409 and a 422 the whole of it has to name what was wrong with the request.
 */
export const provesRefusal = (reply: HttpsReply): boolean => {
  if (reply.status === 404 || reply.status === 408) return false
  if (reply.status !== 409 && reply.status !== 422) return true
  const said = saidIn(reply)
  const text = reply.body.toString('utf8')
  return said !== null && messageOf(said) !== '' && saysInvalid(said)
    && !timedOut.test(text) && !isThere.test(text)
}
