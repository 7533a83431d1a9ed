/**
 * Steps 1 and 2: the question becomes a sealed input artifact, and a task that names it. Everything
 * that decides who may spend (owner, root, goal revision, consent) is taken from rows, never from
 * the caller.
 */
import { canonicalJson } from '../../base/canonical.js'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import { discardStored, registerArtifact } from '../../governance/artifacts.js'
import { appendAudit } from '../../governance/audit.js'
import { admitTask, findIdempotent } from '../../governance/board/admit.js'
import { momentOf } from '../../governance/judge/moment.js'
import { balances } from '../../governance/ledger/read.js'
import { currentConsent } from '../../governance/policy/consents.js'
import type { Consent, Task } from '../../governance/rows.js'
import { liveRoot } from '../../governance/session/live.js'
import type { Session } from '../../governance/session/types.js'
import type { Deadline, StoredDeadline } from '../../net/remaining.js'
import type { ArtifactRef, Tx, View } from '../../state/types.js'
import { alphaArtifactLabels, alphaCapability, alphaPurpose } from '../constants.js'
import type { AlphaContext } from '../context.js'
import { requireConfigured } from '../readiness.js'
import { encodeInput, makeAlphaInput, requireWithinCap, type AlphaTextInput } from '../input.js'
import { inferenceRequestBytes } from '../request.js'
import type { AlphaTextSetup } from '../setup.js'

/** What the caller may choose. */
export interface AskRequest {
  readonly question: string
  /** Absent: the configured maximum. */
  readonly maxOutputTokens: number | null
  /** Absent: the owner's default goal. */
  readonly goalId: string | null
  readonly idempotencyKey: string
}

/** An admitted task, or the one that the same key found again. */
export type Admission =
  | { readonly replayed: false; readonly task: Task; readonly input: AlphaTextInput }
  | { readonly replayed: true; readonly task: Task }

interface Standing {
  readonly setup: AlphaTextSetup
  readonly consent: Consent
}

const requireStanding = (ctx: AlphaContext, view: View): Standing => {
  const moment = momentOf(ctx.gov, view)
  const setup = requireConfigured(moment, ctx.provider)
  const consent = currentConsent(view, moment.policy, alphaPurpose, moment.nowMs)
  if (!consent) {
    throw fail.unauthorized('consent_not_current', 'No current consent covers this route.', {
      next: 'Run: sallyport alpha setup --enable --acknowledge-plaintext-egress', reason:
        'consent_not_current',
    })
  }
  const { available_microusd: available } = balances(view)
  if (setup.request_cost_bound_microusd > available) {
    throw fail.budget(
      'ceiling_exceeded',
      `One request may cost ${setup.request_cost_bound_microusd} micro-USD; `
        + `${available} are left under the ceiling.`,
      {
        next: 'See: sallyport ledger show',
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

interface Made {
  readonly input: AlphaTextInput
  readonly artifact: ArtifactRef
  readonly digest: string
  readonly operationId: string
  readonly deadline: StoredDeadline
}

const admitRow = (
  ctx: AlphaContext, tx: Tx, session: Session, request: AskRequest,
  made: Made,
): Admission => {
  const { gov } = ctx
  const now = isoFromMs(gov.clock.wallMs())
  const root = liveRoot(tx, gov, session.root.root_id)
  const { setup, consent } = requireStanding(ctx, tx)
  requireWithinCap(made.input, setup.max_output_tokens)
  const owner = session.principal.principal_id
  const taskId = newId('task')
  const row = registerArtifact(tx, now, {
    label: alphaArtifactLabels.input, ref: made.artifact, owner, taskId, adopted: true,
  })
  const { task } = admitTask(tx, now, {
    kind: alphaCapability,
    session,
    goalId: request.goalId ?? undefined,
    inputArtifactId: row.artifact_id,
    idempotencyKey: request.idempotencyKey,
    requestDigest: made.digest,
    taskId,
    jobId: newId('job'),
    operationId: made.operationId,
    requestId: newId('req'),
    attemptId: newId('att'),
    purpose: {
      consent_id: consent.consent_id, purpose: alphaPurpose, revision: consent.bound_revision,
      root: root.root_id, expires_at: earlier(root.expires_at, consent.expires_at),
    },
    deadlineAt: made.deadline.deadline_at,
    budgetMs: made.deadline.budget_ms,
    provenance: { face: gov.face, principal: owner, root: root.root_id },
  })
  appendAudit(tx, now, {
    what: 'alpha.admitted', principal: owner, root: root.root_id, subject: task.task_id,
    facts: { operation_id: made.operationId, max_output_tokens: made.input.max_output_tokens },
  })
  return { task, input: made.input, replayed: false }
}

/** Keyed, so that a copy of the state tells nothing about a guessed question. */
const requestDigest = (ctx: AlphaContext, request: AskRequest): string =>
  ctx.gov.store.keyedDigest('alpha.request.v1', Buffer.from(canonicalJson({
    question: request.question,
    max_output_tokens: request.maxOutputTokens,
    goal_id: request.goalId,
  })))

const replayOf = (
  view: View, session: Session, request: AskRequest, digest: string,
): Admission | null => {
  const task = findIdempotent(view, session, {
    kind: alphaCapability, key: request.idempotencyKey, requestDigest: digest,
  })
  return task === null ? null : { task, replayed: true }
}

/**
 * Admits a question. The same key with the same content finds the first task again; with other
 * content it is a conflict. A refusal leaves nothing: the sealed artifact of a refused admission
 * is removed. `operationId` is chosen before, because its guard is already held.
 */
export const admitAsk = async (
  ctx: AlphaContext, session: Session, request: AskRequest,
  { operationId, deadline }: { readonly operationId: string; readonly deadline: Deadline },
): Promise<Admission> => {
  const { store } = ctx.gov
  const view = store.read()
  liveRoot(view, ctx.gov, session.root.root_id)
  const digest = requestDigest(ctx, request)
  const before = replayOf(view, session, request, digest)
  if (before) return before
  // What forbids every contact refuses here: no question is sealed and no task is written.
  await ctx.client()
  const input = buildInput(request, requireStanding(ctx, view).setup)
  // Encoded once here, so that a request too large for the wire is refused before anything is kept.
  inferenceRequestBytes(input, ctx.provider.model_id)
  const artifact = store.artifacts.write(alphaArtifactLabels.input, encodeInput(input))
  let kept = false
  try {
    return await store.transact('alpha ask', (tx) => {
      const admission = replayOf(tx, session, request, digest)
        ?? admitRow(ctx, tx, session, request, {
          input, artifact, digest, operationId, deadline: deadline.stored(),
        })
      // From here on a row may name it, also when the disk fails: then nobody knows.
      kept = !admission.replayed
      return admission
    })
  } finally {
    if (!kept) discardStored(store, artifact.stored_sha256)
  }
}
