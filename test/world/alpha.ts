/** The stage of the text capability, set up through the program. */
import type { Place, Ran, RunOptions } from './place.js'
import { must } from '../support/must.js'
import type { SeenRequest } from '../../src/sandbox/types.js'
import type { Outside } from './sandbox.js'
import type { SignedIn } from './session.js'
import type { Stateful } from './state.js'
import type { Placed } from './world.js'

/** What the provider charged nothing unusual means: the bound and ceiling of the set-up. */
export const limits = {
  maxOutputTokens: 256, timeoutSeconds: 20, boundMicrousd: 50_000, ceilingMicrousd: 1_000_000,
} as const

/** The question of tests, with a mark that leak tests search for. */
export const question = 'MARK-QUESTION: what is a sally port?'

/** Ways to use the text capability. */
export interface TextRoute {
  /** Asks the question of tests with `--json`. */
  ask(options?: RunOptions & { readonly args?: readonly string[] }): Promise<Ran>
  /** Requests that the provider saw. */
  inferences(): readonly SeenRequest[]
  billings(): readonly SeenRequest[]
  /** The policy revision that `alpha show` prints. */
  revision(): Promise<number>
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

/** Room for hundreds of unknown charges. */
export const roomy: Money = { boundMicrousd: 50_000, ceilingMicrousd: 1_000_000_000 }

/** How it is set up. */
export interface AlphaOptions {
  readonly money?: Money
  /** False leaves it without a set-up. */
  readonly setUp?: boolean
}

/** The text capability; its key lies in the working folder. */
export const alpha = async (
  world: Placed & Stateful & SignedIn & Outside, { money, setUp = true }: AlphaOptions,
): Promise<TextRoute> => {
  const { place, run, sandbox } = world
  const revision = async (): Promise<number> =>
    (await world.json(['alpha', 'show'])).policy_revision
  place.write('key', 'MARK-KEY-0123456789\n')
  if (setUp) must(await run(setupFlags(place, await revision(), money)))
  return {
    revision,
    ask: ({ args = [], ...more } = {}) =>
      run(['alpha', 'ask', '-', '--json', ...args], { stdin: question, ...more }),
    inferences: () => sandbox.log.all({ service: 'provider', route: 'completion' }),
    billings: () => sandbox.log.all({ service: 'provider', route: 'billing' }),
  }
}
