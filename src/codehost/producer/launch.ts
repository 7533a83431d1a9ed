/**
 * Starts the supervisor of a publication and gives it what was approved. What came of it is what
 * its stage proves afterwards; nothing that it says on the way is believed.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { fail, type SallyportError } from '../../base/errors.js'
import type { Guard } from '../../state/holds/guard.js'
import { errnoOf, nodeFiles, readWhole } from '../../state/files.js'
import { loadEvidence } from './evidence.js'
import { frameHead } from './frame.js'
import { inventoryOf } from './inventory.js'
import { producerLimits, stageNames } from './producer-limits.js'
import { manifestBytes, type ProducerManifest } from './manifest.js'
import { programDigest } from './program-digest.js'
import { judgeProducer, type ProducerVerdict } from './proof.js'
import type { ProducerBinding, ProducerJob } from './shapes.js'
import { bindingBytes, removeFifo, stagePath, wasUsed } from './stage.js'

/** What of the bound things is not what it was. */
export type ChangedReason =
  | 'job' | 'inputs' | 'stage' | 'binding' | 'helper' | 'node' | 'git' | 'addon' | 'token'
  | 'started'

const worded: Readonly<Record<ChangedReason, string>> = {
  job: 'job, attempt, authority or fence',
  inputs: 'what is to be made',
  stage: 'the folder of the producer',
  binding: 'the record of what is bound',
  helper: "the producer's program",
  node: 'Node',
  git: 'git',
  addon: 'the FFI add-on',
  token: 'the key of the state',
  started: 'the producer, which was started already',
}

const changed = (reason: ChangedReason): SallyportError =>
  fail.blocked(
    'producer_changed', `Not what was approved: ${worded[reason]}. Nothing was started.`, {
      reason, next: 'Prepare and approve the publication again.',
    })

/** A producer that is to run. */
export interface ProducerRun {
  /** As it was stored at approval. */
  readonly binding: ProducerBinding
  /** As they are now: the run's own job, attempt, authority and fence. */
  readonly job: ProducerJob
  readonly manifest: ProducerManifest
  readonly token: string
  /** Held for this job; handed to the supervisor. */
  readonly guard: Guard
  /**
   * The contents of a file by the id of its blob, out of sealed pieces. One opening of their pack
   * should serve all: each reads its index, and the time of the producer is running.
   */
  readonly piecesOf: (id: string) => Iterable<Uint8Array>
  /** Stops the producer: its input ends. */
  readonly signal?: AbortSignal
  /** Told when the supervisor was started, with its process number. */
  readonly onStarted?: (pid: number) => void
  /** Waited for before it is given more than its token. */
  readonly begun?: () => Promise<void>
}

interface Started {
  readonly child: ChildProcess
  /** When it has ended and its pipes are at their end. */
  readonly closed: Promise<void>
}

const isSame = (path: string, sha256: string): boolean => {
  try {
    return programDigest(path) === sha256
  } catch {
    return false
  }
}

const stageProblem = (stateDir: string, binding: ProducerBinding): ChangedReason | null => {
  const dir = stagePath(stateDir, binding.job.job_id)
  try {
    const stat = lstatSync(dir, { bigint: true })
    if (!stat.isDirectory() || String(stat.ino) !== binding.stage.inode) return 'stage'
    if (wasUsed(dir)) return 'started'
    const helper = join(dir, stageNames.helper)
    if (!isSame(helper, binding.helper.sha256) || binding.helper.path !== helper) return 'helper'
    const bound = readWhole(nodeFiles, join(dir, stageNames.binding), producerLimits.recordBytesMax)
    if (bound?.equals(bindingBytes(binding)) !== true) return 'binding'
    return inventoryOf(dir) === binding.stage.inventory_sha256 ? null : 'stage'
  } catch (error) {
    if (error instanceof RangeError || errnoOf(error) !== '') return 'stage'
    throw error
  }
}

