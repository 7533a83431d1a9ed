/**
 * Reads what proves a publication, by GET alone: the repository first, then its pull request, then
 * everything else with several requests under way. What was POSTed as a file of its own is compared
 * byte by byte with the sealed one; what went inline in a tree is proved by that tree, every level
 * of it (C-021, C-155, C-244 to C-249).
 */
import type { Gov } from '../../../governance/context.js'
import { hostPace } from '../../adapter/pace.js'
import { inPool } from '../../adapter/pool.js'
import {
  contentReadback, levelReadback, publishedReadback, pullTold, type Published,
} from '../../adapter/published.js'
import { judgedRead, type Readback, type ReadVerdict } from '../../adapter/readback.js'
import type { RegisteredPost } from '../../jobs/publication/open.js'
import { publishedOf } from '../../jobs/publication/work.js'
import { mintReceipt, type ReadReceipt } from '../../jobs/receipt.js'
import { hostPath } from '../../repository.js'
import { closureBlocked, type ClosureBlocker } from '../blockers.js'
import type { ReadBudget } from '../budget.js'
import type { Evidence } from '../evidence.js'
import type { ClosureGet } from '../get.js'
import type { PublicationReadLimits } from '../closure-limits.js'
import { blockerOf } from '../readback.js'
import { requireSameRepository } from '../same-repository.js'
import {
  changedPathsProblem, judgePage, pagesOf, type ChangedPaths, type PageVerdict,
} from './changed-paths.js'
import type { PublicationTarget } from './target.js'

/** How a publication is read. */
export interface Reading {
  readonly gov: Gov
  readonly get: ClosureGet
  readonly budget: ReadBudget
  readonly signal: AbortSignal
  readonly limits: PublicationReadLimits
  readonly readRevision: number
}

type Matches = Extract<ReadVerdict, { kind: 'matches' }>
type Page = Extract<PageVerdict, { kind: 'page' }>

class Reader {
  readonly #target: PublicationTarget
  readonly #reading: Reading
  readonly #of: Published
  readonly #pace: () => Promise<void>
  readonly #receipts = new Map<number, ReadReceipt>()

  constructor(target: PublicationTarget, reading: Reading) {
    const { gov, limits, signal } = reading
    this.#target = target
    this.#reading = reading
    this.#of = publishedOf(target.publication, target.job, { effects: target.inventory.contacted })
    this.#pace = hostPace(gov, limits.getsPerMinuteMax, signal)
  }

  async read(): Promise<Evidence> {
    const { unread, earlier } = this.#target
    const { limits: { atOnce } } = this.#reading
    await this.#pace()
    await requireSameRepository(this.#reading.get, this.#target.job)
    const pull = unread.find(({ kind }) => kind === 'pull_request')
    const changedFiles = pull === undefined ? null : await this.#readPull(pull)
    const pages: Page[] = []
    await inPool([...this.#pageWork(changedFiles, pages), ...this.#effectWork()], atOnce,
      (work) => work())
    const changedPaths = changedFiles === null ? null : this.#proved(changedFiles, pages)
    return {
      receipts: unread.flatMap(({ number }) => this.#receipts.get(number) ?? []), earlier,
      ...(changedPaths === null ? {} : { changedPaths }),
    }
  }

  #blocked(reason: ClosureBlocker) {
    return closureBlocked(reason, this.#target.job.job_id)
  }

  #requireMatches(verdict: ReadVerdict): Matches {
    if (verdict.kind !== 'matches') {
      throw closureBlocked(
        blockerOf[verdict.reason], this.#target.job.job_id, undefined, verdict.back)
    }
    if (this.#reading.budget.decode(verdict.decodedBytes)) return verdict
    throw this.#blocked('decoded_bytes_exceeded')
  }

  #prove(post: RegisteredPost, path: string, verdict: ReadVerdict): void {
    const { gov, readRevision } = this.#reading
    const { job, pullNumber } = this.#target
    this.#receipts.set(post.number, mintReceipt(gov, gov.store.read(), job, {
      effect: post, remoteId: post.kind === 'pull_request' ? pullNumber : null, path,
      verdict: this.#requireMatches(verdict), readRevision,
      ...(post.id === null ? {} : { objectId: post.id }),
    }))
  }

