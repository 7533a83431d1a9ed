// The program as tests spawn it, with the test entry beside it, in two forms: as text that coverage
// maps back to its source, and built like the shipped one, with compiled code, for processes that
// are killed or counted in hundreds.
import { statSync } from 'node:fs'
import { root } from './run.js'
import { filesBelow } from './files.js'
import { bundle } from './bundle.js'
import { packs } from './packs.js'

/** Where the spawned bundles lie: `sallyport.js` and `test-entry.js`. */
export const appDir = `${root}/.build/app`

/** Where the bundles lie that are built like the shipped one. */
export const packedDir = `${root}/.build/packed`

const entries = {
  sallyport: 'src/cli/start.ts', worker: 'src/images/worker.ts', 'test-entry': 'test/entry.ts',
}

/** Builds the text that coverage maps back. */
export const bundleApp = async () => {
  await bundle({ entries, outdir: appDir, minify: false })
}

/** Builds what is packed like the shipped one. */
export const bundlePacked = async () => {
  await bundle({ entries, outdir: packedDir, minify: true, packs })
}

/** Builds the spawned bundles when a source is newer than they are; gives their folder. */
export const freshApp = async () => {
  const built = statSync(`${appDir}/test-entry.js`, { throwIfNoEntry: false })
  const newest = Math.max(
    ...[...filesBelow(`${root}/src`), `${root}/test/entry.ts`]
      .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  )
  if (built === undefined) await bundleApp()
  else if (built.mtimeMs < newest) await bundleApp().catch(() => undefined)
  return appDir
}
