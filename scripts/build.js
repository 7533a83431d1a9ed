// `node scripts/build.js`: bundles the program into dist/.
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

await installMissing()
const { bundle } = await import('./tool/bundle.js')
await bundle({
  // The worker is a program of its own: threads are started from its file.
  entries: { sallyport: 'src/cli/start.ts', worker: 'src/images/worker.ts' },
  outdir: `${root}/dist`,
  minify: true,
  packs: {
    // What reading commands load.
    reading: [
      'src/cli/run.ts', 'src/cli/store.ts', 'src/cli/login.ts', 'src/cli/commands/alpha/show.ts',
      'src/cli/commands/alpha/output.ts', 'src/cli/commands/status/status.ts',
      'src/cli/commands/task/list.ts',
    ],
    // What looking after screenshots loads besides.
    shots: ['src/cli/commands/shots/status.ts', 'src/cli/commands/shots/scan.ts'],
    // What an ask loads besides.
    asking: [
      'src/cli/commands/alpha/ask.ts', 'src/alpha/ask/ask.ts', 'src/fabric/recovery.ts',
      'src/net/client.ts',
    ],
  },
})
