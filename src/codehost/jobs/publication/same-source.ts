/** Whether a folder still is what was sealed of it. */
import type { Gov } from '../../../governance/context.js'
import { GitTree } from '../../git/tree.js'
import { readSource } from '../../source/read-folder.js'
import { sourceNotAsShown } from '../../source/refusals.js'
import { openPublication, type OpenPublication } from './open.js'
import type { Job } from '../job-rows.js'

interface Source {
  /** The folder, absolute, and the folders that are never published. */
  readonly source: string
  readonly ownFolders: readonly string[]
  readonly signal: AbortSignal
}

/** Laid over the tree that it gave, a folder that is as it was changes nothing. */
const requireSame = async (
  gov: Pick<Gov, 'store'>, open: OpenPublication, { source, ownFolders, signal }: Source,
): Promise<void> => {
  const { tree, changes, files: sealedFiles } = open
  const { files, abandon } = await readSource({
    dir: source, base: tree, ownFolders, signal, artifacts: gov.store.artifacts,
    tooLarge: async (path) => { throw sourceNotAsShown(path) },
  })
  abandon()
  const there = new Map(files.map(({ path, id, mode }) => [path, `${mode} ${id}`]))
  for (const { path, id, mode } of changes) {
    if (there.get(path) !== `${mode} ${id}`) throw sourceNotAsShown(path)
  }
  for (const { path, id, mode } of files) {
    const leaf = tree.at(path)
    const same = leaf !== undefined && !(leaf instanceof GitTree)
      && leaf.id === id && leaf.mode === mode
    if (!same) throw sourceNotAsShown(path)
  }
  if (files.length !== sealedFiles) throw sourceNotAsShown(null)
}

/**
 * Reads the folder once more and compares it with what a job sealed of it. Throws `conflict`
 * `source_not_as_shown` with the path, and what `readSource` throws of a folder that has become
 * one that is not published.
 */
export const requireSameSource = async (
  gov: Pick<Gov, 'store'>, job: Job, source: Source,
): Promise<void> => {
  const open = openPublication(gov, gov.store.read(), job)
  try {
    await requireSame(gov, open, source)
  } finally {
    open.close()
  }
}
