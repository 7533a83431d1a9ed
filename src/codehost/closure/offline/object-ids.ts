/** Ids of a publication's git objects, computed anew out of sealed contents by git's own rule. */
import { commitId } from '../../git/commit.js'
import { objectHash, type ObjectId } from '../../git/object-id.js'
import type { OpenPublication, RegisteredPost } from '../../jobs/publication/open.js'

/** Throws a defect for nothing: contents that are not whole give another id, or are refused. */
const blobId = (plan: OpenPublication, id: ObjectId, bytes: number): ObjectId => {
  const hash = objectHash('blob', bytes)
  for (const piece of plan.piecesOf(id)) hash.update(piece)
  return hash.id()
}

/** Every content that was sent has the id under which trees and blobs name it. */
const haveTheirIds = (plan: OpenPublication): boolean =>
  plan.manifest.files.every(([id, bytes]) => blobId(plan, id, bytes) === id)

/**
 * The id of what a POST makes; null where the host chooses a number, and for all of them where a
 * content is not what its id says. Contents are hashed once, at the first question.
 */
export const objectIdsOf = (plan: OpenPublication): ((post: RegisteredPost) => ObjectId | null) => {
  let whole: boolean | undefined
  return ({ kind, id, tree }) => {
    whole ??= haveTheirIds(plan)
    if (!whole) return ''
    if (kind === 'chunk' || kind === 'growth') return tree?.id ?? ''
    if (kind === 'commit' || kind === 'ref') return commitId(plan.draft)
    return id
  }
}
