/**
 * The last use of a session: one small file `run/sessions/<root id>` holding milliseconds and a
 * newline. It is no record of the store, so that reading verbs write nothing durable. Losing it
 * only shortens a session, because the time of issue then counts as the last use; for the same
 * reason a failed write is ignored.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivate, writePrivate } from './private-file.js'

const idForm = /^root_[0-9a-f-]{36}$/
const lineForm = /^(\d{1,15})\n$/
const lineBytesMax = 64

const folderOf = (dir: string): string => join(dir, 'run', 'sessions')

/** Milliseconds since 1970 UTC of the last use, or null when it is not known. */
export const readLastUse = (dir: string, rootId: string): number | null => {
  if (!idForm.test(rootId)) return null
  try {
    const line = lineForm.exec(readPrivate(join(folderOf(dir), rootId), lineBytesMax) ?? '')
    return line?.[1] === undefined ? null : Number(line[1])
  } catch {
    return null
  }
}

/**
 * Notes a use at `ms`, unless one was noted less than `everyMs` before; never moves the noted time
 * back.
 */
export const touchLastUse = (dir: string, rootId: string, ms: number, everyMs = 1): void => {
  if (!idForm.test(rootId)) return
  const noted = readLastUse(dir, rootId)
  if (noted !== null && ms - noted < everyMs) return
  try {
    writePrivate(join(folderOf(dir), rootId), `${Math.floor(ms)}\n`)
  } catch {
    // The earlier time stays, which ends the session sooner.
  }
}

/** Forgets the last use of a session that has ended. */
export const dropLastUse = (dir: string, rootId: string): void => {
  if (!idForm.test(rootId)) return
  try {
    rmSync(join(folderOf(dir), rootId), { force: true })
  } catch {
    // Nothing depends on its absence.
  }
}
