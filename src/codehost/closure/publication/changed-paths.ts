/**
 * The paths that a pull request changes are those of the publication, each once and with the very
 * content that was sent, and no other: its pages of a hundred, whose sum is what the pull request
 * itself tells (C-201, C-227, C-248).
 */
import { digestOf, sha256Hex } from '../../../base/canonical.js'
import { orUndefined } from '../../../governance/judge/fact.js'
import type { HttpsReply } from '../../../net/types.js'
import { refusalOf } from '../../adapter/repository-reply.js'
import type { Change } from '../../plan/changes.js'
import { hasNextPage, readReply } from '../../replies/parse-reply.js'
import type { HostReplyOf } from '../../replies/shapes.js'
import { filesPageSize } from '../../repository.js'
import type { ClosureBlocker } from '../blockers.js'
import { blockerOf } from '../readback.js'

/** One file as a page tells it. */
export type ListedFile = HostReplyOf<'pull_files'>[number]

/** One page as it was read; no byte of it, but its digests. */
interface ReadPage {
  readonly get_path: string
  readonly entries: number
  /** Of the reply's bytes as they came, and of what they say. */
  readonly raw_sha256: string
  readonly payload_sha256: string
}

/** What the pages of a pull request were. */
export interface ChangedPaths {
  /** As the pull request itself tells. */
  readonly changed_files: number
  readonly pages: readonly ReadPage[]
}

/** A page, or why it says nothing. */
export type PageVerdict =
  | {
    readonly kind: 'page'
    readonly files: readonly ListedFile[]
    /** Whether the host says that another one follows. */
    readonly next: boolean
    readonly page: Omit<ReadPage, 'get_path'>
  }
  | { readonly kind: 'blocked'; readonly reason: ClosureBlocker }

/** How many pages a pull request with so many files has. */
export const pagesOf = (changedFiles: number): number =>
  Math.max(1, Math.ceil(changedFiles / filesPageSize))

const linkOf = ({ headers }: HttpsReply): string | undefined => headers.get('link')?.join(', ')

/** Judges one page. Total. */
export const judgePage = (reply: HttpsReply): PageVerdict => {
  const { status, body } = reply
  if (status === 404 || status === 410) return { kind: 'blocked', reason: 'changed_paths_missing' }
  const refusal = refusalOf(reply)
  if (refusal !== null) return { kind: 'blocked', reason: blockerOf[refusal] }
  const told = orUndefined(() => ({
    files: readReply('pull_files', body), next: hasNextPage(linkOf(reply)),
  }))
  if (told === undefined) return { kind: 'blocked', reason: 'readback_malformed' }
  return {
    kind: 'page', ...told, page: {
      entries: told.files.length, raw_sha256: sha256Hex(body), payload_sha256: digestOf(told.files),
    },
  }
}

/** `copied` is a new file under its name; the others take away, or keep, what stands there. */
const written: readonly ListedFile['status'][] = ['added', 'modified', 'changed', 'copied']

/**
 * Why pages, in their order, do not show exactly these changes; null where they do. `changedFiles`:
 * what the pull request itself tells. Pure.
 */
export const changedPathsProblem = (
  changes: readonly Pick<Change, 'path' | 'id'>[], changedFiles: number,
  pages: readonly Extract<PageVerdict, { kind: 'page' }>[],
): ClosureBlocker | null => {
  const files = pages.flatMap((page) => page.files)
  if (pages.length !== pagesOf(changedFiles) || pages.at(-1)?.next !== false
    || files.length !== changedFiles) return 'changed_paths_truncated'
  if (files.some(({ status }) => status === 'renamed')) return 'changed_path_renamed'
  const left = new Map(changes.map(({ path, id }) => [path, id]))
  for (const { filename, sha, status } of files) {
    if (!written.includes(status) || left.get(filename) !== sha) return 'changed_paths_differ'
    left.delete(filename)
  }
  return left.size === 0 ? null : 'changed_paths_differ'
}
