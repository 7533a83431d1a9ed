/**
 * What differs between kinds of jobs when their capacity is closed: how their effects are proved,
 * within which limits, and what proves that their local work has ended. Everything else is one and
 * the same (C-132).
 */
import type { Gov } from '../../governance/context.js'
import type { Guard } from '../../state/holds/guard.js'
import type { View } from '../../state/types.js'
import type { Job } from '../jobs/job-rows.js'
import type { ReadBudget } from './budget.js'
import type { Evidence } from './evidence.js'
import type { ClosureGet } from './get.js'
import type { ReadLimits } from './closure-limits.js'
import type { CloseRequest } from '../jobs/closed/request.js'

/** How the local work of a job stands: none for a fixed kind that has none (C-273). */
export interface ProducerStatus {
  readonly applicable: boolean
  readonly standing: string
  /** SHA-256 of the durable marker that proves it; left out where none is needed. */
  readonly marker_sha256?: string
}

/** What reads are made with besides the way out. */
interface ReadingParts {
  readonly budget: ReadBudget
  readonly signal: AbortSignal
}

/** What has to be proved, and how. */
export interface Proving {
  readonly producer: ProducerStatus
  /** How many effects are read at most. */
  readonly reads: number
  /** Sealed readbacks of before that serve; null where something has to be read. */
  readonly earlier: Evidence | null
  /** Reads what is missing. Throws `blocked` `closure_blocked`. */
  readonly read: (get: ClosureGet, parts: ReadingParts) => Promise<Evidence>
  /**
   * What no row tells and the record rests on, looked at once more just before it; throws `blocked`
   * `closure_blocked`. Left out where there is no such thing.
   */
  readonly requireStill?: () => void
  /** Lets go of what was opened. */
  readonly end?: () => void
}

/** What is looked at after a closure: all that it proved, read anew. */
export type Observing = Pick<Proving, 'reads' | 'read' | 'end'>

/** How a kind is proved. */
export interface ClosureKind {
  readonly limits: ReadLimits
  /** Throws `rejected` `of_other_machine` where its proof lies elsewhere; left out: it has none. */
  readonly requireHere?: (gov: Gov, view: View, job: Job) => void
  /**
   * Takes the guard of its local work, first of all and until behind the record; null where it has
   * none. Throws `blocked` `closure_blocked`.
   */
  readonly guard?: (gov: Gov, job: Job) => Promise<Guard | null>
  /** Out of rows and sealed content; throws `blocked` `closure_blocked`. Contacts nobody. */
  readonly proving: (
    gov: Gov, view: View, job: Job, request: CloseRequest, limits: ReadLimits,
  ) => Proving
  /**
   * What a look after the closure reads; `request` is the one that was applied, with the READ
   * revision of now.
   */
  readonly observing: (
    gov: Gov, view: View, job: Job, request: CloseRequest, limits: ReadLimits,
  ) => Observing
}
