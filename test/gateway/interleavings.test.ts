/**
 * Every gap of a proof meets every event that can come into it; kills.test.ts kills it there.
 * Before the first request byte nothing is sent and nothing stays held; after it the charge is
 * settled or stays whole, no proof is kept, and nothing is ever sent a second time by itself.
 */
import { proofCollection } from '../../src/gateway/proof.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { slotFlags } from '../world/gateway.js'
import type { Ran } from '../world/place.js'
import { World, type RoutesWorld } from '../world/world.js'

const before = [
  'claimed', 'slot', 'reserved', 'before_resolve', 'before_dial', 'contact_begin',
  'contact_intent', 'before_first_byte',
] as const
const after = ['replied', 'charge_known'] as const

/** An event, the reason it leaves, and how the deployment is made whole again. */
interface Event {
  readonly happens: (rig: RoutesWorld) => Promise<unknown>
  readonly reason: string
  readonly mend: (rig: RoutesWorld) => Promise<unknown>
}

const chat = slotFlags('chat', 'gateway.chat')

const events: Readonly<Record<string, Event>> = {
  revoke: {
    happens: async (rig) => must(await rig.run(['policy', 'revoke'])),
    reason: 'policy_revoked',
    mend: async (rig) => must(await rig.widen(chat)),
  },
  disable: {
    happens: async (rig) => must(await rig.run(['gateway', 'setup', '--disable'])),
    reason: 'route_disabled',
    mend: async (rig) => must(await rig.widen(['--enable', '--consent', 'chat'])),
  },
  'change the slot': {
    happens: async (rig) => must(await rig.run([
      'gateway', 'setup', '--slot', 'chat', '--upstream-allow', 'acme-host', '--void-answers',
    ])),
    reason: 'slot_changed',
    mend: async (rig) => must(await rig.widen(chat)),
  },
  'withdraw the consent with the slot': {
    happens: async (rig) => must(await rig.run(['gateway', 'setup', '--remove-slot', 'chat'])),
    reason: 'slot_not_set',
    mend: async (rig) => must(await rig.widen(chat)),
  },
  'replace the session': {
    happens: async (rig) => must(await rig.run(['login', '--replace'])),
    reason: 'root_not_live',
    mend: async () => undefined,
  },
}

const proveWith = async (rig: RoutesWorld, step: string, event: Event): Promise<Ran> => {
  let done = false
  return rig.prove('chat', {
    at: async (name) => {
      if (name !== `prove.${step}` || done) return
      done = true
      await event.happens(rig)
    },
  })
}

const stateOf = (rig: RoutesWorld, ran: Ran) =>
  findReservation(rig.view(), ran.error().details.operation_id)?.state

for (const [name, event] of Object.entries(events)) {
  t.test(`before the first byte, ${name} stops a proof and frees its hold`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha().gateway()
    for (const step of before) {
      const ran = await proveWith(rig, step, event)
      t.equal(ran.error().code, 'proof_not_sent', step)
      t.equal(ran.error().reason, event.reason, step)
      const held = stateOf(rig, ran)
      t.ok(held === undefined || held === 'released', `${step}: nothing stays held`)
      await event.mend(rig)
    }
    t.equal(rig.calls().length, 0)
    checkLedger(t, rig)
  })

  t.test(`after the reply, ${name} leaves the charge and keeps no proof`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha().gateway()
    for (const [at, step] of after.entries()) {
      const ran = await proveWith(rig, step, event)
      t.equal(ran.status, 4, step)
      t.hasStrict(ran.error(), { code: 'proof_not_adopted', reason: event.reason }, step)
      t.equal(stateOf(rig, ran), 'settled', step)
      t.equal(rig.calls().length, at + 1)
      t.strictSame(rig.view().all(proofCollection), [])
      await event.mend(rig)
    }
    checkLedger(t, rig)
  })
}

