/** Reads that leave no row: nothing but a read may be sent so. */
import t from 'tap'
import { alphaCredentialRef } from '../../src/alpha/constants.js'
import { readUnrecorded } from '../../src/contact/unrecorded.js'
import type { Step } from '../../src/contact/order.js'
import { deploymentProfile } from '../../src/governance/profile.js'
import { clientOf, getOf } from '../support/contact-bench.js'
import { World } from '../world/world.js'

t.test('what is sent without a row is a read: any other step is refused, and nobody is contacted', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { gov, sandbox } = rig
  const client = clientOf(sandbox)
  const ctx = { gov, signal: new AbortController().signal, client: async () => client }
  const url = `${deploymentProfile(gov.store).provider.base_url}/nothing`
  const send = (authority: Step<number>['authority']) => readUnrecorded(ctx, {
    step: 'looked', verb: 'test', noun: 'look', runtime: 'test_small', profile: 'test.small',
    operationMsMax: 30_000, credential: alphaCredentialRef, claimed: null, authority: () => 1,
  }, (parts) => parts.send(getOf(url, { authority })))
  const before = rig.view().sequence
  for (const authority of ['full', 'owed', 'effect'] as const) {
    await t.rejects(send(authority), new TypeError('only reads leave no row'), authority)
  }
  t.equal(sandbox.log.all().length, 0)
  t.hasStrict(await send('read'), { kind: 'reply', status: 404 })
  t.equal(rig.view().sequence, before)
})
