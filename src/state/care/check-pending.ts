/** The folder of kept requests: what lies there is looked at by name, kind and mode, never read. */
import { join } from 'node:path'
import { isTemporary } from '../files.js'
import { isPendingName, pendingFolder } from '../pending.js'
import type { Problem } from '../types.js'
import { notice } from './check-generation.js'
import type { Site } from './use-case.js'

const ownMode = 0o600

/** Entries that are no kept requests, or that others than the owner may reach. */
export const pendingProblems = ({ files, dir }: Site): readonly Problem[] => {
  const folder = join(dir, pendingFolder)
  if (files.stat(folder) === undefined) return []
  return files.list(folder).flatMap((name): Problem[] => {
    const facts = files.stat(join(folder, name))
    if (facts === undefined || isTemporary(name)) return []
    if (facts.kind !== 'file' || !isPendingName(name)) {
      return [notice('pending_strange', 'An entry of pending/ is no kept request.', pendingFolder)]
    }
    return (facts.mode & ~ownMode) === 0 ? []
      : [notice('pending_mode', 'Others than the owner may reach a kept request.', name)]
  })
}
