// `npm run build`: bundles the program into dist/, with the compiled code of the Node that builds.
// `npm run build -- PATH…` adds that of other Nodes, by their executables: each V8 reads its own.
import { fileURLToPath } from 'node:url'
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const [{ bundle }, { alone, packs }] = await Promise.all([
  import('./tool/bundle.js'), import('./tool/packs.js'),
])
// Who imports this (npm start, npm test, npm run bench) has words of its own behind its name.
const isAsked = process.argv[1] === fileURLToPath(import.meta.url)
const others = isAsked ? process.argv.slice(2) : []
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
  nodes: [process.execPath, ...others],
})
