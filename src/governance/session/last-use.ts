/**
 * The last use of a session: one small file `run/sessions/<root id>` holding milliseconds and a
 * newline. It is no record of the store, so that reading verbs write nothing durable. Losing it
 * only shortens a session, because the time of issue then counts as the last use; for the same
 * reason a failed write is ignored.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const idForm = /^root_[0-9a-f-]{36}$/
const lineForm = /^(\d{1,15})\n$/

const folderOf = (dir: string): string => join(dir, 'run', 'sessions')

/** Milliseconds since 1970 UTC of the last use, or null when it is not known. */
export const readLastUse = (dir: string, rootId: string): number | null => {
  if (!idForm.test(rootId)) return null
  try {
    const line = lineForm.exec(readFileSync(join(folderOf(dir), rootId), 'utf8'))
    return line?.[1] === undefined ? null : Number(line[1])
  } catch {
    return null
  }
}

/** Notes a use at `ms`; never moves the noted time back. */
export const touchLastUse = (dir: string, rootId: string, ms: number): void => {
  if (!idForm.test(rootId) || (readLastUse(dir, rootId) ?? -1) >= ms) return
  const folder = folderOf(dir)
  const temporary = join(folder, `.${rootId}.${process.pid}.${randomBytes(4).toString('hex')}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Through a rename: a half-written number would read as an older time.
    writeFileSync(temporary, `${Math.floor(ms)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, join(folder, rootId))
  } catch {
    rmSync(temporary, { force: true })
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
