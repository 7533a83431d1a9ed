// The program as tests spawn it: the same bundle as the shipped one but not minified, so that
// coverage maps back, with the test entry beside it.
import { existsSync } from 'node:fs'
import { root } from './run.js'
import { bundle } from './bundle.js'

/** Where the spawned bundles lie: `sallyport.js` and `test-entry.js`. */
export const appDir = `${root}/.build/app`

/** Builds the spawned bundles. */
export const bundleApp = async () => {
  const entries = { sallyport: 'src/cli/start.ts' }
  if (existsSync(`${root}/test/entry.ts`)) entries['test-entry'] = 'test/entry.ts'
  await bundle({ entries, outdir: appDir, minify: false })
}
