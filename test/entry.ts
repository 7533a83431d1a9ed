/**
 * The program with other dependencies, for tests that need a real process. It is bundled apart and
 * never shipped. What to change comes in by the environment:
 * - TEST_STOP_AT=step or step#n: at the (n-th) announcement of the step the process does
 *   TEST_STOP_DO: `kill` (SIGKILL itself, the default), `wait` (print `stopped at step` on stderr,
 *   then wait until the file TEST_GO_FILE exists), `insist` (the same, until a second signal was
 *   heard), `throw`.
 * - TEST_WALL_OFFSET_MS: added to the wall clock.
 * - TEST_HOSTS: JSON, host name to addresses; other names are looked up as usual.
 * - TEST_STEPS_FILE: every announced step is appended there, one a line.
 * - TEST_COMMANDS=nothing: the commands of the capability of nothing, and no others.
 * - TEST_PLACE_LEASE_MS, TEST_PLACE_PATIENCE_MS: times of the place of a shared state; the second
 *   from the stop on, where it waits there.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { systemClock } from '../src/base/clock.js'
import type { Observer } from '../src/base/observer.js'
import { systemDeps } from '../src/cli/deps.js'
import type { CliDeps } from '../src/cli/deps.js'
import { processIo } from '../src/cli/io.js'
import { main } from '../src/cli/main.js'
import { placeTimes } from '../src/state/place/place.js'

const { env } = process
const pollMs = 5

const changed = (deps: CliDeps): CliDeps => {
  const offset = Number(env['TEST_WALL_OFFSET_MS'] ?? '0')
  const hosts = JSON.parse(env['TEST_HOSTS'] ?? '{}') as Record<string, string[]>
  return {
    ...deps,
    clock: { ...systemClock, wallMs: () => systemClock.wallMs() + offset },
    async resolve(host) {
      const addresses = hosts[host]
      if (addresses === undefined) return deps.resolve(host)
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    onInsist: (act) => deps.onInsist((end) => {
      hear()
      act(end)
    }),
    observe: stopping,
  }
}

let hear: () => void = () => undefined
const insisted = new Promise<void>((resolve) => { hear = resolve })

const stopping = (drawn: Observer): Observer => {
  const [step = '', number = '1'] = (env['TEST_STOP_AT'] ?? '').split('#')
  let seen = 0
  return {
    async at(name) {
      await drawn.at(name)
      const file = env['TEST_STEPS_FILE']
      if (file !== undefined) appendFileSync(file, `${name}\n`)
      if (name === step && (seen += 1) === Number(number)) await stopHere(name)
    },
  }
}

const stopHere = async (step: string): Promise<void> => {
  const how = env['TEST_STOP_DO'] ?? 'kill'
  if (how === 'throw') throw new Error(`stopped at ${step}`)
  if (how === 'kill') {
    process.kill(process.pid, 'SIGKILL')
    // The signal may arrive a moment later: nothing may run until then.
    await new Promise(() => setInterval(() => undefined, 1000))
  }
  process.stderr.write(`stopped at ${step}\n`)
  if (how === 'insist') {
    const alive = setInterval(() => undefined, 1000)
    await insisted
    return clearInterval(alive)
  }
  const go = env['TEST_GO_FILE'] ?? ''
  while (!existsSync(go)) await new Promise((resolve) => setTimeout(resolve, pollMs))
  beImpatient()
}

const { TEST_PLACE_LEASE_MS: leaseMs, TEST_PLACE_PATIENCE_MS: patienceMs } = env
if (leaseMs !== undefined) placeTimes.leaseMs = Number(leaseMs)
/** A process that takes long to come to its stop gives nobody up before. */
const beImpatient = (): void => {
  if (patienceMs !== undefined) placeTimes.patienceMs = Number(patienceMs)
}
if (env['TEST_STOP_DO'] !== 'wait') beImpatient()

const run = async (deps: CliDeps): Promise<number> => {
  if (env['TEST_COMMANDS'] !== 'nothing') return main(deps)
  const [{ runCommand }, { nothingCommands }] = await Promise.all([
    import('../src/cli/run.js'), import('./fabric/nothing/command.js'),
  ])
  return runCommand(deps, nothingCommands)
}

const io = processIo()
void run(changed(systemDeps(io))).then(io.end)
