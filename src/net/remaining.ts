/**
 * Deadlines that can only shrink.
 *
 * Inside one process time is monotonic, so that a wall clock set back lengthens nothing. Between
 * processes two facts are stored: the wall deadline of the start, which never changes, and the
 * budget that was left at the last step. Whoever goes on gets the smaller of the two.
 */
import { isoFromMs, msFromIso, type Clock } from '../base/clock.js'

/** The form that a row keeps. */
interface StoredDeadline {
  /** Wall deadline, ISO 8601 UTC; set once. */
  readonly deadline_at: string
  /** Whole milliseconds that were left when this was stored. */
  readonly budget_ms: number
}

/** A deadline of the running process. */
export interface Deadline {
  /** Whole milliseconds left, never below 0 and never more than at any earlier call. */
  remainingMs(): number
  /** True once nothing is left; stays true. */
  expired(): boolean
  /** What to store, so that another process goes on with what is left. */
  stored(): StoredDeadline
  /** A deadline of at most `budgetMs` inside this one: a stage never outlives the whole. */
  stage(budgetMs: number): Deadline
}

const whole = (ms: number): number => (ms > 0 ? Math.floor(ms) : 0)

const make = (clock: Clock, deadlineAt: string, budgetMs: number): Deadline => {
  const endMs = clock.monotonicMs() + whole(budgetMs)
  let least = whole(budgetMs)
  const remainingMs = (): number => (least = Math.min(least, whole(endMs - clock.monotonicMs())))
  return {
    remainingMs,
    expired: () => remainingMs() === 0,
    stored: () => ({ deadline_at: deadlineAt, budget_ms: remainingMs() }),
    stage: (stageMs) => {
      const left = Math.min(remainingMs(), whole(stageMs))
      const stageAt = Math.min(msFromIso(deadlineAt), clock.wallMs() + left)
      return make(clock, isoFromMs(stageAt), left)
    },
  }
}

/** Starts an operation that may take `budgetMs` from now. */
export const startDeadline = (clock: Clock, budgetMs: number): Deadline =>
  make(clock, isoFromMs(clock.wallMs() + whole(budgetMs)), budgetMs)

/**
 * Goes on with a stored deadline: the smaller of the stored budget and the time to the stored wall
 * deadline. A wall clock set back gives no more than the stored budget; a deadline that is not a
 * time gives nothing.
 */
export const resumeDeadline = (clock: Clock, stored: StoredDeadline): Deadline => {
  const wallLeft = msFromIso(stored.deadline_at) - clock.wallMs()
  return make(clock, stored.deadline_at, Math.min(stored.budget_ms, wallLeft))
}
