// Loaded into the service before the program (`node --import`), so that it can be watched without
// being changed: counts its syncs, and the longest pause of its event loop, in milliseconds. Writes
// both to the file of SALLYPORT_BENCH_WATCH at each SIGUSR2, and begins anew.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/** How often the loop is looked at; a pause is told at most so much too long. */
const resolution = 2

const watch = (file) => {
  let syncs = 0
  for (const name of ['fsyncSync', 'fdatasyncSync']) {
    const own = fs[name]
    fs[name] = (fd) => {
      syncs += 1
      own(fd)
    }
  }
  syncBuiltinESMExports()
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  process.on('SIGUSR2', () => {
    const seen = { syncs, pauseMs: delay.max / 1e6, pause99Ms: delay.percentile(99) / 1e6 }
    fs.writeFileSync(`${file}.new`, JSON.stringify(seen))
    fs.renameSync(`${file}.new`, file)
    syncs = 0
    delay.reset()
  })
}

// Threads of the service have loops of their own, on which nobody waits.
if (isMainThread) watch(process.env.SALLYPORT_BENCH_WATCH)
