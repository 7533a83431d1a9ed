/** Loads what lies in a stage, no link followed and nothing larger than it may be. */
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../base/errors.js'
import { errnoOf, nodeFiles, readWhole } from '../../state/files.js'
import { requireOwnFolders } from '../../state/folders.js'
import { inventoryOf } from './inventory.js'
import { markerDigest, producerLimits, stageNames } from './producer-limits.js'
import type { ProducerEvidence } from './proof.js'
import { stagePath } from './stage.js'

/** A link, a pipe, a folder or something too long in a record's place is no record. */
const recordAt = (path: string): Buffer | null => {
  try {
    return readWhole(nodeFiles, path, producerLimits.recordBytesMax) ?? null
  } catch (error) {
    if (error instanceof SallyportError && error.kind === 'damaged') return null
    throw error
  }
}

const inventoryAt = (dir: string): string | null => {
  try {
    return inventoryOf(dir)
  } catch (error) {
    if (error instanceof RangeError || ['ENOENT', 'ELOOP', 'ENOTDIR'].includes(errnoOf(error))) {
      return null
    }
    throw error
  }
}

const nothing: ProducerEvidence = {
  inode: null, binding: null, start: null, markers: [], inventorySha256: null,
}

/** The evidence of a job's stage as it lies there now. Throws the disk's own errors. */
export const loadEvidence = (stateDir: string, jobId: string): ProducerEvidence => {
  requireOwnFolders(nodeFiles, stateDir, ['stages'])
  const dir = stagePath(stateDir, jobId)
  const stat = lstatSync(dir, { bigint: true, throwIfNoEntry: false })
  if (stat?.isDirectory() !== true) return nothing
  return {
    inode: String(stat.ino),
    binding: recordAt(join(dir, stageNames.binding)),
    start: recordAt(join(dir, stageNames.start)),
    markers: readdirSync(dir).filter((name) => markerDigest(name) !== null).sort()
      .map((name) => ({ name, bytes: recordAt(join(dir, name)) })),
    inventorySha256: inventoryAt(dir),
  }
}
