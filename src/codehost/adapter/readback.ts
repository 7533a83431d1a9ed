/**
 * Reading back what a creation made: one GET of the exact number that the host gave it, judged
 * against the sealed bytes. Only a reply that matches in every point is evidence.
 */
import { digestOf, sha256Hex } from '../../base/canonical.js'
import { orUndefined } from '../../governance/judge/fact.js'
import type { RetryAfter } from '../../net/retry-after.js'
import type { HttpsReply } from '../../net/types.js'
import type { FollowPlan, PlannedEffect } from '../jobs/plan.js'
import { hostPath, repositoryOf } from '../repository.js'
import { commentTold, issueTold, type FollowTold } from './follow-told.js'
import { likenessOf, type Likeness, type Provenance } from './provenance.js'
import { backOf } from './refusal.js'
import { refusalOf, type RepositoryRefusal } from './repository-reply.js'

/** What a readback shows. Digests: of the bytes as they came, and of what they say. */
export type ReadVerdict =
  | {
    readonly kind: 'matches'
    readonly rawSha256: string
    readonly payloadSha256: string
    readonly rawBytes: number
    /** Bytes of the objects that it shows, as they are when nothing encodes them. */
    readonly decodedBytes: number
    /** The host tells that it was changed since it was made; it says what was sent all the same. */
    readonly edited: boolean
  }
  | {
    readonly kind: 'no_evidence'
    readonly reason: ReadReason
    readonly status: number
    /** When the token may come back; null where no limit of it was named, or no time. */
    readonly back: RetryAfter | null
  }

/** Why a readback is no evidence. */
export type ReadReason =
  | RepositoryRefusal | 'remote_not_found' | 'readback_differs' | 'readback_edited'
  | 'readback_truncated'
  | `readback_${Likeness}`

/** One readback of an effect. */
export interface Readback {
  readonly path: string
  readonly judge: (reply: HttpsReply) => ReadVerdict
  /** Left out: 1 MiB. */
  readonly replyBytesMax?: number
}

/** What a reply says, and whether that is what was sent. */
export interface Payload {
  readonly matches: boolean
  readonly payload: unknown
  /** Left out: it shows no object of git. */
  readonly decodedBytes?: number
  /** The host left some of it out, and said so. */
  readonly truncated?: boolean
  /** It says what was sent, and is only like it. Left out: it is of no kind that has a like. */
  readonly likeness?: Likeness | null
  /** It was changed since it was made. Left out: it is of no kind of which that is told. */
  readonly edited?: boolean
}

const payloadOf = (told: FollowTold, id: number, of: Provenance): Payload => ({
  matches: told.inPlace && told.sameText && told.remoteId === id, payload: told.payload,
  edited: told.edited && told.inPlace && told.remoteId === id,
  likeness: likenessOf(of, told.payload),
})

/** Judges a readback; `read` throws where the body is not whole. Total. */
export const judgedRead = (reply: HttpsReply, read: (body: Uint8Array) => Payload): ReadVerdict => {
  const { status, body } = reply
  const none = (reason: ReadReason): ReadVerdict =>
    ({ kind: 'no_evidence', reason, status, back: backOf(reply) })
  if (status === 404 || status === 410) return none('remote_not_found')
  const refusal = refusalOf(reply)
  if (refusal !== null) return none(refusal)
  const found = orUndefined(() => read(body))
  if (found === undefined) return none('codehost_reply')
  if (found.truncated === true) return none('readback_truncated')
  const { likeness = null, edited = false } = found
  if (!found.matches) return none(edited ? 'readback_edited' : 'readback_differs')
  if (likeness !== null) return none(`readback_${likeness}`)
  return {
    kind: 'matches', rawSha256: sha256Hex(body), payloadSha256: digestOf(found.payload),
    rawBytes: body.length, decodedBytes: found.decodedBytes ?? 0, edited,
  }
}

/** Where an effect that the host numbered is read back. */
export const readbackPath = (
  plan: FollowPlan, { action }: Pick<PlannedEffect, 'action'>, remoteId: number,
): string => {
  const repository = repositoryOf(plan.repository)
  if (action === 'issue.create') return hostPath.issue(repository, remoteId)
  if (action === 'comment.create') return hostPath.comment(repository, remoteId)
  throw new TypeError('not an effect of a follow-through job')
}

/** How an effect that the host numbered is read back. */
export const readbackOf = (
  plan: FollowPlan, effect: Pick<PlannedEffect, 'action'>, remoteId: number, of: Provenance,
): Readback => {
  const read = effect.action === 'issue.create' ? issueTold : commentTold
  return {
    path: readbackPath(plan, effect, remoteId),
    judge: (reply) =>
      judgedRead(reply, (body) => payloadOf(read(plan, body), remoteId, of)),
  }
}
