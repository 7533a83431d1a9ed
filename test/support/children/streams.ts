/** A program on the real process's streams and signals; see process.test.ts. */
import { setTimeout as sleep } from 'node:timers/promises'
import { processIo } from '../../../src/cli/io.js'

const io = processIo()
const [what = '', amount = '0'] = io.facts.argv

/** Keeps the process alive until it is stopped, and says why it ended. */
const untilStopped = async (): Promise<number> => {
  const alive = setInterval(() => undefined, 1000)
  io.writeErr('ready\n')
  await new Promise((resolve) => io.stop.addEventListener('abort', resolve))
  io.writeErr('stopping\n')
  if (what === 'stop') clearInterval(alive)
  else {
    io.onInsist((end) => end('last words\n'))
    await sleep(600_000)
  }
  return 130
}

if (what === 'write') {
  io.writeOut('x'.repeat(Number(amount)))
  io.writeErr('end\n')
  // A timer that is still running must not keep the process.
  setInterval(() => undefined, 1000)
  await io.end(0)
} else if (what === 'read') {
  let bytes = 0
  for await (const chunk of io.stdin()) bytes += chunk.byteLength
  io.writeOut(String(bytes))
  await io.end(0)
} else if (what === 'hangup') {
  const alive = setInterval(() => undefined, 1000)
  process.on('SIGHUP', () => {
    clearInterval(alive)
    io.writeOut(io.stop.aborted ? 'stopped' : 'went on')
    void io.end(0)
  })
  process.kill(process.pid, 'SIGHUP')
} else {
  await io.end(await untilStopped())
}
