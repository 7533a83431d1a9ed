// `node scripts/build.js`: bundles the program into dist/.
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const [{ bundle }, { alone, packs }] = await Promise.all([
  import('./tool/bundle.js'), import('./tool/packs.js'),
])
await bundle({
  // The worker is a program of its own: threads are started from its file.
  entries: { sallyport: 'src/cli/start.ts', worker: 'src/images/worker.ts' },
  outdir: `${root}/dist`,
  minify: true,
  packs,
  alone,
})
