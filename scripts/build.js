// `node scripts/build.js`: bundles the program into dist/.
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const { bundle } = await import('./tool/bundle.js')
await bundle({
  entries: { sallyport: 'src/cli/start.ts' },
  outdir: `${root}/dist`,
  minify: true,
  // What reading commands load.
  packed: [
    'src/cli/run.ts', 'src/cli/store.ts', 'src/cli/login.ts', 'src/cli/commands/alpha/show.ts',
    'src/cli/commands/alpha/output.ts', 'src/cli/commands/status/status.ts',
    'src/cli/commands/task/list.ts',
  ],
})