t.test('a key that is rotated after the request keeps the proof; before it, nothing is sent', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const rotate = (n: number) => async () => {
    const stdin = JSON.stringify({
      gateway: { api_key: `another-key-${n}`, cloud_egress_acknowledged: true },
      expected_policy_revision: await rig.revision(),
    })
    must(await rig.run(['config', 'save', '--json', '--from', '-'], { stdin }))
  }
  const event = (n: number): Event => ({ happens: rotate(n), reason: '', mend: rotate(n) })
  const early = await proveWith(rig, 'contact_begin', event(1))
  t.equal(early.error().reason, 'credential_mismatch')
  t.equal(rig.calls().length, 0)
  const late = await proveWith(rig, 'replied', event(2))
  must(late)
  const { proof } = (await rig.show()).gateway.slots.chat
  t.hasStrict(proof, { state: 'stale', reason: 'key_fingerprint_changed' }, 'of the key before')
  t.equal((await rig.prove('chat')).status, 0)
})

t.test('a save of the other route in between changes the revision and stops contact', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const ran = await proveWith(rig, 'before_first_byte', {
    happens: async () => must(await rig.run(['alpha', 'setup', '--disable'])), reason: '',
    mend: async () => undefined,
  })
  t.equal(ran.error().code, 'proof_not_sent')
  t.equal(rig.calls().length, 0)
  t.equal((await rig.prove('chat')).status, 0, 'the consents were carried over')
})

t.test('a second proof of a slot while one runs is refused', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  let second: Ran | undefined
  const first = await rig.prove('chat', {
    at: async (step) => { if (step === 'prove.reserved') second = await rig.prove('chat') },
  })
  t.equal(first.status, 0)
  t.equal(second?.status, 5)
  t.equal(second?.error().code, 'proof_in_progress')
  t.equal(rig.calls().length, 1)
})

t.test('a proof that another process made since the look is not paid for once more', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  let other: Ran | undefined
  const ran = await rig.prove('chat', {
    args: ['--if-stale'],
    at: async (step) => { if (step === 'prove.begin') other ??= await rig.prove('chat') },
  })
  t.hasStrict([other?.status, ran.status], [0, 0], ran.stderr)
  t.hasStrict(ran.json(), { made: false, proof_id: other?.json().proof_id })
  t.equal(rig.calls().length, 1)
  checkLedger(t, rig)
})

t.test('an interrupt before contact sends nothing; after the first byte the charge settles', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const interruptAt = (wanted: string) => {
    const stop = new AbortController()
    const at = (step: string): void => { if (step === `prove.${wanted}`) stop.abort() }
    return rig.prove('chat', { stop: stop.signal, at })
  }
  const early = await interruptAt('before_dial')
  t.equal(early.status, 130)
  t.equal(rig.calls().length, 0)
  const late = await interruptAt('replied')
  t.equal(late.status, 0, 'what was paid for is kept')
  t.equal(rig.calls().length, 1)
  checkLedger(t, rig)
})

t.test('a ceiling without room refuses a proof before contact', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.run(['gateway', 'setup', '--json', '--spend-ceiling-microusd', '150000']))
  rig.sandbox.faults.set('status_500', { service: 'gateway' })
  await rig.prove('chat')
  const ran = await rig.prove('report')
  t.equal(ran.status, 8)
  t.equal(rig.calls().length, 1)
  checkLedger(t, rig)
})

t.test('a charge above the bound stands, waits for a review, and gives no proof', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.run([
    'gateway', 'setup', '--json', '--slot', 'chat', '--request-cost-bound-microusd', '1',
  ]))
  const ran = await rig.prove('chat')
  t.equal(ran.status, 7)
  t.equal(ran.error().code, 'proof_overrun')
  const held = findReservation(rig.view(), ran.error().details.operation_id)
  t.hasStrict(held, { state: 'settled', overrun: 'review_required' })
  t.ok((held?.charged_microusd ?? 0) > 1, 'recorded whole')
  t.strictSame(rig.view().all(proofCollection), [])
  must(await rig.run(['ledger', 'review', held?.operation_id ?? '', '--accept', '--json']))
  checkLedger(t, rig)
})
