/**
 * The local work of a publication, done once and before anything is sent: the intent is durable
 * before the supervisor is started, and only what its stage proves afterwards counts.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../base/errors.js'
import { cancelled } from '../../../contact/operation.js'
import type { Running } from '../../../contact/order.js'
import { nowIso } from '../../../governance/context.js'
import { sha256Hex } from '../../../base/canonical.js'
import { requireUnclosed } from '../closed/fence.js'
import type { CodehostContext } from '../../context.js'
import { loadEvidence } from '../../producer/evidence.js'
import { runProducer } from '../../producer/launch.js'
import { judgeProducer, type ProducerVerdict } from '../../producer/proof.js'
import type { ProducerBinding } from '../../producer/shapes.js'
import { producerLimits, stageNames } from '../../producer/producer-limits.js'
import { bindingBytes, stagePath } from '../../producer/stage.js'
import { producerToken } from '../../producer/token.js'
import { requireWrite } from '../boundary.js'
import { getJob } from '../change.js'
import { askedOf, type Claimed } from '../claim.js'
import { appendEntry, effectHistory } from '../histories.js'
import { ledgerOf } from '../ledger.js'
import { producerJobOf, producerRunOf } from './bind.js'
import type { OpenPublication } from './open.js'
import type { Job } from '../job-rows.js'

/** What became of the local work. */
export type Made =
  | { readonly kind: 'complete' }
  /** Nothing of it is left, and not everything was made. */
  | { readonly kind: 'prefix'; readonly reason: string }
  /** Nothing was started, and the process that saw it lives. */
  | { readonly kind: 'not_started'; readonly reason: string; readonly error: SallyportError }
  /** Something of it may still live; `running`: its supervisor does, and ends by itself. */
  | { readonly kind: 'unproved'; readonly reason: string }

/** A publication that is run, with what its producer is bound to. */
export interface Producing {
  readonly publication: OpenPublication
  readonly binding: ProducerBinding
}

const verdictOf = (
  { gov: { store } }: CodehostContext, binding: ProducerBinding,
): ProducerVerdict => judgeProducer(
  binding, producerToken(store, binding.producer_id), loadEvidence(store.dir, binding.job.job_id),
)

const madeOf = (verdict: ProducerVerdict): Made => {
  if (!verdict.quiescent) return { kind: 'unproved', reason: verdict.reason }
  return verdict.complete
    ? { kind: 'complete' } : { kind: 'prefix', reason: verdict.reason ?? 'prefix' }
}

/** Writes the proof into the ledger; once. */
const noteProof = async (
  { gov }: CodehostContext, jobId: string, binding: ProducerBinding, verdict: ProducerVerdict,
): Promise<void> => {
  if (!verdict.quiescent) return
  await gov.store.transact('codehost run', (tx) => {
    if (ledgerOf(tx, jobId).producer?.standing !== 'spawned') return
    appendEntry(tx, effectHistory, jobId, {
      type: 'produced', at: nowIso(gov), producer_id: binding.producer_id,
      marker_sha256: verdict.markerSha256, end: verdict.complete ? 'complete' : 'prefix',
      reason: verdict.reason,
    })
    tx.mark()
  })
}

/** The intent, under everything that a request of this run rests on. */
const noteSpawn = (
  ctx: CodehostContext, run: Running<Claimed>, binding: ProducerBinding,
): Promise<void> => ctx.gov.store.transact('codehost run', (tx) => {
  const { claimed: { jobId, attempt, fence }, operationId } = run
  const job = getJob(tx, jobId)
  requireUnclosed(tx, job, 'producer_spawn')
  requireWrite(askedOf(ctx, run), tx, job, 'contact')
  if (ledgerOf(tx, jobId).producer !== null) throw new TypeError('a producer runs once')
  appendEntry(tx, effectHistory, jobId, {
    type: 'spawn', at: nowIso(ctx.gov), attempt, operation_id: operationId, fence,
    producer_id: binding.producer_id, binding_sha256: sha256Hex(bindingBytes(binding)),
  })
  tx.mark()
})

