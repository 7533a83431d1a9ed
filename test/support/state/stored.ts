/** Stored state directories of `test/state/fixtures`, on a disk in memory. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MemFiles } from './mem-files.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'state', 'fixtures')

/** The fixture of a name, its state at `/tmp/state` and its key at `/tmp/config`. */
export const storedDisk = (name: string): MemFiles => {
  const disk = new MemFiles()
  const made = new Set(['/tmp'])
  const makeFolder = (path: string): void => {
    if (made.has(path)) return
    makeFolder(dirname(path))
    disk.mkdir(path)
    made.add(path)
  }
  for (const one of ['state/run', 'state/artifacts']) makeFolder(`/tmp/${one}`)
  const files = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as
    Record<string, string>
  for (const [path, text] of Object.entries(files)) {
    makeFolder(dirname(`/tmp/${path}`))
    disk.close(disk.open(`/tmp/${path}`, 'create'))
    disk.overwrite(`/tmp/${path}`, Buffer.from(text, 'base64'))
  }
  return disk.clone()
}
