/**
 * A whole deployment for tests of the text capability: a state directory, an owner who is logged
 * in, the sandbox over real TLS, and the capability set up. Commands run through the program.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { silentObserver, type Observer } from '../../src/base/observer.js'
import { recoverState } from '../../src/fabric/recovery.js'
import { verifyLedger } from '../../src/governance/ledger/verify.js'
import { collections } from '../../src/governance/rows.js'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/start.js'
import type { SeenRequest } from '../../src/sandbox/types.js'
import { openStore } from '../../src/state/store.js'
import type { Store, View } from '../../src/state/types.js'
import { sallyport, type Place, type Ran, type RunOptions } from '../harness.js'
import { withSandbox, type Teardown } from '../sandbox/with-sandbox.js'
import { marksInFiles, searchFor } from '../support/marks.js'

/** What the provider charged nothing unusual means: the bound and ceiling of the set-up. */
export const limits = {
  maxOutputTokens: 256, timeoutSeconds: 20, boundMicrousd: 50_000, ceilingMicrousd: 1_000_000,
} as const

/** The question of tests, with a mark that leak tests search for. */
export const question = 'MARK-QUESTION: what is a sally port?'

/** A set-up deployment. */
export interface Rig {
  readonly place: Place
  readonly sandbox: Sandbox
  /** Runs one line in this process. */
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>
  /** Asks the question of tests with `--json`. */
  ask(options?: RunOptions & { readonly args?: readonly string[] }): Promise<Ran>
  /** Requests that the provider saw. */
  inferences(): readonly SeenRequest[]
  billings(): readonly SeenRequest[]
  /** Opens the store for looking or forging. */
  open(mode?: 'read' | 'write'): Store
  view(): View
  /** The policy revision that `alpha show` prints. */
  revision(): Promise<number>
}

const must = (ran: Ran): Ran => {
  if (ran.status !== 0) throw new Error(`setting up failed: ${ran.stderr}`)
  return ran
}

/** Bound of one request and ceiling of the deployment, micro-USD. */
export interface Money {
  readonly boundMicrousd: number
  readonly ceilingMicrousd: number
}

/** Flags of a set-up that enables the route. */
export const setupFlags = (
  place: Place, revision: number, money: Money = limits,
): string[] => [
  'alpha', 'setup', '--json', '--enable', '--acknowledge-plaintext-egress',
  '--api-key-file', place.path('key'),
  '--max-output-tokens', String(limits.maxOutputTokens),
  '--timeout-seconds', String(limits.timeoutSeconds),
  '--request-cost-bound-microusd', String(money.boundMicrousd),
  '--spend-ceiling-microusd', String(money.ceilingMicrousd),
  '--expected-policy-revision', String(revision),
]

/** Options of a rig. */
export interface RigOptions {
  readonly sandbox?: Partial<SandboxOptions>
  /** Leave the capability without a set-up. */
  readonly bare?: boolean
  readonly money?: Money
}

/** What the sandbox's answers end in, and what everything else that is private begins with. */
const privateWords = searchFor(['(Sandbox answer.)', 'MARK-'])

/** Throws, and so fails the test, when anything private lies in the clear in the deployment. */
const requireNoLeak = ({ stateDir, configDir, env }: Place): void => {
  const found = marksInFiles(privateWords, [stateDir, configDir, env['HOME'] ?? ''])
  if (found.length > 0) throw new Error(`private text in the clear: ${found.join(', ')}`)
}

/** Makes a deployment that goes when the test (or long loop) ends. */
export const makeRig = async (t: Teardown, options: RigOptions = {}): Promise<Rig> => {
  const place = sallyport(t)
  t.teardown(() => requireNoLeak(place))
  const sandbox = await withSandbox(t, options.sandbox)
  writeFileSync(place.path('key'), 'MARK-KEY-0123456789\n')
  const run: Rig['run'] = (argv, more) => place.run(argv, more)
  must(await run(['init', '--json', '--profile', sandbox.profileFile]))
  must(await run(['login', '--json']))
  const open = (mode: 'read' | 'write' = 'read'): Store => {
    const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode })
    t.teardown(() => store.close())
    return store
  }
  const rig: Rig = {
    place,
    sandbox,
    run,
    ask: ({ args = [], ...more } = {}) =>
      run(['alpha', 'ask', '-', '--json', ...args], { stdin: question, ...more }),
    inferences: () => sandbox.log.all({ service: 'provider', route: 'completion' }),
    billings: () => sandbox.log.all({ service: 'provider', route: 'billing' }),
    open,
    view: () => open().read(),
    revision: async () => must(await run(['alpha', 'show', '--json'])).json().policy_revision,
  }
  if (options.bare !== true) must(await run(setupFlags(place, await rig.revision(), options.money)))
  return rig
}

/** Asserts that ledger and rows agree, and gives the account. */
export const checkLedger = (t: Test, rig: Rig, text = 'the ledger balances') => {
  const view = rig.view()
  t.same(verifyLedger(view), [], text)
  return view.all(collections.ledgerAccounts).at(0)?.doc
}

/** Resolves leftovers as the next mutating verb would. */
export const recover = async (
  rig: Rig, clock: Clock = systemClock, observer: Observer = silentObserver,
) => recoverState({ store: rig.open('write'), clock, observer, face: 'cli' })

/** Bytes of a file of the rig's working folder. */
export const fileBytes = (rig: Rig, name: string): Buffer => readFileSync(rig.place.path(name))
