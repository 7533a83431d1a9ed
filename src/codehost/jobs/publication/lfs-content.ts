/**
 * A file of which the base holds an LFS pointer is never published as its content: the repository
 * would hold the large file itself from then on. What the base has under a changed name is read by
 * GET where it may be a pointer by its size, and its id proves the bytes.
 */
import type { Session } from '../../../governance/context.js'
import type { View } from '../../../state/types.js'
import { readBlobs } from '../../adapter/base-blobs.js'
import type { CodehostContext } from '../../context.js'
import { isLfsPointer, mayBeLfsPointer } from '../../git/lfs-pointer.js'
import type { ObjectId } from '../../git/object-id.js'
import type { Change } from '../../plan/changes.js'
import { refusedSource } from '../../source/refusals.js'

interface LfsQuestion {
  readonly connectionId: string
  readonly changes: readonly Change[]
  /** Bytes of the base's files by their ids, where the host told them. */
  readonly sizes: ReadonlyMap<ObjectId, number>
  /** Contents that are pointers themselves: one pointer may take the place of another. */
  readonly lfsPointers: ReadonlySet<ObjectId>
  /** What every boundary of each GET requires besides; throws to refuse. */
  readonly requires: (view: View) => void
}

/**
 * Refuses one file that is too large to be published over a file of the base: as the content of a
 * pointer where that is one, else for its size. Throws `source_refused` (rejected, `lfs_content` or
 * `file_too_large`), and what `readBlobs` throws.
 */
export const refuseTooLarge = async (
  ctx: CodehostContext, session: Session,
  { path, before, sizes, ...asked }: Pick<LfsQuestion, 'connectionId' | 'sizes' | 'requires'> & {
    readonly path: string
    readonly before: ObjectId
  },
): Promise<never> => {
  let isPointer = false
  await readBlobs(ctx, session, {
    ...asked, noun: 'prepare', ids: mayBeLfsPointer(sizes.get(before)) ? [before] : [],
    take: (_id, bytes) => {
      isPointer = bytes !== null && isLfsPointer(bytes)
    },
  })
  throw refusedSource(isPointer ? 'lfs_content' : 'file_too_large', path)
}

/**
 * Throws `source_refused` (rejected, `lfs_content`) with the path of the first such file, and what
 * `readBlobs` throws.
 */
export const requireNoLfsContent = async (
  ctx: CodehostContext, session: Session,
  { connectionId, changes, sizes, lfsPointers, requires }: LfsQuestion,
): Promise<void> => {
  const asked = changes.flatMap(({ path, id, before }) =>
    before === null || before.id === id || lfsPointers.has(id)
      || !mayBeLfsPointer(sizes.get(before.id)) ? [] : [{ path, id: before.id }])
  const pointers = new Set<ObjectId>()
  await readBlobs(ctx, session, {
    connectionId, noun: 'prepare', ids: [...new Set(asked.map(({ id }) => id))], requires,
    take: (id, bytes) => {
      if (bytes !== null && isLfsPointer(bytes)) pointers.add(id)
    },
  })
  const found = asked.find(({ id }) => pointers.has(id))
  if (found !== undefined) throw refusedSource('lfs_content', found.path)
}
