/** Holds a guard until it is killed or told to release it; see `guard.test.ts`. */
import { spawn } from 'node:child_process'
import { holdGuard } from '../../../src/state/holds/guard.js'

const args = JSON.parse(process.argv[2] ?? '{}') as {
  dir: string, name: string, offspring?: boolean, heir?: boolean,
}
const guard = await holdGuard(args.dir, args.name)
if (args.offspring) {
  // A child that outlives its parent must not keep the guard.
  const sleeper = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], {
    detached: true, stdio: 'ignore',
  })
  process.stdout.write(`offspring ${sleeper.pid}\n`)
}
if (args.heir) {
  const heir = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], {
    detached: true, stdio: ['ignore', 'ignore', 'ignore', guard.fd],
  })
  process.stdout.write(`heir ${heir.pid}\n`)
}
process.stdout.write('held\n')
process.stdin.once('data', () => {
  if (args.heir) {
    guard.handOver()
    guard.release()
    process.stdout.write('handed over, then released\n')
    return
  }
  guard.release()
  process.exit(0)
})
