/**
 * Reading back what a job made, each effect by its exact identity. Only all that its kind calls
 * proving together prove the whole.
 */
import type { Send, Sent } from '../../contact/order.js'
import type { Gov } from '../../governance/context.js'
import type { ReadVerdict } from '../adapter/readback.js'
import { getStep } from '../adapter/reads.js'
import { getJob } from './change.js'
import type { EffectLedger } from './effects.js'
import { effectProvenance } from './ledger.js'
import { mintReceipt, type ReadReceipt } from './receipt.js'
import type { Job } from './job-rows.js'
import type { WorkPost } from './work.js'

/** Reads one path; the reply is judged whatever it is. */
type ReadOne = (at: {
  readonly path: string
  readonly judge: Parameters<typeof getStep<ReadVerdict>>[3]
  readonly replyBytesMax?: number
}) => Promise<Sent<ReadVerdict>>

/** One effect as it was read back. */
export interface ReadEffect {
  readonly post: WorkPost
  readonly remoteId: number | null
  readonly path: string
  readonly wire: Sent<ReadVerdict>
}

/** Reads through the session of an operation. */
export const readerOf = (send: Send, baseUrl: string, key: Uint8Array): ReadOne =>
  ({ path, judge, replyBytesMax }) => send(getStep(baseUrl, key, path, judge, replyBytesMax))

/** Whether a readback shows exactly what was sent. */
export const isProven = ({ wire }: Pick<ReadEffect, 'wire'>): boolean =>
  wire.kind === 'reply' && wire.verdict.kind === 'matches'

/** Reads effects one after the other; the first that is not as it was sent ends it. */
export const readEffects = async (
  read: ReadOne, job: Job, ledger: EffectLedger, posts: readonly WorkPost[],
  remoteNumber: number | null,
): Promise<readonly ReadEffect[]> => {
  const found: ReadEffect[] = []
  for (const post of posts) {
    const remoteId = post.id === null ? remoteNumber : null
    const at = post.readback(remoteId, effectProvenance(job, ledger, post.number))
    const effect = { post, remoteId, path: at.path, wire: await read(at) }
    found.push(effect)
    if (!isProven(effect)) break
  }
  return found
}

/** Receipts of effects that were read back as they were sent, from the rows of one moment. */
export const receiptsOfEffects = (
  gov: Gov, jobId: string, effects: readonly ReadEffect[], readRevision: number,
): readonly ReadReceipt[] => {
  const view = gov.store.read()
  const job = getJob(view, jobId)
  return effects.flatMap(({ post, remoteId, path, wire }) => {
    if (wire.kind !== 'reply' || wire.verdict.kind !== 'matches') return []
    return [mintReceipt(gov, view, job, {
      effect: post, remoteId, path, verdict: wire.verdict, readRevision,
      ...(post.id === null ? {} : { objectId: post.id }),
    })]
  })
}

/** Bytes of the replies that proved something. */
export const rawBytesOf = (effects: readonly ReadEffect[]): number =>
  effects.reduce((sum, { wire }) => sum
    + (wire.kind === 'reply' && wire.verdict.kind === 'matches' ? wire.verdict.rawBytes : 0), 0)

/** Why effects are not proved; null where they are. */
export const unprovenReason = (effects: readonly ReadEffect[]): string | null => {
  const open = effects.find((effect) => !isProven(effect))
  if (open === undefined) return null
  const { wire } = open
  if (wire.kind !== 'reply') return wire.reason
  return wire.verdict.kind === 'matches' ? null : wire.verdict.reason
}