/** Errors of a start that was refused, or did not come about: no process was made. */
const notStarted: readonly string[] = ['producer_changed', 'producer_not_started']

/** Between two looks for the start record of a producer that is to be stopped, milliseconds. */
const lookMs = 20

/**
 * The operator's stop, as far as it ends a producer: once its start record lies there. One that was
 * ended before would leave no proof, and the connection would stay occupied for good.
 */
const stopOf = (
  { gov: { clock, store }, signal }: CodehostContext, jobId: string,
): { readonly signal: AbortSignal, end(): void } => {
  const controller = new AbortController()
  const over = new AbortController()
  const startPath = join(stagePath(store.dir, jobId), stageNames.start)
  const onStop = async (): Promise<void> => {
    while (!over.signal.aborted && !existsSync(startPath)) await clock.sleep(lookMs)
    controller.abort()
  }
  const listen = (): void => void onStop()
  if (signal.aborted) listen()
  else signal.addEventListener('abort', listen, { once: true })
  return {
    signal: controller.signal,
    end: () => {
      signal.removeEventListener('abort', listen)
      over.abort()
    },
  }
}

const start = async (
  ctx: CodehostContext, run: Running<Claimed>, job: Job, { publication, binding }: Producing,
): Promise<Made> => {
  const { gov: { store, observer } } = ctx
  const { claimed } = run
  if (run.stopped()) throw cancelled({ noun: 'run' })
  const parts = producerRunOf(ctx.gov, store.read(), job, publication, producerJobOf(job, claimed))
  const guard = await store.holds.hold('producer', binding.producer_id)
  const stop = stopOf(ctx, job.job_id)
  try {
    await noteSpawn(ctx, run, binding)
    await observer.at('codehost.spawn_intended')
    await runProducer(store.dir, {
      ...parts, guard, signal: stop.signal, begun: async () => observer.at('codehost.spawned'),
    })
  } catch (error) {
    if (error instanceof SallyportError && notStarted.includes(error.code)) {
      return { kind: 'not_started', reason: error.reason ?? error.code, error }
    }
    // A sealed piece that cannot be opened ends it: what was started is told by its stage alone.
    const begun = ledgerOf(store.read(), job.job_id).producer !== null
    if (!begun || !(error instanceof SallyportError)) throw error
  } finally {
    stop.end()
    guard.release()
  }
  const verdict = verdictOf(ctx, binding)
  await observer.at('codehost.produced')
  await noteProof(ctx, job.job_id, binding, verdict)
  return madeOf(verdict)
}

/** Between two looks at the guard of a supervisor that outlived its process, milliseconds. */
const guardLookMs = 50

/**
 * Waits for the supervisor that a dead process left, which ends by itself: what it has not proved
 * yet is not unproved. Answers whether it holds its guard all the same.
 */
const outlivesWait = async (
  { gov: { clock, store } }: CodehostContext, run: Running<Claimed>, producerId: string,
): Promise<boolean> => {
  const { admitMs, wallMs } = producerLimits
  const untilMs = clock.monotonicMs() + admitMs + wallMs
  while (store.holds.isHeld('producer', producerId)) {
    if (run.stopped() || clock.monotonicMs() > untilMs) return true
    await clock.sleep(guardLookMs)
  }
  return false
}

/**
 * Does the local work, or finds what became of it: a producer runs once, and a later run goes on
 * only with what it proves. Throws what kept it from being begun; nothing was started then.
 */
export const produce = async (
  ctx: CodehostContext, run: Running<Claimed>, producing: Producing,
): Promise<Made> => {
  const view = ctx.gov.store.read()
  const job = getJob(view, run.claimed.jobId)
  const { producer } = ledgerOf(view, job.job_id)
  if (producer === null) return start(ctx, run, job, producing)
  if (producer.standing === 'complete') return { kind: 'complete' }
  if (await outlivesWait(ctx, run, producer.producerId)) {
    return { kind: 'unproved', reason: 'running' }
  }
  const verdict = verdictOf(ctx, producing.binding)
  await noteProof(ctx, job.job_id, producing.binding, verdict)
  return madeOf(verdict)
}
