// `node scripts/build.js`: bundles the program into dist/.
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const { bundle } = await import('./tool/bundle.js')
await bundle({
  entries: { sallyport: 'src/cli/start.ts' },
  outdir: `${root}/dist`,
  minify: true,
})
