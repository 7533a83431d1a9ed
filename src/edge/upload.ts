/**
 * Taking what a device sends. Everything that can be refused is refused before a byte is read; the
 * bytes go, sealed, where they have no name; digest, length and kind are found by this program
 * itself; and one record compares credential, sequence and request id once more and then has
 * artifact and counters. Whatever ends it otherwise leaves nothing (S-204).
 */
import { canonicalJson } from '../base/canonical.js'
import { fail, SallyportError } from '../base/errors.js'
import { newId } from '../base/ids.js'
import { discardStored } from '../governance/artifacts.js'
import { nowIso, type Gov } from '../governance/context.js'
import type { Guard } from '../state/holds/guard.js'
import { formatOf } from '../images/facts.js'
import { rowsUnder } from '../state/indexes.js'
import type { ArtifactRef, StreamWriter, Tx, View } from '../state/types.js'
import { edgeLabel } from './constants.js'
import type { UploadHead } from './edge-contract.js'
import { noteUpload, sweepInterrupted, uploadSettled } from './interrupted-uploads.js'
import { currentParty, type EdgeParty } from './credential.js'
import {
  artifactsByRequest, edgeCollections, spentId, type EdgeArtifact, type EdgeDevice,
} from './edge-rows.js'

/** Longest signature of a kind that is taken, bytes. */
const signatureBytes = 8

/** What is compared when a request id comes again; the sequence may be another. */
const contentOf = (declared: Pick<
  EdgeArtifact, 'captured_at' | 'mime' | 'policy' | 'purpose' | 'source'
>, { sha256, bytes }: { readonly sha256: string; readonly bytes: number }): string => {
  const { captured_at, mime, policy, purpose, source } = declared
  return canonicalJson({ captured_at, mime, policy, purpose, source, sha256, bytes })
}

const contentOfHead = (head: UploadHead): string =>
  contentOf({ ...head, source: head.source ?? null }, head)

/**
 * What was stored under this request id of the device; undefined for a new one. Throws `conflict`
 * `request_id_conflict` for other content, or where a state that was replaced had accepted it.
 */
const storedBefore = (
  view: View, { device_id: device }: EdgeDevice, head: UploadHead,
): EdgeArtifact | undefined => {
  const { request_id: request } = head
  const found = rowsUnder(view, edgeCollections.artifacts, artifactsByRequest, {
    under: [device, request],
  }).at(-1)?.doc
  const spent = view.get(edgeCollections.spent, spentId(device, request))
  const same = found !== undefined && contentOf(found, found.ref) === contentOfHead(head)
  if (same) return found
  if (found === undefined && spent === undefined) return undefined
  throw fail.conflict(
    'request_id_conflict', 'This request id was used for another upload of this device.', {
      next: 'Send new content under a new request id and the next sequence.',
    },
  )
}

/** The owner is the device's, whatever the body claims (S-030). */
const requireOwner = (device: EdgeDevice, { owner }: UploadHead): void => {
  if (owner === undefined || owner === device.owner) return
  throw fail.unauthorized('edge_owner_differs', 'This device belongs to another owner.')
}

/** The refusal of an upload above so many bytes. */
export const uploadTooLarge = (bytesMax: number): SallyportError => fail.rejected(
  'edge_upload_too_large', 'The upload is larger than one may be.', {
    reason: 'too_large', details: { bytes_max: bytesMax },
  })

/** Everything about a new upload that rows can tell; asked before the body and in the record. */
const requireAcceptable = (device: EdgeDevice, head: UploadHead): void => {
  const { limits, last_sequence: last, stored } = device
  const { cloud_egress: cloud, model_egress: model } = head.policy
  if ((cloud && !limits.cloud_egress) || (model && !limits.model_egress)) {
    throw fail.unauthorized(
      'edge_egress_not_allowed', 'The upload declares more egress than this device is paired for.',
      { next: 'Pair the device again with that egress allowed, or declare none.' },
    )
  }
  if (head.bytes > limits.artifact_bytes_max) {
    throw uploadTooLarge(limits.artifact_bytes_max)
  }
  if (head.sequence <= last) {
    throw fail.conflict(
      'sequence_not_greater', 'The sequence is not above the last one that was accepted.', {
        details: { last_sequence: last },
      },
    )
  }
  if (stored.items >= limits.items_max || stored.bytes + head.bytes > limits.bytes_max) {
    throw fail.blocked('edge_store_full', 'This pairing has stored as much as it may.', {
      reason: 'edge_store_full',
      details: { items_max: limits.items_max, bytes_max: limits.bytes_max },
      next: 'Pair the device anew, with other limits if need be: `sallyport edge pair`.',
    })
  }
}

