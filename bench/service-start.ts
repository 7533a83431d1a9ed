/**
 * The service started cold by the first request at a socket that is held for it, from the
 * connection to the answer, beside a whole run of `sallyport status`. In turns.
 * `npm run bench -- service-start`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { program, withPlace, type BenchPlace } from './place.js'
import { median, timed } from './pairs.js'
import { asked, served, type Served } from './served.js'
import { activatorPeer } from './peers.js'
import type { BenchRow } from './types.js'

const activator = 'systemd-socket-activate'
const rounds = 11
const ratioMax = 1.5
const name = 'service: first answer, started cold by a socket, over `sallyport status`'
const target = `at most ${ratioMax}`

/** Milliseconds from the first connection to the answer; what was started is stopped. */
const coldMs = async (
  { env }: BenchPlace, { port, certificate }: Pick<Served, 'port' | 'certificate'>,
): Promise<number> => {
  const child = spawn(activator, [
    '-l', `127.0.0.1:${port}`, '-l', `[::1]:${port}`,
    ...Object.entries(env).map(([key, value]) => `--setenv=${key}=${String(value)}`),
    process.execPath, program, 'serve', '--json',
  ], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  try {
    await new Promise<void>((resolve, reject) => {
      let said = ''
      child.stderr.on('data', (chunk) => {
        said += String(chunk)
        if (said.includes('Listening on [::1]')) resolve()
      })
      child.once('close', () => reject(new Error(said)))
    })
    const start = performance.now()
    const { status } = await asked({
      port, path: '/healthz', ca: [certificate], agent: false,
    })
    if (status !== 200) throw new Error(`it answered ${status}`)
    return performance.now() - start
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

const measure = async (place: BenchPlace): Promise<BenchRow> => {
  place.run('init')
  place.run('login')
  const first = await served(place)
  const at = { port: first.port, certificate: first.certificate }
  await first.stop()
  const [cold, status]: [number[], number[]] = [[], []]
  for (let round = -1; round < rounds; round += 1) {
    const [a, b] = [await coldMs(place, at), timed(place.line(['status']))]
    if (round < 0) continue
    cold.push(a)
    status.push(b)
  }
  const ratio = median(cold) / median(status)
  return {
    name, ratio, target, pass: ratio <= ratioMax,
    detail: `${median(cold).toFixed(1)} over ${median(status).toFixed(1)} ms`,
  }
}

/** One row. */
export const run = async (): Promise<BenchRow[]> => {
  if (spawnSync(activator, ['--version']).status !== 0) {
    return [{ name, ratio: null, target, pass: true, detail: '', needs: activatorPeer }]
  }
  return [await withPlace(measure)]
}
