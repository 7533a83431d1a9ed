/**
 * What differs between the two kinds when their capacity is closed: how their effects are proved,
 * within which limits, and what proves that their local work has ended. Everything else is one and
 * the same (C-132).
 */
import type { Gov } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { followThroughKind, publicationKind, type NativeKind } from '../jobs/kinds.js'
import type { Job } from '../jobs/rows.js'
import { closureBlocked } from './blockers.js'
import { followTarget, readFollow, type Evidence } from './evidence.js'
import type { ClosureGet } from './get.js'
import { followReadLimits, type ReadLimits } from './limits.js'
import type { CloseRequest } from './request.js'

/** How the local work of a job stands: none for a fixed kind that has none (C-273). */
export interface ProducerStanding {
  readonly applicable: boolean
  readonly standing: string
}

/** What has to be proved, and how. */
export interface Proving {
  readonly producer: ProducerStanding
  /** Sealed readbacks of before that serve; null where something has to be read. */
  readonly earlier: Evidence | null
  /** Reads what is missing. Throws `blocked` `closure_blocked`. */
  readonly read: (get: ClosureGet) => Promise<Evidence>
}

/** How a kind is proved. */
export interface ClosureKind {
  readonly limits: ReadLimits
  /** Out of rows and sealed content; throws `blocked` `closure_blocked`. Contacts nobody. */
  readonly proving: (gov: Gov, view: View, job: Job, request: CloseRequest) => Proving
}

const followThrough: ClosureKind = {
  limits: followReadLimits,
  proving: (gov, view, job, request) => {
    const target = followTarget(gov, view, job, request)
    const { earlier } = target
    return {
      producer: { applicable: false, standing: 'not_applicable' },
      earlier: earlier === null ? null : { receipts: [], earlier: [earlier] },
      read: (get) => readFollow(gov, target, get, request.expected_connection_revision),
    }
  },
}

const publication: ClosureKind = {
  limits: followReadLimits,
  proving: (_gov, _view, { job_id: jobId }) => {
    throw closureBlocked('kind_not_closable_yet', jobId)
  },
}

/** Both kinds. */
export const closureKinds: Readonly<Record<NativeKind, ClosureKind>> = {
  [followThroughKind]: followThrough, [publicationKind]: publication,
}