const differs = (code: string, message: string) => fail.rejected(code, message, { reason: 'rule' })

/** A body that is being read. After an error, `finish` or `abandon` it takes nothing more. */
export interface Upload {
  readonly kind: 'new'
  /**
   * Takes a piece of the body. Throws `unauthorized` where the pairing ended meanwhile, `rejected`
   * `size_differs` above the declared size, `failed` for the disk; it is abandoned then.
   */
  write(chunk: Uint8Array): void
  /**
   * Stores it. Throws `rejected` `size_differs`, `sha256_differs`, `mime_differs`, and what
   * `beginUpload` and `fresh` do: nothing is stored then.
   */
  finish(): Promise<EdgeArtifact>
  /** Leaves nothing; may be called at any time, more than once. */
  abandon(): void
}

/** A body that need not be read: the same was stored before under its request id. */
interface KnownUpload {
  readonly kind: 'known'
  readonly artifact: EdgeArtifact
}

class Body implements Upload {
  readonly kind = 'new'
  readonly #gov: Gov
  readonly #party: EdgeParty
  readonly #head: UploadHead
  readonly #guard: Guard
  readonly #writer: StreamWriter
  #start = Buffer.alloc(0)
  #isOver = false

  constructor(gov: Gov, party: EdgeParty, head: UploadHead, guard: Guard) {
    this.#gov = gov
    this.#party = party
    this.#head = head
    this.#guard = guard
    const { device: { device_id: device } } = party
    this.#writer = gov.store.artifacts.writeStream(edgeLabel, {
      bytesMax: head.bytes,
      announce: (names) => noteUpload(gov, device, head.request_id, names),
    })
  }

  write(chunk: Uint8Array): void {
    this.#orAbandon(() => {
      this.#requireStanding()
      if (this.#writer.bytes + chunk.length > this.#head.bytes) throw this.#sizeDiffers()
      const missing = signatureBytes - this.#start.length
      if (missing > 0) this.#start = Buffer.concat([this.#start, chunk.subarray(0, missing)])
      this.#writer.write(chunk)
    })
  }

  async finish(): Promise<EdgeArtifact> {
    await this.#follow()
    const ref = this.#orAbandon(() => this.#publish())
    let refused = false
    try {
      const artifact = await this.#gov.store.transact('edge upload', (tx) => {
        refused = false
        try {
          return record(this.#gov, tx, this.#party, this.#head, ref)
        } catch (error) {
          refused = true
          throw error
        }
      })
      uploadSettled(this.#gov, artifact.device_id)
      return artifact
    } catch (error) {
      // Where it is the disk that failed, the record may be there all the same: the note stays, and
      // the next upload of the device, or the next start, looks which it is.
      if (refused) {
        discardStored(this.#gov.store, ref.stored_sha256)
        uploadSettled(this.#gov, this.#party.device.device_id)
      }
      throw error
    } finally {
      this.#end()
    }
  }

  /** Another machine may have ended the pairing while the body came. */
  async #follow(): Promise<void> {
    try {
      await this.#gov.store.fresh()
    } catch (error) {
      this.abandon()
      throw error
    }
  }

  abandon(): void {
    if (this.#isOver) return
    this.#writer.abandon()
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    this.#guard.release()
  }

  #orAbandon<T>(fn: () => T): T {
    if (this.#isOver) throw new TypeError('the upload is over')
    try {
      return fn()
    } catch (error) {
      this.abandon()
      throw error
    }
  }

  #requireStanding(): void {
    const { store } = this.#gov
    currentParty(this.#gov, () => store.read(), this.#party.device)
  }

  #sizeDiffers(): SallyportError {
    return differs('size_differs', 'The body is not of the size that was declared.')
  }

  #publish(): ArtifactRef {
    const { mime, bytes, sha256 } = this.#head
    this.#requireStanding()
    if (this.#writer.bytes !== bytes) throw this.#sizeDiffers()
    const format = formatOf(this.#start)
    if (format === null || mime !== `image/${format}`) {
      throw differs('mime_differs', 'The body is not of the kind that was declared.')
    }
    try {
      return this.#writer.finish({ bytes, sha256 })
    } catch (error) {
      if (!(error instanceof SallyportError) || error.code !== 'content_differs') throw error
      throw differs('sha256_differs', 'The body has another SHA-256 than was declared.')
    }
  }
}

/** Artifact and counters in one record; everything is compared again as it is now. */
const record = (
  gov: Gov, tx: Tx, party: EdgeParty, head: UploadHead, ref: ArtifactRef,
): EdgeArtifact => {
  const { device } = currentParty(gov, () => tx, party.device)
  if (storedBefore(tx, device, head) !== undefined) {
    throw fail.conflict('upload_under_way', 'The same upload was stored meanwhile.')
  }
  requireAcceptable(device, head)
  const now = nowIso(gov)
  const artifact: EdgeArtifact = {
    artifact_id: newId('edge_art'), device_id: device.device_id, owner: device.owner,
    request_id: head.request_id, sequence: head.sequence, captured_at: head.captured_at,
    received_at: now, mime: head.mime, policy: { ...head.policy }, purpose: head.purpose,
    source: head.source ?? null, source_path: head.source_path ?? null, ref: { ...ref },
  }
  const { items, bytes } = device.stored
  tx.put(edgeCollections.artifacts, artifact.artifact_id, artifact)
  tx.put(edgeCollections.devices, device.device_id, {
    ...device, last_sequence: head.sequence, last_upload_at: now,
    stored: { items: items + 1, bytes: bytes + ref.bytes },
  })
  // An old copy must not take this sequence, or this request id, once more.
  tx.mark()
  return artifact
}

const holdOnly = async ({ store }: Gov, device: string): Promise<Guard> => {
  try {
    return await store.holds.hold('device', device)
  } catch (error) {
    if (!(error instanceof SallyportError) || error.code !== 'guard_held') throw error
    throw fail.conflict('upload_under_way', 'An upload of this device is under way.', {
      next: 'Send it again, unchanged, when the other one has ended.',
    })
  }
}

/**
 * Begins an upload, one a device at a time, whatever process reads it. The same content under the
 * same request id was stored before: `known`. Throws `unauthorized` as `authenticateEdge`,
 * `edge_owner_differs`, `edge_egress_not_allowed`; `conflict` `request_id_conflict`,
 * `sequence_not_greater`, `upload_under_way`; `rejected` `edge_upload_too_large`; `blocked`
 * `edge_store_full`. No byte is kept then, and no file made.
 */
export const beginUpload = async (
  gov: Gov, party: EdgeParty, head: UploadHead,
): Promise<Upload | KnownUpload> => {
  const look = (): KnownUpload | null => {
    const view = (): View => gov.store.read()
    const { device } = currentParty(gov, view, party.device)
    requireOwner(device, head)
    const artifact = storedBefore(view(), device, head)
    if (artifact !== undefined) return { kind: 'known', artifact }
    requireAcceptable(device, head)
    return null
  }
  const before = look()
  if (before !== null) return before
  const guard = await holdOnly(gov, party.device.device_id)
  try {
    await sweepInterrupted(gov, party.device.device_id)
    // Whoever held it may have stored this very upload.
    const known = look()
    if (known === null) return new Body(gov, party, head, guard)
    guard.release()
    return known
  } catch (error) {
    guard.release()
    throw error
  }
}
