/** A process of its own for the lock tests: `hold` keeps the lock, `add` adds many times. */
import { openStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import { notes } from '../state/notes.js'
import { spawn } from 'node:child_process'

const [dir = '', configDir = '', what = '', times = '0'] = process.argv.slice(2)
const store = openStore({ dir, configDir, mode: 'write', waitMs: 60_000 }) as FileStore

const addOne = (): Promise<void> =>
  store.transact('add', (tx) => {
    tx.put(notes, 'sum', { n: (tx.get(notes, 'sum')?.n ?? 0) + 1, text: '' })
  })

if (what === 'add') {
  for (let i = 0; i < Number(times); i += 1) await addOne()
  store.close()
  process.stdout.write('done\n')
} else if (what === 'loop') {
  process.stdout.write('going\n')
  for (;;) {
    await addOne()
    process.stdout.write(`${store.read().get(notes, 'sum')?.n}\n`)
  }
} else if (what === 'hold' || what === 'hold-with-child') {
  await store.exclusive(what, () => {
    if (what === 'hold-with-child') {
      const child = spawn('sleep', ['30'], { stdio: 'ignore', detached: true })
      child.unref()
      process.stdout.write(`${child.pid}\n`)
    } else {
      process.stdout.write('held\n')
    }
    // The event loop stands still here, so the lock stays until this process is killed.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)
  })
}
