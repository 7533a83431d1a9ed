// fast-check as tests load it: its seed is that of the run, and the short run tries a part of the
// cases. A property that fails names seed and path, as ever.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** The short run tries one case of so many that a property has. */
export const shortShare = 4

/**
 * Puts a `fast-check` where what lies in `dir` finds it.
 * @param {string} dir
 */
export const seedProperties = (dir) => {
  const folder = `${dir}/node_modules/fast-check`
  mkdirSync(folder, { recursive: true })
  publish(`${folder}/package.json`, JSON.stringify({ type: 'module', exports: './index.js' }))
  publish(`${folder}/index.js`, seeded(import.meta.resolve('fast-check')))
}

// A number of cases that a property does not give is 100 with fast-check.
const seeded = (real) => `import real from '${real}'
export * from '${real}'
const { SALLYPORT_TEST_SEED: seed = '1', SALLYPORT_TEST_RUN: run } = process.env
real.configureGlobal({ seed: Number(seed) })
const fewer = (given = {}) =>
  ['short', 'tables'].includes(run) && given.examples === undefined && given.path === undefined
    ? { ...given, numRuns: Math.ceil((given.numRuns ?? 100) / ${shortShare}) } : given
export const assert = (property, given) => real.assert(property, fewer(given))
export default { ...real, assert }
`

// Two test runs may do this at once: neither may see half a file.
const publish = (path, text) => {
  const temp = `${path}.${process.pid}.tmp`
  try {
    if (readFileSync(path, 'utf8') === text) return
  } catch {
    // It is not there yet.
  }
  writeFileSync(temp, text)
  renameSync(temp, path)
}
