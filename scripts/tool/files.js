// Lists files.
import { readdirSync, statSync } from 'node:fs'

/** Every file below a folder, as absolute paths; none when there is no such folder. */
export const filesBelow = (dir) => {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return []
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
}
