// Lists files.
import { readdirSync, statSync } from 'node:fs'
import { root } from './run.js'

/** Every file below a folder, as absolute paths; none when there is no such folder. */
export const filesBelow = (dir) => {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return []
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
}

/** Every test file's source, as absolute paths. */
export const testSources = () =>
  filesBelow(`${root}/test`).filter((path) => path.endsWith('.test.ts')).sort()