/** What is not as it was bound, looked at just before the start (C-079); null where all is. */
export const bindingProblem = (
  stateDir: string,
  { binding, job, manifest, token }: Pick<ProducerRun, 'binding' | 'job' | 'manifest' | 'token'>,
): ChangedReason | null => {
  if (canonicalJson(job) !== canonicalJson(binding.job)) return 'job'
  if (sha256Hex(manifestBytes(manifest)) !== binding.inputs.manifest_sha256) return 'inputs'
  if (sha256Hex(token) !== binding.token_sha256) return 'token'
  const stage = stageProblem(stateDir, binding)
  if (stage !== null) return stage
  for (const name of ['node', 'git', 'addon'] as const) {
    if (!isSame(binding[name].path, binding[name].sha256)) return name
  }
  return null
}

/** Gives bytes; resolves when they are on their way, false when nobody takes them any more. */
const give = (stdin: Writable, bytes: Uint8Array): Promise<boolean> =>
  new Promise((resolve) => {
    if (stdin.destroyed) resolve(false)
    else stdin.write(bytes, (error) => resolve(error === null || error === undefined))
  })

const feed = async (stdin: Writable, run: ProducerRun): Promise<void> => {
  const manifest = manifestBytes(run.manifest)
  const gone = async (bytes: Uint8Array): Promise<boolean> =>
    run.signal?.aborted === true || !await give(stdin, bytes)
  if (await gone(frameHead(manifest.length)) || await gone(manifest)) return
  for (const [id, bytes] of run.manifest.files) {
    if (await gone(frameHead(bytes))) return
    for (const piece of run.piecesOf(id)) if (await gone(piece)) return
  }
  stdin.end()
}

const start = (stateDir: string, { binding, guard, token }: ProducerRun): Started => {
  const child = spawn(binding.node.path, [...binding.arguments.node], {
    cwd: stagePath(stateDir, binding.job.job_id),
    env: { ...binding.environment.supervisor },
    // A session of its own: no signal of this terminal, and no hangup, reaches it.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore', guard.fd],
  })
  for (const stream of [child.stdin, child.stdout]) stream?.on('error', () => undefined)
  // In the same turn: with its token a supervisor proves its end, also where this process dies now.
  child.stdin?.write(Buffer.from(token, 'latin1'))
  child.stdout?.resume()
  return { child, closed: new Promise((resolve) => child.once('close', () => resolve())) }
}

const startFailed = (cause: unknown): SallyportError =>
  fail.failed('producer_not_started', 'The producer could not be started.', { cause })

const attend = async ({ child: { stdin }, closed }: Started, run: ProducerRun): Promise<void> => {
  if (stdin === null) throw startFailed(null)
  const stop = (): void => void stdin.destroy()
  run.signal?.addEventListener('abort', stop)
  try {
    await feed(stdin, run)
    if (run.signal?.aborted === true) stop()
  } catch (error) {
    // A sealed piece that cannot be opened: what was given so far ends here.
    stop()
    await closed
    throw error
  } finally {
    await closed
    run.signal?.removeEventListener('abort', stop)
  }
}

/**
 * Runs a producer to its end and judges what it left. The guard is the supervisor's from the start
 * on, also where this process dies. Throws before anything is started: `producer_changed` (blocked)
 * with a `ChangedReason`, `producer_not_started` (failed); and what opening a sealed piece throws.
 * A verdict without proof is a result: what was started may still live.
 */
export const runProducer = async (stateDir: string, run: ProducerRun): Promise<ProducerVerdict> => {
  const problem = bindingProblem(stateDir, run)
  if (problem !== null) throw changed(problem)
  const { job_id: jobId } = run.binding.job
  const started = start(stateDir, run)
  const { child } = started
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => reject(startFailed(error)))
  })
  run.guard.handOver()
  run.onStarted?.(child.pid ?? 0)
  await run.begun?.()
  await attend(started, run)
  removeFifo(stateDir, jobId)
  return judgeProducer(run.binding, run.token, loadEvidence(stateDir, jobId))
}
