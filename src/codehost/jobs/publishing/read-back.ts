/**
 * Reading a publication back: the final tree, the commit, the branch and the pull request, each by
 * its exact identity. Only all four together prove it.
 */
import type { Send, Sent } from '../../../contact/order.js'
import { publishedReadback, type Published } from '../../adapter/published.js'
import type { ReadVerdict } from '../../adapter/readback.js'
import { getStep } from '../../adapter/reads.js'
import type { Gov } from '../../../governance/context.js'
import { getJob } from '../change.js'
import type { OpenPublication, RegisteredPost } from '../publication/open.js'
import { mintReceipt, type ReadReceipt } from '../receipt.js'

/** Reads one path; the reply is judged whatever it is. */
type ReadOne = (at: {
  readonly path: string
  readonly judge: Parameters<typeof getStep<ReadVerdict>>[3]
  readonly replyBytesMax?: number
}) => Promise<Sent<ReadVerdict>>

/** One effect as it was read back. */
export interface ReadEffect {
  readonly post: RegisteredPost
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

/** The effects whose readback proves all of it; the pull request first: it is the job's number. */
export const provingPosts = ({ posts }: OpenPublication): readonly RegisteredPost[] => {
  const last = (kind: RegisteredPost['kind']): RegisteredPost => {
    const found = posts.findLast((post) => post.kind === kind)
    if (found === undefined) throw new TypeError('a publication has one of each')
    return found
  }
  return [last('pull_request'), last('ref'), last('commit'), last('growth')]
}

/** Reads effects one after the other; the first that is not as it was sent ends it. */
export const readEffects = async (
  read: ReadOne, of: Published, posts: readonly RegisteredPost[], pullNumber: number | null,
): Promise<readonly ReadEffect[]> => {
  const found: ReadEffect[] = []
  for (const post of posts) {
    const remoteId = post.kind === 'pull_request' ? pullNumber : null
    const at = publishedReadback(of, post, remoteId)
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
