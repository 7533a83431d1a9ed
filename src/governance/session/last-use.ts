/**
 * The last use of a session: one small file `run/sessions/<root id>` holding milliseconds and a
 * newline. It is no record of the store, so that reading verbs write nothing durable. Losing it
 * only shortens a session, because the time of issue then counts as the last use; for the same
 * reason a failed write is ignored.
 */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FileMemo } from '../../state/file-memo.js'
import { readPrivate, writePrivate } from './private-file.js'

const idForm = /^root_[0-9a-f-]{36}$/
const lineForm = /^(\d{1,15})\n$/
const lineBytesMax = 64

const folderOf = (dir: string): string => join(dir, 'run', 'sessions')

/** Sessions whose last use is remembered; more of them are rather read again. */
const remembered = new Map<string, FileMemo<number | null>>()
const rememberedMax = 1_000

const memoOf = (path: string): FileMemo<number | null> => {
  const known = remembered.get(path)
  if (known !== undefined) return known
  if (remembered.size >= rememberedMax) remembered.clear()
  const still = new FileMemo<number | null>()
  remembered.set(path, still)
  return still
}

const readLine = (path: string): number | null => {
  const line = lineForm.exec(readPrivate(path, lineBytesMax) ?? '')
  return line?.[1] === undefined ? null : Number(line[1])
}

/** Milliseconds since 1970 UTC of the last use, or null when it is not known. */
export const readLastUse = (dir: string, rootId: string): number | null => {
  if (!idForm.test(rootId)) return null
  const path = join(folderOf(dir), rootId)
  try {
    const facts = statSync(path, { throwIfNoEntry: false })
    return facts === undefined ? null : memoOf(path).of(facts, () => readLine(path))
  } catch {
    return null
  }
}

interface UseNote {
  /** A use this soon after the noted one is not noted, ms (default 1). */
  readonly everyMs?: number | undefined
  /** What was noted when the caller looked a moment ago; left out: it is looked for. */
  readonly seenMs?: number | null
}

/**
 * Notes a use at `ms`, unless one was noted less than `everyMs` before; never moves the noted time
 * back.
 */
export const touchLastUse = (
  dir: string, rootId: string, ms: number, { everyMs = 1, seenMs = null }: UseNote = {},
): void => {
  const isRecent = (noted: number | null): boolean => noted !== null && ms - noted < everyMs
  // Looked at again where it will be written: another process may have noted a later use.
  if (!idForm.test(rootId) || isRecent(seenMs) || isRecent(readLastUse(dir, rootId))) return
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
