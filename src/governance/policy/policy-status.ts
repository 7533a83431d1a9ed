import type { Store, View } from '../../state/types.js'
import { placesOf } from '../../state/paths.js'
import { probeFile } from '../../state/holds/kernel-file.js'
import type { PolicyRevision } from '../rows.js'
import { pendingStops } from '../stops/pending.js'
import { stopsEverybody } from '../stops/stop.js'
import { policyAt, policyHead } from './head.js'
import { witnessStatus, type WitnessStatus } from './witness.js'

/** Why no route may contact anyone now; null when the policy itself does not forbid it. */
export type PolicyBlock =
  | null
  | 'policy_revoked'
  | 'save_interrupted'
  | 'save_in_progress'
  | 'witness_mismatch'
  | 'store_behind_anchor'

/** Where the policy stands, judged from the log, the witness file and the anchor together. */
export interface PolicyStatus {
  readonly head: PolicyRevision
  readonly witness: WitnessStatus
  /** Active, witnessed, and not older than the anchor outside the store. */
  readonly usable: boolean
  readonly block: PolicyBlock
}

const blockOf = (
  head: PolicyRevision, witness: WitnessStatus, anchored: boolean, isStopped: boolean,
): PolicyBlock => {
  if (!anchored) return 'store_behind_anchor'
  if (witness !== 'ok') return 'witness_mismatch'
  if (isStopped) return 'policy_revoked'
  if (head.state === 'active') return null
  if (head.reason === 'save_begin') return 'save_in_progress'
  if (head.reason === 'save_interrupted') return 'save_interrupted'
  return 'policy_revoked'
}

/** Judges a head with what witness, anchor and waiting stops say of it. Pure. */
export const judgePolicy = (
  head: PolicyRevision, witness: WitnessStatus, anchored: boolean, isStopped = false,
): PolicyStatus => {
  const block = blockOf(head, witness, anchored, isStopped)
  return { head, witness, usable: block === null, block }
}

/**
 * Why a view that somebody has published on top of cannot be used: what stands now, if that forbids
 * contact, else that a save came in between. Undefined while the view has the newest head.
 */
const publishedSince = (store: Store, head: PolicyRevision): PolicyBlock | undefined => {
  const now = store.read()
  if (policyHead(now).revision <= head.revision) return undefined
  return policyStatus(store, now).block ?? 'save_in_progress'
}

/**
 * Why a head whose line the witness lacks cannot be used while somebody alive holds the lock: that
 * one is writing the line. Undefined where nobody does, and under this process's own lock.
 */
const beingWitnessed = (
  store: Store, view: View, { head, witness }: PolicyStatus, isStopped: boolean,
): PolicyBlock | undefined => {
  if (witness !== 'behind_by_one' || 'put' in view || !isLockTaken(store.dir)) return undefined
  return blockOf(head, 'ok', true, isStopped) ?? 'save_in_progress'
}

const isLockTaken = (dir: string): boolean => {
  try {
    return probeFile(placesOf(dir).lock) === 'live'
  } catch {
    // Only the name of the block would be another.
    return false
  }
}

const judged = new WeakMap<View, PolicyStatus>()

/**
 * Judges the policy for contact and for the configuration read. Changes nothing. One view is judged
 * once per head: whoever needs witness and anchor as they are now takes a new view.
 */
export const policyStatus = (store: Store, view: View): PolicyStatus => {
  const head = policyHead(view)
  const known = judged.get(view)
  if (known?.head === head) return known
  const witness = witnessStatus(view, store.witness, (revision) => policyAt(view, revision))
  // Head and witness can be rolled back together; what the anchor last saw published cannot.
  const anchor = store.anchor()
  const anchored = anchor.status === 'ok' && anchor.policyRevision <= head.revision
  const isStopped = pendingStops(store.stops.lying(), view).some(stopsEverybody)
  const judgedNow = judgePolicy(head, witness, anchored, isStopped)
  // Anchor and witness are read after the view: what does not agree may only be newer than it.
  const since = anchored && witness === 'ok' ? undefined
    : publishedSince(store, head)
      ?? (anchored ? beingWitnessed(store, view, judgedNow, isStopped) : undefined)
  const standing = since === undefined ? judgedNow : { ...judgedNow, usable: false, block: since }
  judged.set(view, standing)
  return standing
}
