// The program as tests spawn it, with the test entry beside it, in two forms: as text that coverage
// maps back to its source, and built like the shipped one, with compiled code, for processes that
// are killed or counted in hundreds.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { root } from './run.js'
import { filesBelow } from './files.js'
import { bundle } from './bundle.js'
import { alone, packs } from './packs.js'

/** Where the spawned bundles lie: `sallyport.js` and `test-entry.js`. */
export const appDir = `${root}/.build/app`

/** Where the bundles lie that are built like the shipped one. */
export const packedDir = `${root}/.build/packed`

/** What is spawned, by the name of its file. */
export const entries = {
  sallyport: 'src/cli/start.ts', worker: 'src/images/worker.ts',
  'service-worker': 'src/service/service-worker.ts', 'test-entry': 'test/entry.ts',
}

/** The producer as it is shipped, and one that tests can stop at each step. */
export const programs = { ...alone, 'producer-observed': 'test/producer-entry.ts' }

/** What a folder of bundles was made of, beside it. */
const stampOf = (dir) => `${dir}.sha256`

/** What the bundles of the tests are made of, by content. */
const madeOf = () => {
  const hash = createHash('sha256')
  const files = [...filesBelow(`${root}/src`), ...filesBelow(`${root}/test`)].sort()
  for (const path of [...files, `${root}/package-lock.json`]) {
    hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

/** Builds the text that coverage maps back. */
export const bundleApp = async () => {
  const made = madeOf()
  await bundle({ entries, outdir: appDir, minify: false, alone: programs })
  writeFileSync(stampOf(appDir), made)
}

/** Builds what is packed like the shipped one. */
export const bundlePacked = async () => {
  const made = madeOf()
  await bundle({ entries, outdir: packedDir, minify: true, packs, alone: programs })
  writeFileSync(stampOf(packedDir), made)
}

/** Builds the spawned bundles when they are made of another text; gives their folder. */
export const freshApp = async () => {
  if (builtFrom(appDir) !== madeOf()) await bundleApp()
  return appDir
}

/** The same of those that are packed, for what counts modules: the other ones have others. */
export const freshPacked = async () => {
  if (builtFrom(packedDir) !== madeOf()) await bundlePacked()
  return packedDir
}

const builtFrom = (dir) => {
  try {
    return readFileSync(stampOf(dir), 'utf8')
  } catch {
    return null
  }
}
