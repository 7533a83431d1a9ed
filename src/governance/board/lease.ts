/**
 * The lease of a task: which process works on it, until when, under which fence. Each grant raises
 * the fence above every one before, also above those of leases that are gone, so a holder that lost
 * its lease and comes back is refused by its old number. Renewing keeps the fence.
 */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import type { Task } from '../rows.js'
import { putTask } from './place.js'
import { getTask } from './visible-tasks.js'

/** A lease as its holder knows it. */
type Lease = NonNullable<Task['lease']>

const holderCharsMax = 256

const requireLeasable = (task: Task): void => {
  if (task.state === 'queued' || task.state === 'running') return
  throw fail.conflict('task_state', 'Only a queued or running task can be leased.', {
    details: { task_id: task.task_id, from: task.state },
  })
}

/** When a lease ends that is wanted until `expiresAt`: no later than its task. */
const endOf = (task: Task, now: string, expiresAt: string): string => {
  const endMs = Math.min(msFromIso(expiresAt), msFromIso(task.deadline_at))
  if (endMs > msFromIso(now)) return isoFromMs(endMs)
  throw fail.conflict('lease_expired', 'The deadline of this task has passed.', {
    details: { task_id: task.task_id },
  })
}

/**
 * Grants the lease of a queued or running task. The same holder gets a new fence; another holder
 * only once the lease has expired. A lease never outlives the task's deadline. Throws
 * `conflict`: `task_state`, `lease_held`; `not_found`.
 */
export const leaseTask = (
  tx: Tx,
  now: string,
  taskId: string,
  holder: string,
  expiresAt: string,
): Lease => {
  if (holder.length < 1 || holder.length > holderCharsMax) {
    throw new TypeError('the holder of a lease is named in 1 to 256 characters')
  }
  const task = getTask(tx, taskId)
  requireLeasable(task)
  const held = task.lease
  const isHeld = held !== null && msFromIso(held.expires_at) > msFromIso(now)
  if (isHeld && held.holder !== holder) {
    throw fail.conflict('lease_held', 'Another process works on this task.', {
      details: { task_id: taskId },
    })
  }
  const fence = task.lease_fence + 1
  const lease: Lease = { holder, fence, expires_at: endOf(task, now, expiresAt) }
  putTask(tx, { ...task, lease, lease_fence: fence, updated_at: now })
  return lease
}

/**
 * Moves the end of a held lease; its fence stays. Throws what `requireLease` throws, so a holder
 * that was replaced, or came too late, cannot renew; `conflict`/`lease_expired` past the deadline.
 */
export const renewLease = (
  tx: Tx,
  now: string,
  taskId: string,
  { holder, fence }: Pick<Lease, 'holder' | 'fence'>,
  expiresAt: string,
): Lease => {
  const task = requireLease(tx, { task_id: taskId }, holder, fence, msFromIso(now))
  const lease: Lease = { holder, fence, expires_at: endOf(task, now, expiresAt) }
  putTask(tx, { ...task, lease, updated_at: now })
  return lease
}

/**
 * The task, if `holder` holds its lease under `fence` at `nowMs`. Reads the task anew. Throws
 * `conflict`/`lease_not_held` with reason `none`, `foreign`, `stale_fence` or `expired`.
 */
export const requireLease = (
  view: View,
  task: Pick<Task, 'task_id'>,
  holder: string,
  fence: number,
  nowMs: number,
): Task => {
  const fresh = getTask(view, task.task_id)
  const { lease } = fresh
  const reason =
    lease === null
      ? fence < fresh.lease_fence ? 'stale_fence' : 'none'
      : lease.holder !== holder
        ? 'foreign'
        : lease.fence !== fence
          ? 'stale_fence'
          : nowMs >= msFromIso(lease.expires_at)
            ? 'expired'
            : null
  if (reason === null) return fresh
  throw fail.conflict('lease_not_held', 'This process does not hold the lease of the task.', {
    reason,
    details: { task_id: fresh.task_id },
  })
}
