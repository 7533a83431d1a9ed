/**
 * The fixed facts of the text capability: names that go into records, and every limit with its
 * unit last. Provider host and model are not here: they come from the sealed deployment profile.
 */

/** Capability id, also the native task kind. */
export const alphaCapability = 'inference.alpha-text.v1'

/** Profile id that every reservation, route record and receipt names. */
export const alphaProfile = 'alpha.text'

/** Runtime discriminator of every ledger row of this capability. */
export const alphaRuntime = 'alpha_text_native'

/** The route's name among those that share one policy epoch and one ceiling. */
export const alphaRouteName = 'alpha'

/** Purpose of the operator's consent. */
export const alphaPurpose = 'alpha.text'

/** Vault name of the provider key; no other credential is ever read. */
export const alphaCredentialRef = 'vault:alpha_text_api_key'

/** Schema names of the capability's documents. */
export const alphaSchemas = {
  setup: 'svc.alpha.text.v1',
  input: 'svc.alpha.text.input.v1',
  receipt: 'svc.alpha.text.receipt.v1',
  billingEvidence: 'svc.alpha.text.billing_evidence.v1',
} as const

/** HKDF labels of the private artifacts; a byte sealed under one cannot be read as another. */
export const alphaArtifactLabels = {
  input: alphaSchemas.input,
  answer: 'svc.alpha.text.answer.v1',
} as const

/** The one source a charge of this capability may come from. */
export const alphaCostSource = 'provider_billing_costs'

/** The same for the ledger: no other evidence settles money of this capability. */
export const alphaChargeSources = { [alphaCostSource]: { usage: false } } as const

/** Kind and reason of a task whose charge is not known. */
export const costLiability = {
  kind: 'cost_liability',
  reason: 'alpha_cost_readback_required',
} as const

/** Kind and reason of a task whose genuine charge passed the bound and waits for review. */
export const costOverrun = {
  kind: 'cost_overrun',
  reason: 'alpha_overrun_review_required',
} as const

/** Kind and reason of a task whose answer is paid for and waits, because a save was under way. */
export const answerHeld = { kind: 'answer_held', reason: 'alpha_save_in_between' } as const

/** Reason of a task whose answer is paid for and lost, because the disk did not take it. */
export const answerNotStored = 'answer_not_stored'

/** Reasons of tasks that a person ended by rejecting what was held. */
export const rejectedByHand = {
  overrun: 'overrun_rejected', held: 'held_answer_rejected',
} as const

/** Every limit of the capability; the unit is the last word of the name. */
export const alphaLimits = {
  questionBytesMin: 1,
  questionBytesMax: 8_192,
  outputTokensMin: 1,
  outputTokensMax: 1_024,
  timeoutSecondsMin: 1,
  timeoutSecondsMax: 45,
  microusdMin: 1,
  microusdMax: 1_000_000_000,
  /** Longest wait for the turn, in seconds: what is left has to do for the ask itself. */
  waitTurnSecondsMax: 90,
  /** Whole operation, waiting for the lane included. */
  operationMsMax: 120_000,
  inferenceMsMax: 45_000,
  /** An inference that cannot get this much time is not started. */
  inferenceMsMin: 1_000,
  requestBytesMax: 65_536,
  completionBytesMax: 262_144,
  answerBytesMax: 65_536,
  billingRequestBytesMax: 1_024,
  billingBytesMax: 16_384,
  billingPostsMax: 2,
  /** From the end of the first billing attempt to the start of the second. */
  billingPauseMs: 1_000,
  billingStageMsMax: 15_000,
  /** A billing attempt that cannot get this much time is not started. */
  billingAttemptMsMin: 50,
  bodyIdBytesMax: 256,
  operationIdBytesMax: 256,
  costNanoUsdMin: 0,
  costNanoUsdMax: 1_000_000_000_000,
  /** Nesting of a provider reply or an input document. */
  replyDepthMax: 64,
  inputDepthMax: 4,
  /** An input document: the longest question, every byte escaped, and the frame around it. */
  inputBytesMax: 65_536,
  apiKeyBytesMax: 4_096,
} as const

/** Part of the sealed deployment profile that this capability may contact. */
export interface AlphaProvider {
  /** Name for people and receipts. */
  readonly name: string
  /** `https://HOST/v1`, without a final slash. */
  readonly base_url: string
  /** The one model; compared exactly with the reply. */
  readonly model_id: string
}
