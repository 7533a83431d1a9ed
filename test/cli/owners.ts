/** A state directory with the owner `ada`, for tests of the verbs about owners and their tasks. */
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { openStore } from '../../src/state/store.js'
import { authenticate } from '../../src/governance/session/authenticate.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import type { Session } from '../../src/governance/session/types.js'
import { benchOn, testClock, type Bench, type TestClock } from '../governance/bench.js'
import { sallyport, type Place, type Ran, type RunOptions } from '../harness.js'

export interface Owners {
  readonly place: Place
  readonly clock: TestClock
  /** Runs a line with the clock of this test. */
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>
  /** The same with `--json`, which must succeed. */
  json(argv: readonly string[], options?: RunOptions): Promise<ReturnType<typeof JSON.parse>>
  /** The store of the state directory, for looking and for making tasks. */
  bench(): Bench
  /** Writes a file in the working folder and gives its path. */
  file(name: string, text: string): string
  /** The session whose token the state directory keeps. */
  session(): Session
}

/** `init` has run, nobody is logged in. */
export const owners = async (t: Test): Promise<Owners> => {
  const place = sallyport(t)
  const clock = testClock()
  const run = (argv: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    place.run(argv, { clock, ...options })
  const json = async (argv: readonly string[], options: RunOptions = {}) => {
    const ran = await run([...argv, '--json'], options)
    if (ran.status !== 0) throw new Error(`${argv.join(' ')} failed: ${ran.stderr}`)
    return ran.json()
  }
  await json(['init', '--owner', 'ada'])
  let opened: Bench | undefined
  const bench = (): Bench => {
    if (opened !== undefined) return opened
    const { stateDir: dir, configDir } = place
    const store = openStore({ dir, configDir, mode: 'write', clock })
    t.teardown(() => store.close())
    return (opened = benchOn(store, clock))
  }
  return {
    place,
    clock,
    run,
    json,
    bench,
    file: (name, text) => {
      writeFileSync(place.path(name), text)
      return place.path(name)
    },
    session: () => authenticate(bench().gov, loadToken(tokenPath(place.stateDir))),
  }
}

/** What a failed run says of itself. */
export const failure = (ran: Ran): { status: number; code: string; out: string } =>
  ({ status: ran.status, code: ran.error().code, out: ran.stdout })
