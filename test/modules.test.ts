/**
 * Loads every module of the program, so that the coverage of the whole run lists every source file,
 * also one that no other test touches.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Runs the program when it is loaded; spawned bundles cover it. */
const starts = join(src, 'cli/start')

t.test('every module can be loaded on its own and does nothing by being loaded', async (t) => {
  const modules = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.(ts|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(starts))
  t.ok(modules.length > 50)
  for (const path of modules) {
    const loaded = (await import(pathToFileURL(path).href)) as object
    t.type(loaded, 'object', path.slice(src.length + 1))
  }
})
