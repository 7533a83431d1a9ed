/** How a claimed call stands whose process is gone: its money tells. */
import t from 'tap'
import { claimStatus, type CallClaim } from '../../../src/gateway/call/claims.js'
import { collections } from '../../../src/governance/rows.js'
import type { View } from '../../../src/state/types.js'

const claim = { ended: null, operation_id: 'op_1' } as CallClaim

const statusOf = (state: string | null, isHeld = false) => claimStatus(
  { holds: { isHeld: () => isHeld } as never },
  { get: (spec: unknown) => (spec === collections.openReservations && state !== null
    ? { state } : undefined) } as unknown as View,
  claim)

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
