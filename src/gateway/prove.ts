/**
 * Capability proofs of the slots: one synthetic request through the exact route, paid and recorded
 * like any other. The canary over all slots knows the slots of this route and nothing else, so the
 * text capability can neither be proved by it nor contacted.
 */
import { digestOf } from '../base/canonical.js'
import { fail, SallyportError } from '../base/errors.js'
import { newId } from '../base/ids.js'
import { denied, judge } from '../governance/judge/fact.js'
import { momentOf } from '../governance/judge/moment.js'
import { outliveFacts } from '../governance/judge/person-facts.js'
import type { Session } from '../governance/context.js'
import type { Tx, View } from '../state/types.js'
import { claimCollection, claimStatus } from './call/claims.js'
import { callError } from './call/ending.js'
import type { CallResult } from './call/finish.js'
import type { CallOrder } from './call/order.js'
import { sendCall } from './call/send.js'
import { gatewayLimits, slotNames, type GatewayPurpose, type SlotName } from './constants.js'
import type { GatewayContext } from './context.js'
import {
  attemptCollection, bindingsOf, putProof, type GatewayProof, type ProofBindings,
} from './proof.js'
import {
  gatewayDenials, gatewayFacts, gatewayWordsOf, proofPurposeNow, type GatewayDenial,
} from './readiness.js'
import type { GatewayReceipt } from './receipt.js'
import { proofRecipes } from './recipes.js'
import { gatewayCollection, gatewayRouteId } from './setup.js'

/** A proof that stands; `made` false when it stood already and nobody was contacted. */
export interface ProofResult {
  readonly slot: SlotName
  readonly made: boolean
  readonly proof: GatewayProof
  readonly receipt: GatewayReceipt
}

interface ProofRequest {
  readonly slot: SlotName
  /** Contact nobody while the newest proof is current; never repeat an uncertain attempt. */
  readonly ifStale: boolean
}

/** How a proof is ordered, by a person or by a job. */
interface ProofOrder extends ProofRequest {
  readonly purpose: GatewayPurpose
  /** Asked again in the claiming record and up to the first byte: what it is for may be closed. */
  readonly onlyIf?: (view: View) => boolean
}

const notSet: GatewayDenial = { name: 'slot_not_set', kind: 'blocked' }

/** What is found out only after it was paid for is found out too late. */
const requireLongEnough = (
  ctx: GatewayContext, view: View, root: string | null, slot: SlotName,
): void => {
  if (root === null) return
  const seconds = view.get(gatewayCollection, gatewayRouteId)?.slots[slot]?.timeout_seconds ?? 0
  const denials = judge(outliveFacts, {
    moment: momentOf(ctx.gov, view), root, neededMs: seconds * 1_000,
  }, 'admit')
  if (denials.length === 0) return
  throw denied(denials, {
    code: 'gateway_slot_not_ready', message: `The slot ${slot} may not be proved now.`,
    next: 'Your session would end before the reply. Run `sallyport login`, then repeat.',
    details: { slot },
  })
}

const requireReady = (
  ctx: GatewayContext, view: View, root: string | null, use: Pick<ProofOrder, 'slot' | 'purpose'>,
): void => {
  const { slot } = use
  const facts = gatewayFacts(ctx.gov, view, ctx.place)
  const denials = facts.route === null ? [notSet] : gatewayDenials(facts, use, 'admit')
  const [first] = denials
  if (first === undefined) return requireLongEnough(ctx, view, root, slot)
  throw denied([first], {
    code: 'gateway_slot_not_ready', message: `The slot ${slot} may not be used now.`,
    next: gatewayWordsOf(first.name, facts).text, details: { slot },
  })
}

/** Only an attempt that provably sent nothing, or that gave a proof, may be followed by itself. */
const requireRepeatable = (ctx: GatewayContext, view: View, slot: SlotName): void => {
  const attempt = view.get(attemptCollection, slot)
  if (attempt === undefined) return
  const claim = view.get(claimCollection, attempt.input_digest)
  const standing = claimStatus(ctx.gov.store, view, claim)
  if (standing === 'succeeded' || standing === 'not_contacted' || standing === 'interrupted') return
  throw fail.blocked(
    'proof_not_repeated',
    'The last attempt was refused, failed or is uncertain; it is not repeated by itself.',
    {
      reason: standing, next: `Look at it, then run \`sallyport gateway prove ${slot}\`.`,
      details: { slot, operation_id: claim?.operation_id ?? null },
    },
  )
}

const requireNoneRunning = (ctx: GatewayContext, tx: Tx, slot: SlotName): void => {
  const attempt = tx.get(attemptCollection, slot)
  const claim = attempt && tx.get(claimCollection, attempt.input_digest)
  if (claim === undefined || claimStatus(ctx.gov.store, tx, claim) !== 'running') return
  throw fail.conflict('proof_in_progress', 'A proof of this slot is under way.', {
    details: { slot, operation_id: claim.operation_id },
  })
}

const requireDue = (
  view: View, { slot, onlyIf }: Pick<ProofOrder, 'slot' | 'onlyIf'>,
): void => {
  if (onlyIf?.(view) !== false) return
  throw fail.conflict('proof_not_due', 'The proof is not to be renewed now.', { details: { slot } })
}

const requireBindings = (view: View, slot: SlotName): ProofBindings => {
  const bindings = bindingsOf(view.get(gatewayCollection, gatewayRouteId) ?? null, slot)
  if (bindings !== null) return bindings
  throw fail.blocked('gateway_slot_not_ready', `The slot ${slot} is not set.`, {
    reason: 'slot_not_set', details: { slot },
  })
}

