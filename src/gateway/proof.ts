/**
 * Capability proofs: that a slot's exact route answered once, with every routing control sent. A
 * proof is bound to what it was made with and goes stale after a day or when any of it changes. It
 * is evidence for the gateway's own slots and for nothing else.
 */
import * as v from 'valibot'
import { sha256 } from '../base/schema.js'
import { canonicalJson } from '../base/canonical.js'
import { msFromIso } from '../base/clock.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'
import { gatewayLimits, slotNames, type SlotName } from './constants.js'
import { proofVersions } from './recipes.js'
import { gatewayReceiptShape } from './receipt.js'
import type { GatewayRoute } from './setup.js'

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(gatewayLimits.nameCharsMax))

const bindingsShape = v.strictObject({
  api_base: v.string(),
  model: v.string(),
  upstream_allow: v.array(v.string()),
  key_fingerprint: v.nullable(v.string()),
  prompt_version: v.string(),
  schema_version: v.nullable(v.string()),
  /** Versions of what the slot is used for beside proofs. */
  used_prompt_version: v.nullable(v.string()),
  used_schema_version: v.nullable(v.string()),
})
/** What a proof holds for; any difference makes it stale. */
export type ProofBindings = v.InferOutput<typeof bindingsShape>

const proofShape = v.strictObject({
  proof_id: v.pipe(v.string(), v.startsWith('prf_')),
  slot: v.picklist(slotNames),
  operation_id: v.string(),
  input_digest: sha256,
  /** Number of the attempt that gave it; tells the newest, whatever the clock said. */
  attempt: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  bindings: bindingsShape,
  /** The strings with which the reply named model and provider: what later replies must say. */
  reply_model: name,
  reply_provider: name,
  cost_microusd: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  made_at: v.pipe(v.string(), v.isoTimestamp()),
  receipt: gatewayReceiptShape,
})
export type GatewayProof = v.InferOutput<typeof proofShape>

/** Proofs by id; the newest of a slot counts. */
export const proofCollection: CollectionSpec<GatewayProof> = {
  name: 'gateway_proofs', schema: proofShape, partition: 'one',
}

const attemptShape = v.strictObject({
  slot: v.picklist(slotNames),
  /** Counts the proof attempts of the slot; part of the input digest, so none repeats another. */
  number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  input_digest: sha256,
})
/** The newest proof attempt of a slot. */
type ProofAttempt = v.InferOutput<typeof attemptShape>

/** Newest attempts; ids are slot names. */
export const attemptCollection: CollectionSpec<ProofAttempt> = {
  name: 'gateway_proof_attempts', schema: attemptShape, partition: 'one',
}

/** What a proof of the slot would be bound to now; null where the slot is not set. */
export const bindingsOf = (route: GatewayRoute | null, slot: SlotName): ProofBindings | null => {
  const setup = route?.slots[slot] ?? null
  if (route === null || setup === null) return null
  return {
    api_base: route.api_base,
    model: setup.model,
    upstream_allow: setup.upstream_allow,
    key_fingerprint: route.credential_fingerprint,
    ...proofVersions(slot),
  }
}

/** Oldest first, by attempt: a clock that was set back must not bury the newest. */
const proofsOf = (view: View, slot: SlotName): GatewayProof[] =>
  view.all(proofCollection).map(({ doc }) => doc).filter((proof) => proof.slot === slot)
    .sort((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0))

export const latestProof = (view: View, slot: SlotName): GatewayProof | undefined =>
  proofsOf(view, slot).at(-1)

/** Writes a proof and forgets the slot's oldest beyond the limit. */
export const putProof = (tx: Tx, proof: GatewayProof): void => {
  const last = tx.get(attemptCollection, proof.slot)
  const attempt = last?.input_digest === proof.input_digest ? { attempt: last.number } : {}
  tx.put(proofCollection, proof.proof_id, { ...proof, ...attempt })
  const all = proofsOf(tx, proof.slot)
  for (const old of all.slice(0, Math.max(0, all.length - gatewayLimits.proofsPerSlotMax))) {
    tx.remove(proofCollection, old.proof_id)
  }
}

/** How a slot's newest proof stands. */
export type ProofState =
  | { readonly state: 'missing'; readonly reason: null; readonly proof: null }
  | { readonly state: 'current'; readonly reason: null; readonly proof: GatewayProof }
  | { readonly state: 'stale'; readonly reason: string; readonly proof: GatewayProof }

const changedBinding = (then: ProofBindings, now: ProofBindings | null): string | null => {
  if (now === null) return 'slot_not_set'
  const names = Object.keys(now) as (keyof ProofBindings)[]
  const changed = names.find((key) => canonicalJson(then[key]) !== canonicalJson(now[key]))
  return changed === undefined ? null : `${changed}_changed`
}

const ageReason = (proof: GatewayProof, nowMs: number): string | null => {
  const ageMs = nowMs - msFromIso(proof.made_at)
  if (ageMs >= gatewayLimits.proofFreshMsMax) return 'older_than_24_hours'
  return ageMs < -gatewayLimits.proofAheadMsMax ? 'made_in_the_future' : null
}

/** Judges a slot's newest proof against the route as it is now. Pure. */
export const proofStateOf = (
  route: GatewayRoute | null, slot: SlotName, proof: GatewayProof | undefined, nowMs: number,
): ProofState => {
  if (proof === undefined) return { state: 'missing', reason: null, proof: null }
  const reason = changedBinding(proof.bindings, bindingsOf(route, slot)) ?? ageReason(proof, nowMs)
  return reason === null
    ? { state: 'current', reason, proof } : { state: 'stale', reason, proof }
}
