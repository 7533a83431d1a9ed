/** The folders of a deployment as they are at one moment, to be put back as often as one likes. */
import {
  existsSync, statSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../world/place.js'

/** Reads a folder with all that is in it; what it gives puts it back as it was. */
const takenFrom = (folder: string): (() => void) => {
  if (!existsSync(folder)) return () => rmSync(folder, { recursive: true, force: true })
  const modeOf = (path: string): number => statSync(path).mode
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isFolder: entry.isDirectory() }))
  const folders = [folder, ...entries.flatMap(({ path, isFolder }) => (isFolder ? path : []))]
    .map((path) => ({ path, mode: modeOf(path) }))
  const files = entries.filter(({ isFolder }) => !isFolder)
    .map(({ path }) => ({ path, mode: modeOf(path), bytes: readFileSync(path) }))
  return () => {
    rmSync(folder, { recursive: true })
    for (const { path, mode } of folders) mkdirSync(path, { mode })
    for (const { path, mode, bytes } of files) writeFileSync(path, bytes, { mode })
  }
}

const kept = ['state', 'config', 'home', 'data'] as const

/** Reads what a deployment has; what it gives puts all of it back. */
export const keptFolders = ({ dir }: Pick<Place, 'dir'>): (() => void) => {
  const saved = kept.map((name) => takenFrom(join(dir, name)))
  return () => {
    for (const put of saved) put()
  }
}
