/** Owners who are logged in, and tasks at every place of the board. */
import { randomUUID } from 'node:crypto'
import { sha256Hex } from '../../src/base/canonical.js'
import { isoFromMs } from '../../src/base/clock.js'
import { newId } from '../../src/base/ids.js'
import { registerArtifact } from '../../src/governance/artifacts.js'
import { admitTask, type Admission, type Admitted } from '../../src/governance/board/admit.js'
import { leaseTask } from '../../src/governance/board/lease.js'
import { moveTask } from '../../src/governance/board/move.js'
import { getTask } from '../../src/governance/board/visible-tasks.js'
import { addPrincipal } from '../../src/governance/principals.js'
import type { Task } from '../../src/governance/rows.js'
import { authenticate } from '../../src/governance/session/authenticate.js'
import { login, type LoginRequest } from '../../src/governance/session/login.js'
import type { Session } from '../../src/governance/context.js'
import type { Tx } from '../../src/state/types.js'
import type { StateWorld } from '../world/world.js'
import { hour, minute } from './clock.js'

export interface SignedIn {
  readonly token: string
  readonly session: Session
}

/** Logs an owner in without a passphrase unless one is given. */
export const signIn = async (
  world: Pick<StateWorld, 'gov'>,
  owner = 'ada',
  more: Partial<LoginRequest> = {},
): Promise<SignedIn> => {
  const request = { owner, idleMs: 30 * minute, ttlMs: 8 * hour, ...more }
  const { token } = await login(world.gov, request)
  return { token, session: authenticate(world.gov, token) }
}

/** Adds an owner without a passphrase and logs it in. */
export const addAndSignIn = async (
  world: Pick<StateWorld, 'gov'>,
  by: Session,
  name: string,
): Promise<SignedIn> => {
  await addPrincipal(world.gov, by, { name })
  return signIn(world, name)
}

export const kind = 'inference.alpha-text.v1'

/** An admission with everything filled in, its input artifact registered in this transaction. */
export const admissionOf = (
  world: StateWorld,
  tx: Tx,
  now: string,
  session: Session,
  more: Partial<Admission> = {},
): Admission => {
  const owner = session.principal.principal_id
  const root = session.root.root_id
  const ref = world.gov.store.artifacts.write('test.input', Buffer.from('a question'))
  const entry = { label: 'test.input', ref, owner, taskId: null, adopted: true }
  const deadline = isoFromMs(world.clock.wallMs() + 2 * minute)
  return {
    kind,
    session,
    inputArtifactId: more.inputArtifactId ?? registerArtifact(tx, now, entry).artifact_id,
    idempotencyKey: randomUUID(),
    requestDigest: sha256Hex('request'),
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
  world: StateWorld,
  session: Session,
  more: Partial<Admission> = {},
): Promise<Admitted> =>
  world.transact((tx, now) => admitTask(tx, now, admissionOf(world, tx, now, session, more)))

/** Where a task is to be brought. */
export type Stage = 'accepted' | 'queued' | 'running' | 'succeeded' | 'blocked' | 'failed'

const order: readonly Stage[] = ['accepted', 'queued', 'running']

/** Admits a task and moves it along the table to a stage. */
export const taskAt = async (
  world: StateWorld,
  session: Session,
  stage: Stage,
  blocked = { kind: 'cost_liability', reason: 'alpha_cost_readback_required' },
): Promise<Task> => {
  const { task } = await admit(world, session)
  const id = task.task_id
  return world.transact((tx, now) => {
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
      const ref = world.gov.store.artifacts.write('test.answer', Buffer.from('an answer'))
      const entry = { label: 'test.answer', ref, owner, taskId: id, adopted: true }
      const { artifact_id } = registerArtifact(tx, now, entry)
      moveTask(tx, now, id, 'succeeded', { result_artifact_id: artifact_id })
    }
    return getTask(tx, id)
  })
}
