/** What a proof that was sent makes of a state lock that others hold. */
import t from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { fail, type SallyportError } from '../../src/base/errors.js'
import { unrecorded } from '../../src/contact/persist.js'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { gatewayProve } from '../../src/gateway/gateway-contract.js'
import type { CanaryEntry } from '../../src/gateway/prove.js'
import { checkLedger, recover } from '../support/ledger.js'
import { must } from '../support/must.js'
import { holdLock } from '../support/state/hold-lock.js'
import { takenForDead } from '../support/taken-for-dead.js'
import { World } from '../world/world.js'

t.test('A-192 a lock held past --wait does not cost a proof that was paid for', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const ran = await rig.prove('chat', {
    args: ['--wait', '0'],
    at: (at) => { if (at === 'prove.charge_known') setTimeout(holdLock(rig), 300) },
  })
  t.equal(ran.status, 0, ran.stderr)
  t.equal(rig.calls().length, 1)
  t.equal(checkLedger(t, rig)?.unknown_microusd, 0)
})

t.test('A-124 a lock held past the deadline ends as blocked, never as locked', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  let jumpMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs }
  let release = (): void => undefined
  const ran = await rig.prove('chat', {
    clock, args: ['--wait', '0'],
    at: (at) => {
      if (at !== 'prove.charge_known') return
      release = holdLock(rig)
      jumpMs = 120_000
    },
  })
  release()
  t.equal(ran.status, 7)
  t.hasStrict(ran.error(), { code: 'lock_held', reason: 'outcome_not_recorded' })
  await recover(rig)
  t.ok((checkLedger(t, rig)?.unknown_microusd ?? 0) > 0, 'the bound is a liability')
})

t.test('of many proofs one whose end could not be recorded speaks first: it was sent and its bound is held', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  let known = 0
  const ran = await rig.run(['gateway', 'prove', '--all', '--json'], {
    at: async (at) => {
      if (at === 'prove.charge_known' && (known += 1) === 1) await takenForDead(rig)
    },
  })
  t.equal(rig.calls().length, 3)
  t.hasStrict(ran.json(), [
    { ok: false, slot: 'chat', reason: 'outcome_not_recorded' },
    { ok: true, slot: 'report', made: true }, { ok: true, slot: 'screenshot', made: true },
  ])
  t.equal(ran.status, 7, ran.stderr)
  t.equal(ran.error().reason, 'outcome_not_recorded')
  t.ok((checkLedger(t, rig)?.unknown_microusd ?? 0) > 0, 'the bound is a liability')
})

t.test('what was sent and could not be recorded outweighs every refusal of another slot, whatever kept it from being recorded', (t) => {
  const entryOf = (error: SallyportError): CanaryEntry => ({ ok: false, slot: 'chat', error })
  const refusals = [
    fail.budget('ceiling_exceeded', 'Too much.'), fail.locked('lock_held', 'Not now.'),
    fail.blocked('gateway_slot_not_ready', 'Not set.'),
  ]
  for (const kept of [fail.failed('disk_full', 'Full.'), fail.locked('lock_held', 'Not now.')]) {
    const told = unrecorded(kept, 'op_1')
    for (const refusal of refusals) {
      t.equal(gatewayProve.failure?.([entryOf(refusal), entryOf(told)]), told, refusal.kind)
    }
  }
  t.end()
})

t.test('a proof that was never sent, but that others took for sent, says that its bound is held', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const stop = new AbortController()
  const ran = await rig.prove('chat', {
    stop: stop.signal,
    at: async (at) => {
      if (at !== 'prove.contact_intent') return
      await takenForDead(rig)
      stop.abort()
    },
  })
  t.equal(rig.calls().length, 0)
  t.equal(ran.status, 7, ran.stderr)
  const { code, reason, next, details: { operation_id: id } } = ran.error()
  t.strictSame([code, reason], ['taken_for_sent', 'outcome_not_recorded'])
  t.strictSame(next, [
    { command: `sallyport ledger settle ${id} --amount USD`, needs_person: true },
  ])
  const [claim] = rig.view().all(claimCollection)
  t.equal(claim?.doc.ended, null, 'what is settled by hand finds its claim open')
  must(await rig.run(['ledger', 'settle', id, '--amount-microusd', '0', '--yes']))
  t.hasStrict(checkLedger(t, rig), { unknown_microusd: 0, held_microusd: 0, settled_microusd: 0 })
  must(await rig.prove('chat'))
  must(await rig.run(['state', 'check']))
})