  /** The exact ready pull request; answers how many files it says that it changes. */
  async #readPull(post: RegisteredPost): Promise<number> {
    const { get, limits: { pagesMax } } = this.#reading
    const { publication: { changes }, pullNumber } = this.#target
    const path = hostPath.pull(this.#of.repository, pullNumber ?? 0)
    let changedFiles = 0
    await this.#pace()
    const verdict = await get(path, (reply) => judgedRead(reply, (body) => {
      const told = pullTold(this.#of, pullNumber ?? 0, body)
      changedFiles = told.payload.changed_files
      return told
    }))
    this.#prove(post, path, verdict)
    if (pagesOf(changedFiles) > pagesMax) throw this.#blocked('pages_exceeded')
    if (changedFiles !== changes.length) throw this.#blocked('changed_paths_differ')
    return changedFiles
  }

  #readbackOf(post: RegisteredPost): Readback {
    const { publication, posts } = this.#target
    const { id } = post
    if (post.kind === 'blob' && id !== null) {
      return contentReadback(this.#of, id, () => publication.piecesOf(id))
    }
    const last = posts.findLast(({ kind }) => kind === 'growth')
    return post.kind === 'growth' && id !== null && post !== last
      ? levelReadback(this.#of, id) : publishedReadback(this.#of, post, null)
  }

  #replyBytesMax({ kind }: RegisteredPost): number {
    const { treeReplyBytesMax, blobReplyBytesMax, replyBytesMax } = this.#reading.limits
    if (kind === 'blob') return blobReplyBytesMax
    return kind === 'chunk' || kind === 'growth' ? treeReplyBytesMax : replyBytesMax
  }

  /** Small ones first: what is not there is told before anything large was read. */
  #effectWork(): (() => Promise<void>)[] {
    const order = ['ref', 'commit', 'growth', 'chunk', 'blob']
    return this.#target.unread.filter(({ kind }) => kind !== 'pull_request')
      .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
      .map((post) => async () => {
        const { path, judge } = this.#readbackOf(post)
        await this.#pace()
        this.#prove(post, path, await this.#reading.get(path, judge, {
          replyBytesMax: this.#replyBytesMax(post),
        }))
      })
  }

  #pageWork(changedFiles: number | null, pages: Page[]): (() => Promise<void>)[] {
    const { pageReplyBytesMax: replyBytesMax } = this.#reading.limits
    const count = changedFiles === null ? 0 : pagesOf(changedFiles)
    return Array.from({ length: count }, (_, at) => async () => {
      await this.#pace()
      const found = await this.#reading.get(
        this.#pagePath(at), judgePage, { replyBytesMax, list: true })
      if (found.kind === 'blocked') throw this.#blocked(found.reason)
      pages[at] = found
    })
  }

  #pagePath(at: number): string {
    return hostPath.pullFiles(this.#of.repository, this.#target.pullNumber ?? 0, at + 1)
  }

  #proved(changedFiles: number, pages: readonly Page[]): ChangedPaths {
    const problem = changedPathsProblem(this.#target.publication.changes, changedFiles, pages)
    if (problem !== null) throw this.#blocked(problem)
    return {
      changed_files: changedFiles,
      pages: pages.map(({ page }, at) => ({ get_path: this.#pagePath(at), ...page })),
    }
  }
}

/** Reads the evidence. Throws `blocked` `closure_blocked`, and what its authority refuses. */
export const readPublicationEvidence = (
  target: PublicationTarget, reading: Reading,
): Promise<Evidence> => new Reader(target, reading).read()
