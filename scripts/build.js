// `node scripts/build.js`: bundles the program into dist/.
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const [{ bundle }, { alone, packs }] = await Promise.all([
  import('./tool/bundle.js'), import('./tool/packs.js'),
])
await bundle({
  // Workers are programs of their own: threads are started from their files.
  entries: {
    sallyport: 'src/cli/start.ts', worker: 'src/images/worker.ts',
    'service-worker': 'src/service/service-worker.ts',
  },
  outdir: `${root}/dist`,
  minify: true,
  maps: false,
  packs,
  alone,
})
