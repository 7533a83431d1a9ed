/**
 * The five requests of a device, all to the one origin that it was paired with, known by its key
 * (S-027, S-197). Before each of them the pairing is read again from the disk, as late as just
 * before the first byte.
 */
import * as v from 'valibot'
import { fail, SallyportError } from '../../base/errors.js'
import { replyObject, count } from '../../base/schema.js'
import { createPinnedClient } from '../../net/client.js'
import { ContactError } from '../../net/contact-error.js'
import { isDelimited, parseReply } from '../../net/reply.js'
import type { HttpsClient, HttpsReply, HttpsRequest, PinnedClientDeps } from '../../net/types.js'
import { credentialForm, deviceIdForm, pairingEnded, type Former, type Pairing } from './pairing.js'
import type { PairingString } from './pairing-string.js'
import { captureBytesMax } from './picture.js'
import { errorCodeOf, replyBytesMax } from './reaction.js'
import type { Capture } from './spool/item.js'

/** What a client of a device needs from outside. */
export type OriginDeps = Omit<PinnedClientDeps, 'origin' | 'pin'>

/** How long one request may take, and what ends it sooner. */
interface RequestTerms {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** A service holds a head of 16 KiB at most: what only helps to find a file gives way. */
const headerCharsMax = 11_000

const noMark = (): undefined => undefined
const base64url = (text: string): string => Buffer.from(text).toString('base64url')

const pairedShape = replyObject({
  device_id: v.pipe(v.string(), v.regex(deviceIdForm)),
  owner: v.pipe(v.string(), v.maxLength(256)),
  device_name: v.pipe(v.string(), v.maxLength(256)),
  credential: v.pipe(v.string(), v.regex(credentialForm)),
  last_sequence: count,
})
/** What the service gave for a code. */
type Paired = v.InferOutput<typeof pairedShape>

const factsShape = replyObject({ device_id: v.string(), last_sequence: count })

const read = <S extends v.GenericSchema>(shape: S, reply: HttpsReply): v.InferOutput<S> | null => {
  const parsed = isDelimited(reply.headers)
    ? parseReply(reply.body, { bytesMax: replyBytesMax, depthMax: 16 }) : null
  const result = v.safeParse(shape, parsed)
  return result.success ? result.output : null
}

/**
 * Gives the code for a credential. Sent once and never again: a code works once, and whoever lost
 * the answer pairs anew. Throws `unauthorized` `edge_pairing_refused`, `remote` where no usable
 * answer came, and what the client throws.
 */
export const redeem = async (
  deps: OriginDeps, { origin, pin, code }: PairingString, deviceName: string, terms: RequestTerms,
): Promise<Paired> => {
  const body = Buffer.from(JSON.stringify({ code, device_name: deviceName }))
  const request: HttpsRequest = {
    method: 'POST', url: `${origin}/api/edge/pairings`,
    headers: { 'content-type': 'application/json' }, body,
    requestBytesMax: body.length, replyBytesMax, ...terms,
    authority: noMark, markContact: noMark,
  }
  const client = createPinnedClient({ ...deps, origin, pin })
  const reply = await client.request(request).catch(unredeemed)
  const next = errorCodeOf(reply) === 'edge_devices_full'
    ? 'Have a pairing ended there (`sallyport edge revoke DEVICE`), then use this line again.'
    : 'Run `sallyport edge pair` again on the side of the service: a code works once.'
  const paired = reply.status === 201 ? read(pairedShape, reply) : null
  if (paired !== null) return paired
  if (reply.status >= 400 && reply.status < 500) {
    throw fail.unauthorized('edge_pairing_refused', 'The service did not take the code.', {
      reason: errorCodeOf(reply), next, details: { status: reply.status },
    })
  }
  throw fail.remote('edge_pairing_failed', 'The service gave no usable answer to the code.', {
    next, details: { status: reply.status },
  })
}

/** A code whose answer was lost may be used up; one that never left is as good as before. */
const unredeemed = (error: unknown): never => {
  if (!(error instanceof ContactError) || error.kind !== 'remote') throw error
  const { code, contact, details } = error
  throw fail.remote('edge_pairing_failed', `The pairing came to nothing. ${error.message}`, {
    reason: code, details: { ...details, contact },
    next: contact === 'none' ? 'The code was not used: try again while it is valid.'
      : 'Run `sallyport edge pair` again on the side of the service: the code may be used up.',
  })
}

/** The service, for one pairing. */
export class Origin {
  readonly #client: HttpsClient
  readonly #pairing: Pairing
  readonly #again: () => Pairing
  readonly #terms: RequestTerms

