/** How a claimed call stands whose process is gone: its money tells. */
import t from 'tap'
import { claimStatus, type CallClaim } from '../../../src/gateway/call/claims.js'
import { collections } from '../../../src/governance/rows.js'
import type { View } from '../../../src/state/types.js'

const claim = { ended: null, operation_id: 'op_1', contacted_at: null } as CallClaim
const marked: CallClaim = { ...claim, contacted_at: '2026-11-20T12:00:00.000Z' }

const statusOf = (
  state: string | null, isHeld = false, of: CallClaim | undefined = claim,
) => claimStatus(
  { holds: { isHeld: () => isHeld } as never },
  { get: (spec: unknown) => (spec === collections.openReservations && state !== null
    ? { state } : undefined) } as unknown as View,
  of)

t.test('only a hold that was released, never left or is not there says that nothing was sent', (t) => {
  for (const state of [null, 'released', 'reserved']) {
    t.equal(statusOf(state), 'interrupted', String(state))
  }
  for (const state of ['contacted', 'unknown', 'settled']) {
    t.equal(statusOf(state), 'charge_unknown', state)
  }
  t.equal(statusOf('contacted', true), 'running', 'its process lives')
  t.end()
})

t.test('S-168 a call that was marked may have been sent, also where its hold or its claim is lost', (t) => {
  for (const state of [null, 'reserved', 'contacted', 'unknown', 'settled']) {
    t.equal(statusOf(state, false, marked), 'charge_unknown', String(state))
  }
  t.equal(statusOf('released', false, marked), 'interrupted', 'proof that nothing left')
  t.equal(claimStatus({ holds: { isHeld: () => false } as never }, {} as View, undefined),
    'charge_unknown')
  t.end()
})
