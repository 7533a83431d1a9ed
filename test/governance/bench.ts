/** A real store in a temporary directory with owners in it, for the tests of governance. */
import { createHash, randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { isoFromMs, type Clock } from '../../src/base/clock.js'
import { newId } from '../../src/base/ids.js'
import { silentObserver } from '../../src/base/observer.js'
import { registerArtifact } from '../../src/governance/artifacts.js'
import { admitTask, type Admission, type Admitted } from '../../src/governance/board/admit.js'
import { leaseTask } from '../../src/governance/board/lease.js'
import { moveTask } from '../../src/governance/board/move.js'
import { getTask } from '../../src/governance/board/read.js'
import { nowIso, type Gov } from '../../src/governance/context.js'
import { initialize } from '../../src/governance/init.js'
import { addPrincipal } from '../../src/governance/principals.js'
import type { Task } from '../../src/governance/rows.js'
import { authenticate } from '../../src/governance/session/authenticate.js'
import { login, type LoginRequest } from '../../src/governance/session/login.js'
import type { Session } from '../../src/governance/session/types.js'
import type { Store, Tx, View } from '../../src/state/types.js'
import { temporaryStore } from './temporary-store.js'

/** A clock that moves only when told to. */
export interface TestClock extends Clock {
  advance(ms: number): void
  /** Moves the wall clock alone, also back. */
  stepWall(ms: number): void
}

const startMs = Date.UTC(2026, 10, 20, 12)

export const testClock = (): TestClock => {
  let wall = startMs
  let monotonic = 0
  return {
    wallMs: () => wall,
    monotonicMs: () => monotonic,
    sleep: async () => undefined,
    advance: (ms) => {
      wall += ms
      monotonic += ms
    },
    stepWall: (ms) => {
      wall += ms
    },
  }
}

export const minute = 60_000
export const hour = 60 * minute

/** One store with its owner `ada`, not logged in. */
export interface Bench {
  readonly gov: Gov
  readonly clock: TestClock
  view(): View
  /** Runs one transaction with the clock's time. */
  run<T>(fn: (tx: Tx, now: string) => T): Promise<T>
}

/** The same over a store that is already there. */
export const benchOn = (store: Store, clock: TestClock): Bench => {
  const gov: Gov = { store, clock, observer: silentObserver, face: 'cli' }
  return {
    gov,
    clock,
    view: () => store.read(),
    run: (fn) => store.transact('test', (tx) => fn(tx, nowIso(gov))),
  }
}

export const emptyBench = async (t: Test): Promise<Bench> =>
  benchOn(await temporaryStore(t), testClock())

export const makeBench = async (t: Test): Promise<Bench> => {
  const bench = await emptyBench(t)
  await initialize(bench.gov.store, { ownerName: 'ada', clock: bench.clock })
  return bench
}

export interface SignedIn {
  readonly token: string
  readonly session: Session
}

/** Logs an owner in without a passphrase unless one is given. */
export const signIn = async (
  bench: Bench,
  owner = 'ada',
  more: Partial<LoginRequest> = {},
): Promise<SignedIn> => {
  const request = { owner, idleMs: 30 * minute, ttlMs: 8 * hour, ...more }
  const { token } = await login(bench.gov, request)
  return { token, session: authenticate(bench.gov, token) }
}

/** Adds an owner without a passphrase and logs it in. */
export const addAndSignIn = async (
  bench: Bench,
  by: Session,
  name: string,
): Promise<SignedIn> => {
  await addPrincipal(bench.gov, by, { name })
  return signIn(bench, name)
}

export const kind = 'inference.alpha-text.v1'

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** An admission with everything filled in, its input artifact registered in this transaction. */
export const admissionOf = (
  bench: Bench,
  tx: Tx,
  now: string,
  session: Session,
  more: Partial<Admission> = {},
): Admission => {
  const owner = session.principal.principal_id
  const root = session.root.root_id
  const ref = bench.gov.store.artifacts.write('test.input', Buffer.from('a question'))
  const entry = { label: 'test.input', ref, owner, taskId: null, adopted: true }
  const deadline = isoFromMs(bench.clock.wallMs() + 2 * minute)
  return {
    kind,
    session,
    inputArtifactId: more.inputArtifactId ?? registerArtifact(tx, now, entry).artifact_id,
    idempotencyKey: randomUUID(),
    requestDigest: digest('request'),
    taskId: newId('task'),
    jobId: newId('job'),
    operationId: newId('op'),
    requestId: newId('req'),
    attemptId: newId('att'),
    purpose: {
      consent_id: 'con_1', purpose: 'alpha.text', revision: 3, root, expires_at: deadline,
    },
    deadlineAt: deadline,
    budgetMs: 2 * minute,
    provenance: { face: 'cli', principal: owner, root },
    ...more,
  }
}

export const admit = (
  bench: Bench,
  session: Session,
  more: Partial<Admission> = {},
): Promise<Admitted> =>
  bench.run((tx, now) => admitTask(tx, now, admissionOf(bench, tx, now, session, more)))

/** Where a task is to be brought. */
export type Stage = 'accepted' | 'queued' | 'running' | 'succeeded' | 'blocked' | 'failed'

const order: readonly Stage[] = ['accepted', 'queued', 'running']

/** Admits a task and moves it along the table to a stage. */
export const taskAt = async (
  bench: Bench,
  session: Session,
  stage: Stage,
  blocked = { kind: 'cost_liability', reason: 'alpha_cost_readback_required' },
): Promise<Task> => {
  const { task } = await admit(bench, session)
  const id = task.task_id
  return bench.run((tx, now) => {
    const steps = order.indexOf(stage) === -1 ? order.length : order.indexOf(stage) + 1
    if (steps > 1) moveTask(tx, now, id, 'queued')
    if (steps > 2) {
      leaseTask(tx, now, id, 'holder', task.deadline_at)
      moveTask(tx, now, id, 'running')
    }
    if (stage === 'blocked') moveTask(tx, now, id, 'blocked', { blocked })
    if (stage === 'failed') moveTask(tx, now, id, 'failed', { reason: 'rejected_reply' })
    if (stage === 'succeeded') {
      const owner = session.principal.principal_id
      const ref = bench.gov.store.artifacts.write('test.answer', Buffer.from('an answer'))
      const entry = { label: 'test.answer', ref, owner, taskId: id, adopted: true }
      const { artifact_id } = registerArtifact(tx, now, entry)
      moveTask(tx, now, id, 'succeeded', { result_artifact_id: artifact_id })
    }
    return getTask(tx, id)
  })
}
