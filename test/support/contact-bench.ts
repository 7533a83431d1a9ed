/** A bench for the engine: small orders of a test's own, over real TLS. */
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { Waiting } from '../../src/base/observer.js'
import type { ContactContext, Order, Outcome, Send, Step } from '../../src/contact/order.js'
import { routeCollection, type RouteRecord } from '../../src/contact/routes.js'
import { createHttpsClient, type SessionClient } from '../../src/net/client.js'
import type { Outside } from '../world/sandbox.js'
import type { Stateful } from '../world/state.js'
import { World, type Placed } from '../world/world.js'

/** What an order of the bench saw. */
export type Seen = readonly Outcome<number>[]
/** An order of the bench. */
export type Small = Order<string, Seen, string>

/** A state and a provider for such orders, with what was announced. */
export interface Bench {
  readonly world: Placed & Stateful & Outside
  readonly ctx: ContactContext
  readonly url: string
  readonly steps: string[]
  readonly waits: (Waiting | null)[]
  stop(): void
  /** Called at each announced step. */
  at(act: (step: string) => void | Promise<void>): void
}

/** A client that trusts a sandbox and knows no name. */
export const clientOf = ({ caPem }: Outside['sandbox']): SessionClient => createHttpsClient({
  clock: systemClock, env: {}, execArgv: [], ca: [caPem], loopbackOnly: true,
  resolve: async () => { throw new Error('no name is looked up here') },
})

/** Makes one; `onRequest` is waited for before the provider answers. */
export const bench = async (
  t: Test, onRequest: () => Promise<void> = async () => undefined,
): Promise<Bench> => {
  const world = await World.in(t).sandbox({ hooks: { onRequest } }).state()
  const { sandbox, gov } = world
  const profile = JSON.parse(readFileSync(sandbox.profileFile, 'utf8')) as {
    readonly provider: { readonly base_url: string }
  }
  const steps: string[] = []
  const waits: (Waiting | null)[] = []
  const stop = new AbortController()
  let act: (step: string) => void | Promise<void> = () => undefined
  const client = clientOf(sandbox)
  const observer = {
    at: async (step: string) => {
      steps.push(step)
      await act(step)
    },
    waits: (now: Waiting | null) => void waits.push(now),
  }
  return {
    world, steps, waits, url: `${profile.provider.base_url}/nothing`,
    ctx: {
      gov: { ...gov, observer }, signal: stop.signal, client: async () => client,
    },
    stop: () => stop.abort(),
    at: (next) => { act = next },
  }
}

/** A GET of the provider, a read unless `more` says otherwise. */
export const getOf = (url: string, more: Partial<Step<number>> = {}): Step<number> => ({
  authority: 'read',
  request: () => ({
    method: 'GET', url, headers: {}, requestBytesMax: 0, replyBytesMax: 65_536,
  }),
  timeoutMs: (leftMs) => Math.min(leftMs, 10_000),
  judge: ({ status }) => status,
  ...more,
})

/** An order without money and without a lane; what it runs is the test's. */
export const orderOf = (
  { url }: Bench, run: (send: Send) => Promise<Seen>, more: Partial<Small> = {},
): Small => ({
  step: 'small',
  verb: 'test',
  noun: 'small',
  operationMsMax: 30_000,
  lane: null,
  runtime: 'test_small',
  profile: 'test.small',
  credential: null,
  claim: (_tx, _now, { operationId }) => ({ kind: 'claimed', claimed: operationId }),
  prepare: () => ({ hold: null, requestMs: 10_000 }),
  decide: () => ({ provider: 'sandbox', url, decision_id: 'dec_small', policy_revision: 1 }),
  authority: () => 1,
  run,
  unsent: (why) => [why],
  money: () => ({ ledger: 'release' }),
  close: (_tx, _now, _run, { evidence }) => {
    const kept = evidence.map((one) => (one.kind === 'reply' ? 'reply' : one.reason)).join(',')
    return { kept, outcome: evidence.every(({ kind }) => kind === 'reply') ? 'ok' : 'bad',
      adopts: false }
  },
  details: () => ({ small: 'yes' }),
  ...more,
})

/** The route of the one order that ran. */
export const theRoute = (one: Bench): RouteRecord | undefined =>
  one.world.view().all(routeCollection)[0]?.doc
