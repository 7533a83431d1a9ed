/** One look of the capability of nothing as a process of its own; see `nothing.test.ts`. */
import { systemClock } from '../../../src/base/clock.js'
import { SallyportError } from '../../../src/base/errors.js'
import type { Observer } from '../../../src/base/observer.js'
import { openWork } from '../../../src/fabric/open-work.js'
import { createHttpsClient } from '../../../src/net/client.js'
import { registry } from '../../fabric/nothing/capability.js'
import { lookOnce } from '../../fabric/nothing/order.js'

const args = JSON.parse(process.argv[2] ?? '{}') as {
  stateDir: string, configDir: string, token: string, url: string, ca: string,
  /** Where it dies as by a power cut. */
  killAt?: string,
}
const say = (line: string): boolean => process.stdout.write(`${line}\n`)
const stop = new AbortController()
process.on('SIGINT', () => stop.abort())

const observer: Observer = {
  at: async (step) => {
    say(step)
    if (step !== args.killAt) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => setInterval(() => undefined, 1_000))
  },
}

const { stateDir, configDir, token } = args
const work = await openWork({
  stateDir, configDir, token, observer, registry, face: 'cli', mode: 'mutate',
})
const client = createHttpsClient({
  clock: systemClock, env: {}, execArgv: [], ca: [args.ca], loopbackOnly: true,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
})
try {
  const context = { gov: work.gov, client: async () => client, signal: stop.signal }
  const task = await lookOnce(context, work.session, args.url)
  say(`ended ${task.state} ${task.reason ?? task.blocked?.reason ?? '-'}`)
} catch (error) {
  say(`threw ${error instanceof SallyportError ? error.code : String(error)}`)
}
work.close()
process.exit(0)