/** The claim's digest covers what is proved and the number of the attempt. */
const claimAttempt = (
  ctx: GatewayContext, tx: Tx, root: string | null, request: ProofOrder,
): { readonly inputDigest: string; readonly claimed: ProofBindings } => {
  const { slot } = request
  const bindings = requireBindings(tx, slot)
  requireReady(ctx, tx, root, request)
  requireNoneRunning(ctx, tx, slot)
  requireDue(tx, request)
  if (request.ifStale) requireRepeatable(ctx, tx, slot)
  const number = (tx.get(attemptCollection, slot)?.number ?? 0) + 1
  const inputDigest = digestOf({ call: 'gateway.proof', slot, number, bindings })
  tx.put(attemptCollection, slot, { slot, number, input_digest: inputDigest })
  return { inputDigest, claimed: bindings }
}

/** Who a proof is made for; `root` null where it rests on the purpose's consent alone. */
interface Prover {
  readonly principal: string
  readonly root: string | null
}

const proofOrder = async (
  ctx: GatewayContext, { principal, root }: Prover, request: ProofOrder,
): Promise<CallOrder<ProofBindings, true, GatewayProof>> => {
  const { slot, purpose } = request
  const recipe = proofRecipes[slot]
  const messages = await recipe.messages()
  return {
    step: 'prove',
    slot,
    purpose,
    priority: slot === 'report' ? 'high' : 'normal',
    principal,
    root,
    content: {
      messages, responseFormat: recipe.responseFormat,
      maxTokens: gatewayLimits.proofOutputTokensMax,
    },
    claim: (tx) => claimAttempt(ctx, tx, root, request),
    recheck: (view) => requireDue(view, request),
    judge: ({ content }) => (recipe.accepts(content)
      ? { refused: null, content: true } : { refused: 'not_as_asked' }),
    record: (tx, now, { receipt, usable }, bindings) => {
      if (usable === null) return null
      const proof: GatewayProof = {
        proof_id: newId('prf'), slot, operation_id: receipt.operation_id,
        input_digest: receipt.input_digest, bindings,
        reply_model: usable.reply.model, reply_provider: usable.reply.provider,
        cost_microusd: receipt.cost.amount_microusd ?? 0, made_at: now, receipt,
      }
      putProof(tx, proof)
      return proof
    },
  }
}

/** The proof that is made already, where only a stale one is followed by another. */
const standing = (
  ctx: GatewayContext, view: View, { slot, ifStale }: ProofRequest,
): ProofResult | null => {
  const { proof, state } = gatewayFacts(ctx.gov, view, ctx.place).proofs[slot]
  return ifStale && state === 'current'
    ? { slot, made: false, proof, receipt: proof.receipt } : null
}

const isNotDue = (error: unknown): boolean =>
  error instanceof SallyportError && error.code === 'proof_not_due'

/**
 * Proves one slot with exactly one request, or with none when `ifStale` and the newest proof is
 * current. Throws for every end without a proof; the details name the operation whose money tells
 * what it cost.
 */
export const proveSlot = async (
  ctx: GatewayContext, session: Session, request: ProofRequest,
): Promise<ProofResult> => {
  const { slot } = request
  const view = ctx.gov.store.read()
  const purpose = proofPurposeNow(gatewayFacts(ctx.gov, view, ctx.place), slot)
  requireReady(ctx, view, session.root.root_id, { slot, purpose })
  const made = standing(ctx, view, request)
  if (made !== null) return made
  await ctx.gov.observer.at('prove.begin')
  const prover = { principal: session.principal.principal_id, root: session.root.root_id }
  const onlyIf = (now: View): boolean => standing(ctx, now, request) === null
  const order = await proofOrder(ctx, prover, { ...request, purpose, onlyIf })
  try {
    const result = await sendCall(ctx, order)
    const { made: proof, receipt } = result
    if (proof !== null) return { slot, made: true, proof, receipt }
    throw callError({ noun: 'proof', codes: { refused: 'proof_failed' } }, result, { slot })
  } catch (error) {
    const since = isNotDue(error) ? standing(ctx, ctx.gov.store.read(), request) : null
    if (since === null) throw error
    return since
  }
}

/** A proof that a job makes by itself, on the consent of the purpose. */
interface ProofRenewalOrder extends Omit<ProofOrder, 'ifStale'> {
  /** Who gave the consent, and pays. */
  readonly principal: string
}

/**
 * Renews the proof of a slot with at most one request. Throws what kept it from being claimed:
 * `conflict` `proof_not_due` or `proof_in_progress`, `blocked` `proof_not_repeated` after a try
 * that failed or is uncertain, `budget`; every end after that is a result.
 */
export const renewProof = async (
  ctx: GatewayContext, { principal, ...order }: ProofRenewalOrder,
): Promise<CallResult<GatewayProof>> =>
  sendCall(ctx, await proofOrder(ctx, { principal, root: null }, { ...order, ifStale: true }))

/** One slot's part of a canary run. */
export type CanaryEntry =
  | ({ readonly ok: true } & ProofResult)
  | { readonly ok: false; readonly slot: SlotName; readonly error: SallyportError }

/** The generic capability canary: exactly the model slots that are set. */
const canarySlots = (view: View): readonly SlotName[] => {
  const route = view.get(gatewayCollection, gatewayRouteId)
  return slotNames.filter((slot) => route !== undefined && route.slots[slot] !== null)
}

/** Proves every slot that is set, one after the other; one failure does not stop the others. */
export const proveAll = async (
  ctx: GatewayContext, session: Session, options: { readonly ifStale: boolean },
): Promise<readonly CanaryEntry[]> => {
  const entries: CanaryEntry[] = []
  for (const slot of canarySlots(ctx.gov.store.read())) {
    try {
      entries.push({ ok: true, ...await proveSlot(ctx, session, { slot, ...options }) })
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      entries.push({ ok: false, slot, error })
    }
  }
  return entries
}
