import type { View } from '../../state/types.js'
import type { Gov } from '../context.js'
import { policyStatus, type PolicyStatus } from '../policy/policy-status.js'
import type { Root } from '../rows.js'
import { keyFacts, type KeyFacts } from '../vault.js'
import { liveRoot, rootEndsMs } from '../session/live.js'

/**
 * One boundary's look at what authority rests on. Everything that is judged at a boundary is judged
 * on the same moment, so that witness and anchor are opened once for it.
 */
export interface Moment {
  readonly view: View
  readonly nowMs: number
  /** The policy as log, witness file and anchor have it together. */
  readonly policy: PolicyStatus
  /** The root when it is live now; throws `unauthorized` otherwise. */
  liveRoot(rootId: string): Root
  /** When the root ends by itself unless it is used again, milliseconds; 0 when it has ended. */
  rootEndsMs(rootId: string): number
  /** What there is of the key under a name of the vault. */
  keyOf(ref: string): KeyFacts
}

export const momentOf = (gov: Gov, view: View): Moment => ({
  view,
  nowMs: gov.clock.wallMs(),
  policy: policyStatus(gov.store, view),
  liveRoot: (rootId) => liveRoot(view, gov, rootId),
  rootEndsMs: (rootId) => rootEndsMs(view, gov, rootId),
  keyOf: (ref) => keyFacts(gov.store, view, ref),
})
