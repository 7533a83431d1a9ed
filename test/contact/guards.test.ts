/** Guards of the engine that no reply shows: a bill that nobody owes, and the key afterwards. */
import t, { type Test } from 'tap'
import { alphaCredentialRef } from '../../src/alpha/constants.js'
import { runOrder } from '../../src/contact/engine.js'
import type { ContactContext, Order, Outcome, Send, Step } from '../../src/contact/order.js'
import { collections } from '../../src/governance/rows.js'
import { deploymentProfile } from '../../src/governance/profile.js'
import { clientOf } from '../support/contact-bench.js'
import { World, type AlphaWorld } from '../world/world.js'

type Seen = readonly Outcome<number>[]
type Held = Order<null, Seen, string>

const contextOf = ({ gov, sandbox }: AlphaWorld): ContactContext => {
  const client = clientOf(sandbox)
  return { gov, signal: new AbortController().signal, client: async () => client }
}

const stepTo = (url: string, authority: Step<number>['authority']): Step<number> => ({
  authority,
  request: () => ({
    method: 'GET', url, headers: {}, requestBytesMax: 0, replyBytesMax: 65_536,
  }),
  timeoutMs: (leftMs) => leftMs,
  judge: ({ status }) => status,
})

/** An order that holds money; what it sends is the test's. */
const orderOf = (rig: AlphaWorld, run: Held['run']): Held => ({
  step: 'held', verb: 'test', noun: 'held', operationMsMax: 30_000, lane: null,
  runtime: 'alpha_text', profile: 'test.held', credential: alphaCredentialRef,
  claim: () => ({ kind: 'claimed', claimed: null }),
  prepare: () => ({
    hold: {
      taskId: null, boundMicrousd: 1_000,
      principal: rig.view().all(collections.principals)[0]?.id ?? '',
    },
    requestMs: 10_000,
  }),
  decide: () => ({ provider: 'sandbox', url: 'x', decision_id: 'dec_x', policy_revision: 1 }),
  authority: () => 1,
  run,
  unsent: (why) => [why],
  money: (evidence) => (evidence.every(({ kind }) => kind === 'unsent')
    ? { ledger: 'release' } : { ledger: 'unknown', reason: 'test' }),
  close: (_tx, _now, _run, { evidence }) => ({
    kept: evidence.map((one) => (one.kind === 'reply' ? 'reply' : one.reason)).join(','),
    outcome: 'ended', adopts: false,
  }),
  details: () => ({}),
})

const alphaWorld = (t: Test): PromiseLike<AlphaWorld> =>
  World.in(t).sandbox().state().session().alpha()

const urlOf = ({ gov }: AlphaWorld): string => deploymentProfile(gov.store).provider.base_url

t.test('A-167 no bill is asked for while nothing of the operation is owed', async (t) => {
  const rig = await alphaWorld(t)
  const ask = async (send: Send): Promise<Seen> => [await send(stepTo(urlOf(rig), 'owed'))]
  t.equal(await runOrder(contextOf(rig), orderOf(rig, ask)), 'nothing_owed')
  t.equal(rig.sandbox.log.all({ service: 'provider' }).length, 0)
  const both = async (send: Send): Promise<Seen> =>
    [await send(stepTo(urlOf(rig), 'full')), await send(stepTo(urlOf(rig), 'owed'))]
  t.equal(await runOrder(contextOf(rig), orderOf(rig, both)), 'reply,reply', 'and owed it is')
})

t.test('the key of an order is wiped when it has ended, whatever its end', async (t) => {
  const rig = await alphaWorld(t)
  const keys: Buffer[] = []
  const sends = async (send: Send, { key }: { readonly key: Buffer }): Promise<Seen> => {
    keys.push(key)
    t.match(key.toString('latin1'), /MARK-KEY/, 'until then it is the key')
    return [await send(stepTo(urlOf(rig), 'full'))]
  }
  await runOrder(contextOf(rig), orderOf(rig, sends))
  const breaks = async (_send: Send, { key }: { readonly key: Buffer }): Promise<Seen> => {
    keys.push(key)
    throw new Error('a defect of the order')
  }
  await t.rejects(runOrder(contextOf(rig), orderOf(rig, breaks)), { message: /defect/ })
  t.strictSame(keys.map((key) => key.length > 0 && key.every((byte) => byte === 0)), [true, true])
})
