// The program as tests spawn it: the same bundle as the shipped one but not minified, so that
// coverage maps back, with the test entry beside it.
import { statSync } from 'node:fs'
import { root } from './run.js'
import { filesBelow } from './files.js'
import { bundle } from './bundle.js'

/** Where the spawned bundles lie: `sallyport.js` and `test-entry.js`. */
export const appDir = `${root}/.build/app`

/** Builds the spawned bundles. */
export const bundleApp = async () => {
  const entries = {
    sallyport: 'src/cli/start.ts', worker: 'src/images/worker.ts', 'test-entry': 'test/entry.ts',
  }
  await bundle({ entries, outdir: appDir, minify: false })
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
