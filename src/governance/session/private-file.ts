import { randomBytes } from 'node:crypto'
import {
  closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync,
  unlinkSync, writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a small private file (mode 600, folder 700) in one step: a reader sees the old text or the
 * new one, never a half. Not synced: only for what need not outlive a crash. Throws what the file
 * system throws, and leaves nothing behind then.
 */
export const writePrivate = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } catch (error) {
    try {
      unlinkSync(temporary)
    } catch {
      // It was never made.
    }
    throw error
  }
}

/** What this process writes it has written: what bears its number is of one before it. */
const mayBeWriting = (pid: number): boolean => {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

/**
 * Removes what processes left beside a private file that died while they wrote it: it may hold a
 * secret that still opens something. What one that lives is writing stays. Only for files that no
 * thread writes. Never throws: whoever comes next sweeps, too.
 */
export const sweepPrivate = (path: string): void => {
  const prefix = `${basename(path)}.`
  try {
    for (const name of readdirSync(dirname(path))) {
      const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
      const pid = /^(\d{1,10})\.[0-9a-f]{8}$/.exec(rest)?.[1]
      if (pid === undefined || mayBeWriting(Number(pid))) continue
      rmSync(join(dirname(path), name), { force: true })
    }
  } catch {
    // Its folder is not there, or somebody else swept the same.
  }
}

const openFlags =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * The text of a small file, or null when there is none, when it is longer than `bytesMax` or when
 * it is no regular file: a pipe in its place would keep the process for ever. Throws what the file
 * system throws, except for a missing file; a link is not followed (`ELOOP`).
 */
export const readPrivate = (path: string, bytesMax: number): string | null => {
  let fd: number
  try {
    fd = openSync(path, openFlags)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile() || facts.size > bytesMax) return null
    const bytes = Buffer.alloc(bytesMax)
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytesMax, 0))
  } finally {
    closeSync(fd)
  }
}
