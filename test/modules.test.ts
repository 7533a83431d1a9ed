/**
 * Loads every module of the program, so that the coverage of the whole run lists every source file,
 * also one that no other test touches.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Run a program when they are loaded; spawned bundles, or a browser, cover them. */
const starts = ['cli/start', 'codehost/producer/supervisor/main', 'service/page/page-script']
  .map((path) => join(src, path))

t.test('every module can be loaded on its own and does nothing by being loaded', async (t) => {
  const modules = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.(ts|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !starts.some((one) => path.startsWith(one)))
  t.ok(modules.length > 50)
  for (const path of modules) {
    const loaded = (await import(pathToFileURL(path).href)) as object
    t.type(loaded, 'object', path.slice(src.length + 1))
  }
})
