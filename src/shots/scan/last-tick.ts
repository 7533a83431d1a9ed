/**
 * When a folder was last looked at. A tick that finds nothing new writes no durable byte: its time
 * is kept in a small file of `run/`, which nothing depends on and which is not in any backup.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { scanRunDir } from './known-index.js'

const shape = v.strictObject({
  at: v.pipe(v.string(), v.isoTimestamp()),
  status: v.picklist(['ok', 'degraded', 'failed']),
  scanned: v.number(),
  /** Images that lay in the folder, and when the newest of them was written. */
  images: v.optional(v.number()),
  newest_at: v.optional(v.nullable(v.pipe(v.string(), v.isoTimestamp()))),
  /** Where the disk of the folder was mounted when images were last seen in it. */
  mount: v.optional(v.string()),
})
/** The newest look at a folder, whatever it found. */
export type LastTick = v.InferOutput<typeof shape>

const pathOf = (runDir: string, folderDigest: string): string =>
  join(scanRunDir(runDir), `tick-${folderDigest}.json`)

/** Keeps it, and the mount of before where it names none; a disk that takes no byte loses it. */
export const writeLastTick = (runDir: string, folderDigest: string, told: LastTick): void => {
  const mount = told.mount ?? readLastTick(runDir, folderDigest)?.mount
  const tick: LastTick = { ...told, ...(mount === undefined ? {} : { mount }) }
  const path = pathOf(runDir, folderDigest)
  const fresh = `${path}.${process.pid}`
  try {
    mkdirSync(scanRunDir(runDir), { recursive: true, mode: 0o700 })
    writeFileSync(fresh, `${JSON.stringify(tick)}\n`, { mode: 0o600 })
    renameSync(fresh, path)
  } catch {
    rmSync(fresh, { force: true })
  }
}

/** Reads it; null where there is none that can be read. */
export const readLastTick = (runDir: string, folderDigest: string): LastTick | null => {
  try {
    const text = readFileSync(pathOf(runDir, folderDigest), 'utf8')
    const parsed = v.safeParse(shape, JSON.parse(text))
    return parsed.success ? parsed.output : null
  } catch {
    return null
  }
}
