/**
 * What a producer has to make, in order: the blobs, every tree that the base does not have, the
 * commit; each with the id that was approved. It goes through a pipe and is never written.
 */
import { canonicalJson } from '../../base/canonical.js'
import type { CommitDraft } from '../git/commit.js'
import type { ObjectId } from '../git/object-id.js'
import { GitTree } from '../git/tree.js'
import { folderMode, type TreeMode } from '../git/tree-entry.js'
import type { PublicationPlan } from '../plan/publication.js'

/** One level of a tree. */
export interface ManifestTree {
  readonly id: ObjectId
  /** Mode, name, id. */
  readonly entries: readonly (readonly [TreeMode, string, ObjectId])[]
}

/** Everything that is made. */
export interface ProducerManifest {
  readonly schema: 'svc.codehost.producer_manifest.v1'
  /** Id and bytes of each content, in the order in which they are streamed. */
  readonly files: readonly (readonly [ObjectId, number])[]
  /** Those below before those above. */
  readonly trees: readonly ManifestTree[]
  readonly commit: { readonly id: ObjectId, readonly message: string }
}

const levelOf = (tree: GitTree): ManifestTree => ({
  id: tree.id,
  entries: [...tree.children].map(([name, child]) => child instanceof GitTree
    ? [folderMode, name, child.id] as const : [child.mode, name, child.id] as const),
})

/** Levels of a tree that are not known yet, those below first; what it adds becomes known. */
const levelsOf = function* (tree: GitTree, known: Set<ObjectId>): Generator<ManifestTree> {
  if (known.has(tree.id)) return
  known.add(tree.id)
  for (const child of tree.children.values()) {
    if (child instanceof GitTree) yield* levelsOf(child, known)
  }
  yield levelOf(tree)
}

const treeIds = function* (tree: GitTree): Generator<ObjectId> {
  yield tree.id
  for (const child of tree.children.values()) if (child instanceof GitTree) yield* treeIds(child)
}

/** What a publication has to make over a base. */
export const manifestOf = (
  plan: Pick<PublicationPlan, 'changes' | 'posts' | 'tree' | 'commit'>, base: GitTree,
  { message }: Pick<CommitDraft, 'message'>,
): ProducerManifest => {
  const files = new Map(plan.changes
    .filter(({ id, before }) => before?.id !== id)
    .map(({ id, bytes }) => [id, bytes]))
  const known = new Set(treeIds(base))
  const trees = [...plan.posts.flatMap(({ tree }) => tree === null ? [] : [tree]), plan.tree]
  return {
    schema: 'svc.codehost.producer_manifest.v1',
    files: [...files],
    trees: trees.flatMap((tree) => [...levelsOf(tree, known)]),
    commit: { id: plan.commit, message },
  }
}

/** The bytes of a manifest, the same for equal ones. */
export const manifestBytes = (manifest: ProducerManifest): Buffer =>
  Buffer.from(canonicalJson(manifest))
