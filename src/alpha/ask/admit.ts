/**
 * Steps 1 and 2: the question becomes a sealed input artifact, and a task that names it. Everything
 * that decides who may spend (owner, root, goal revision, consent) is taken from rows, never from
 * the caller.
 */
import { moneyText } from '../../base/money.js'
import { canonicalJson } from '../../base/canonical.js'
import { msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { Claiming } from '../../contact/order.js'
import { registerArtifact, requireArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import { admitTask, findIdempotent } from '../../governance/board/admit.js'
import { momentOf } from '../../governance/judge/moment.js'
import { ceilingNext } from '../../governance/ledger/due.js'
import { balances } from '../../governance/ledger/find-reservation.js'
import type { Gov, Session } from '../../governance/context.js'
import { currentConsent } from '../../governance/policy/consents.js'
import type { Consent, Task } from '../../governance/rows.js'
import { liveRoot } from '../../governance/session/live.js'
import type { ArtifactRef, Tx, View } from '../../state/types.js'
import { alphaArtifactLabels, alphaCapability, alphaPurpose } from '../constants.js'
import type { AlphaContext } from '../context.js'
import { requireConfigured } from '../readiness.js'
import { encodeInput, makeAlphaInput, requireWithinCap, type AlphaTextInput } from '../input.js'
import { inferenceRequestBytes } from '../request.js'
import type { AlphaTextSetup } from '../setup.js'
import { takeKeptInput } from './kept-input.js'

/** What the caller may choose. */
export interface AskRequest {
  readonly question: string
  /** Absent: the configured maximum. */
  readonly maxOutputTokens: number | null
  /** Absent: the owner's default goal. */
  readonly goalId: string | null
  readonly idempotencyKey: string
  /** The input that holds the question, where it was handed in before. */
  readonly inputArtifactId?: string
}

/** A question that was sealed to be admitted. */
export interface SealedQuestion {
  readonly input: AlphaTextInput
  readonly artifact: ArtifactRef
  readonly digest: string
}

interface Standing {
  readonly setup: AlphaTextSetup
  readonly consent: Consent
}

/**
 * What an ask rests on now. Whoever waits for another ask is not refused for what that one holds:
 * only a bound above the whole ceiling never fits.
 */
const requireStanding = (
  ctx: AlphaContext, view: View, session: Session, waits = false,
): Standing => {
  const moment = momentOf(ctx.gov, view)
  const setup = requireConfigured(moment, ctx.provider, session)
  const consent = currentConsent(view, moment.policy, alphaPurpose, moment.nowMs)
  if (!consent) {
    throw fail.unauthorized('consent_not_current', 'No current consent covers this route.', {
      reason: 'consent_not_current', next: 'Run `sallyport alpha setup --enable`.',
    })
  }
  const { available_microusd: free, ceiling_microusd: ceiling } = balances(view)
  const available = waits ? ceiling : free
  if (setup.request_cost_bound_microusd > available) {
    throw fail.budget(
      'ceiling_exceeded',
      `One request may cost ${moneyText(setup.request_cost_bound_microusd)}; `
        + `${moneyText(available)} are left under the ceiling.`,
      {
        next: ceilingNext(view, session.principal.principal_id),
        details: {
          bound_microusd: setup.request_cost_bound_microusd, available_microusd: available,
        },
      },
    )
  }
  return { setup, consent }
}

const buildInput = (request: AskRequest, setup: AlphaTextSetup): AlphaTextInput =>
  requireWithinCap(
    makeAlphaInput(request.question, request.maxOutputTokens ?? setup.max_output_tokens),
    setup.max_output_tokens,
  )

const earlier = (iso: string, other: string | null): string =>
  other !== null && msFromIso(other) < msFromIso(iso) ? other : iso

/** Registers the question of a task, or gives it the one that was handed in for it. */
const placeInput = (
  tx: Tx, now: string, session: Session, { inputArtifactId: kept }: AskRequest,
  { artifact: ref }: SealedQuestion, taskId: string,
): string => {
  if (kept !== undefined) {
    takeKeptInput(tx, msFromIso(now), session, kept, taskId)
    return kept
  }
  return registerArtifact(tx, now, {
    label: alphaArtifactLabels.input, ref, owner: session.principal.principal_id, taskId,
    adopted: true,
  }).artifact_id
}

const admitRow = (
  ctx: AlphaContext, tx: Tx, now: string, session: Session, request: AskRequest,
  made: SealedQuestion, { operationId, deadline }: Claiming,
): Task => {
  const { gov } = ctx
  const root = liveRoot(tx, gov, session.root.root_id)
  const { setup, consent } = requireStanding(ctx, tx, session)
  requireWithinCap(made.input, setup.max_output_tokens)
  const owner = session.principal.principal_id
  const taskId = newId('task')
  const inputArtifactId = placeInput(tx, now, session, request, made, taskId)
  const stored = deadline.stored()
  const { task } = admitTask(tx, now, {
    kind: alphaCapability,
    session,
    goalId: request.goalId ?? undefined,
    inputArtifactId,
    idempotencyKey: request.idempotencyKey,
    requestDigest: made.digest,
    taskId,
    jobId: newId('job'),
    operationId,
    requestId: newId('req'),
    attemptId: newId('att'),
    purpose: {
      consent_id: consent.consent_id, purpose: alphaPurpose, revision: consent.bound_revision,
      root: root.root_id, expires_at: earlier(root.expires_at, consent.expires_at),
    },
    deadlineAt: stored.deadline_at,
    budgetMs: stored.budget_ms,
    provenance: { face: gov.face, principal: owner, root: root.root_id },
  })
  appendAudit(tx, now, {
    what: 'alpha.admitted', principal: owner, root: root.root_id, subject: task.task_id,
    facts: { operation_id: operationId, max_output_tokens: made.input.max_output_tokens },
  })
  return task
}

/**
 * What tells one content of a key from another; keyed, so that a copy of the state tells nothing
 * about a guessed question.
 */
const requestDigest = ({ gov }: Pick<AlphaContext, 'gov'>, request: AskRequest): string =>
  gov.store.keyedDigest('alpha.request.v1', Buffer.from(canonicalJson({
    question: request.question,
    max_output_tokens: request.maxOutputTokens,
    goal_id: request.goalId,
  })))

const replayOf = (view: View, session: Session, request: AskRequest, digest: string): Task | null =>
  findIdempotent(view, session, {
    kind: alphaCapability, key: request.idempotencyKey, requestDigest: digest,
  })

/** The task that this key and content have made before; throws as `findIdempotent`. */
export const askedBefore = (
  gov: Gov, view: View, session: Session, request: AskRequest,
): Task | null => replayOf(view, session, request, requestDigest({ gov }, request))

/** A question that may be asked. */
export type CheckedQuestion = Omit<SealedQuestion, 'artifact'>

/**
 * Looks whether a question may be asked, or finds the task of the same key and content; the same
 * key with other content is a conflict. Encoded once here, so that a request too large for the
 * wire is refused before anything is kept.
 */
export const checkQuestion = async (
  ctx: AlphaContext, session: Session, request: AskRequest, waits = false,
): Promise<CheckedQuestion | { readonly replayed: Task }> => {
  const view = ctx.gov.store.read()
  liveRoot(view, ctx.gov, session.root.root_id)
  const digest = requestDigest(ctx, request)
  const replayed = replayOf(view, session, request, digest)
  if (replayed !== null) return { replayed }
  // What forbids every contact refuses here: no question is sealed and no task is written.
  await ctx.client()
  const input = buildInput(request, requireStanding(ctx, view, session, waits).setup)
  inferenceRequestBytes(input, ctx.provider.model_id)
  return { input, digest }
}

export const sealQuestion = (
  { gov: { store } }: Pick<AlphaContext, 'gov'>, request: AskRequest, checked: CheckedQuestion,
): SealedQuestion => {
  const kept = request.inputArtifactId
  const artifact = kept === undefined
    ? store.artifacts.write(alphaArtifactLabels.input, encodeInput(checked.input))
    : requireArtifact(store.read(), kept).ref
  return { ...checked, artifact }
}

/** Admits a sealed question as a task, in the claiming record. */
export const admitQuestion = (
  ctx: AlphaContext, tx: Tx, now: string, session: Session, request: AskRequest,
  sealed: SealedQuestion, claiming: Claiming,
): { readonly task: Task; readonly replayed: boolean } => {
  const replayed = replayOf(tx, session, request, sealed.digest)
  return replayed === null
    ? { task: admitRow(ctx, tx, now, session, request, sealed, claiming), replayed: false }
    : { task: replayed, replayed: true }
}
