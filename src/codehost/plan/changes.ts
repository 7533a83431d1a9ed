/** Which files of a folder differ from the base that they are laid over. */
import { fail } from '../../base/errors.js'
import { requirePublishable } from '../git/publishable-path.js'
import type { ScannedBytes } from '../git/file-scan.js'
import { GitTree, type Leaf } from '../git/tree.js'

/** A file of the folder, scanned. */
export interface ScannedFile extends ScannedBytes {
  readonly path: string
  readonly mode: '100644' | '100755'
}

/** A file that differs from the base; `before` is what the base has there. */
export interface Change extends ScannedFile { readonly before: Leaf | null }

const byPath = (a: ScannedFile, b: ScannedFile): number =>
  Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))

/**
 * The files whose id or mode differs, by the bytes of their paths; what is as the base has it is
 * judged by nobody. Throws `path_not_publishable` for one that differs, and `nothing_to_publish`
 * (rejected) where none does.
 */
export const changesOn = (base: GitTree, files: readonly ScannedFile[]): readonly Change[] => {
  const changes = files.flatMap((file): Change[] => {
    const there = base.at(file.path)
    const before = there === undefined || there instanceof GitTree ? null : there
    return before?.id === file.id && before.mode === file.mode ? [] : [{ ...file, before }]
  })
  for (const { path } of changes) requirePublishable(path)
  if (changes.length > 0) return changes.sort(byPath)
  throw fail.rejected('nothing_to_publish', 'The folder has nothing that the base does not have.', {
    next: 'Change a file, or name another folder or base.',
  })
}