  /** `again` reads the pairing from the disk. */
  constructor(deps: OriginDeps, pairing: Pairing, again: () => Pairing, terms: RequestTerms) {
    this.#client = createPinnedClient({ ...deps, origin: pairing.origin, pin: pairing.pin })
    this.#pairing = pairing
    this.#again = again
    this.#terms = terms
  }

  /** The last number that the service took; an answer of another kind is given as it is. */
  async lastSequence(): Promise<number | HttpsReply> {
    const reply = await this.#client.request({
      method: 'GET', url: `${this.#pairing.origin}/api/edge/pairing`,
      headers: this.#bearer(), requestBytesMax: 0, ...this.#common(),
    })
    const facts = reply.status === 200 ? read(factsShape, reply) : null
    return facts?.device_id === this.#pairing.device_id ? facts.last_sequence : reply
  }

  async upload({ facts, bytes }: Capture, sequence: number): Promise<HttpsReply> {
    return this.#client.request({
      method: 'POST', url: `${this.#pairing.origin}/api/edge/artifacts`,
      headers: {
        ...this.#bearer(), 'content-type': facts.mime,
        'sallyport-edge-upload': uploadHeader(facts, sequence),
      },
      body: bytes, requestBytesMax: captureBytesMax, ...this.#common(),
    })
  }

  /** Tells how many captures ever left the spool unsent. */
  async tellEvictions(evictions: number): Promise<HttpsReply> {
    const body = Buffer.from(JSON.stringify({ evictions }))
    return this.#client.request({
      method: 'POST', url: `${this.#pairing.origin}/api/edge/pairing/spool`,
      headers: { ...this.#bearer(), 'content-type': 'application/json' },
      body, requestBytesMax: body.length, ...this.#common(),
    })
  }

  /** Has a pairing of before ended, by its own credential. */
  async endFormer({ credential }: Former): Promise<HttpsReply> {
    return this.#client.request({
      method: 'POST', url: `${this.#pairing.origin}/api/edge/pairing/end`,
      headers: { authorization: `Bearer ${credential}` }, requestBytesMax: 0, ...this.#common(),
    })
  }

  #bearer(): Record<string, string> {
    return { authorization: `Bearer ${this.#pairing.credential}` }
  }

  /**
   * Whoever takes the file of the pairing away, or replaces it, stops the sending. What cannot be
   * read says nothing of the service: it is thrown as it is.
   */
  #isCurrent(): boolean {
    try {
      const now = this.#again()
      return now.credential === this.#pairing.credential && now.ended_at === null
    } catch (error) {
      if (error instanceof SallyportError && error.code === 'edge_not_paired') return false
      throw error
    }
  }

  #common() {
    const authority = (): void => {
      if (!this.#isCurrent()) throw pairingEnded()
    }
    return { replyBytesMax, ...this.#terms, authority, markContact: noMark }
  }
}

/** What an upload says of itself, in one header. */
const uploadHeader = (facts: Capture['facts'], sequence: number): string => {
  const told = {
    schema: 'sallyport.edge.upload.input.v1',
    request_id: facts.request_id,
    sequence,
    captured_at: facts.captured_at,
    sha256: facts.sha256,
    bytes: facts.bytes,
    mime: facts.mime,
    policy: { cloud_egress: facts.cloud_egress, model_egress: facts.model_egress },
    purpose: facts.purpose,
    ...(facts.source === null ? {} : { source: facts.source }),
  }
  const path = facts.source_path === null ? {} : { source_path: facts.source_path }
  const whole = base64url(JSON.stringify({ ...told, ...path }))
  return whole.length <= headerCharsMax ? whole : base64url(JSON.stringify(told))
}
