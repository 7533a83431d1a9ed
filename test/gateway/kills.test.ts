/** A proof's process is killed at every step; what the next one finds depends on the mark alone. */
import type { Test } from 'tap'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { spendOfDay } from '../../src/gateway/call/spend.js'
import { proofCollection } from '../../src/gateway/proof.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { collections } from '../../src/governance/rows.js'
import { checkLedger, recover } from '../support/ledger.js'
import { t } from '../support/tests-in-slices.js'
import { World, type RoutesWorld } from '../world/world.js'

/** Steps before the contact mark is durable. */
const before = [
  'claimed', 'slot', 'reserved', 'before_resolve', 'before_dial', 'contact_begin',
] as const
/** Steps with the mark durable and no byte sent: nobody could prove that afterwards. */
const marked = ['contact_intent', 'before_first_byte'] as const
const after = ['replied', 'charge_known'] as const

const newestClaim = (rig: RoutesWorld) =>
  rig.view().all(claimCollection).map(({ doc }) => doc)
    .sort((a, b) => (a.claimed_at < b.claimed_at ? 1 : -1))[0]

const killAt = async (t: Test, rig: RoutesWorld, step: string): Promise<void> => {
  const ran = await rig.place.spawn(['gateway', 'prove', 'chat', '--json'], {
    entry: 'test', env: { TEST_STOP_AT: `prove.${step}` }, coverage: false,
  })
  t.equal(ran.status, 137, `killed at ${step}: ${ran.stderr}`)
}

t.test('a kill before the contact mark gives the hold back, and the proof may be made', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  for (const step of before) {
    await killAt(t, rig, step)
    const claim = newestClaim(rig)
    await recover(rig)
    const state = findReservation(rig.view(), claim?.operation_id ?? '')?.state
    t.ok(state === undefined || state === 'released', `${step}: ${state}`)
    t.equal(rig.calls().length, 0)
  }
  const ran = await rig.prove('chat', { args: ['--if-stale'] })
  t.equal(ran.status, 0, ran.stderr)
  checkLedger(t, rig)
})

t.test('a kill after the contact mark keeps the full liability and repeats nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  let calls = 0
  for (const step of [...marked, ...after]) {
    await killAt(t, rig, step)
    calls += after.includes(step as 'replied') ? 1 : 0
    const claim = newestClaim(rig)
    const again = await rig.prove('chat', { args: ['--if-stale'] })
    t.hasStrict(again.error(), { code: 'proof_not_repeated', reason: 'charge_unknown' }, step)
    t.hasStrict(findReservation(rig.view(), claim?.operation_id ?? ''), {
      state: 'unknown', bound_microusd: 100_000,
    }, step)
    t.equal(rig.calls().length, calls, `${step}: no second request`)
    t.strictSame(rig.view().all(proofCollection), [])
  }
  t.equal((await rig.prove('chat')).status, 0, 'a person may start another attempt')
  checkLedger(t, rig)
})

t.test('a marked proof whose hold or whose claim is lost to damage is not made again by itself', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await killAt(t, rig, 'contact_intent')
  const claim = newestClaim(rig)
  if (claim === undefined) throw new Error('there is no claim')
  const lost = [
    () => rig.transact((tx) => tx.remove(collections.openReservations, claim.operation_id)),
    () => rig.transact((tx) => tx.remove(claimCollection, claim.input_digest)),
  ]
  for (const lose of lost) {
    await lose()
    const again = await rig.prove('chat', { args: ['--if-stale'] })
    t.hasStrict(again.error(), { code: 'proof_not_repeated', reason: 'charge_unknown' })
    t.hasStrict(spendOfDay(rig.view(), new Set(['gateway.chat']), Date.now()), {
      requests: 1, heldMicrousd: 100_000,
    }, 'it counts in the day')
  }
  t.equal(rig.calls().length, 0, 'nothing was sent')
})
