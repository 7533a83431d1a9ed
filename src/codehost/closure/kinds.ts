/** The two kinds: follow-throughs, whose one POST is read back here, and publications. */
import { followThroughKind, publicationKind, type NativeKind } from '../jobs/kinds.js'
import { followTarget, readFollow } from './evidence.js'
import type { ClosureKind } from './kind.js'
import { followReadLimits } from './closure-limits.js'
import { publicationClosure } from './publication/kind.js'

const followThrough: ClosureKind = {
  limits: followReadLimits,
  proving: (gov, view, job, request) => {
    const target = followTarget(gov, view, job, request)
    const { earlier } = target
    return {
      producer: { applicable: false, standing: 'not_applicable' }, reads: 1,
      earlier: earlier === null ? null : { receipts: [], earlier: [earlier] },
      read: (get) => readFollow(gov, target, get, request.expected_connection_revision),
    }
  },
  observing: (gov, view, job, request) => {
    const target = followTarget(gov, view, job, request)
    return {
      reads: 1,
      read: (get) => readFollow(gov, target, get, request.expected_connection_revision),
    }
  },
}

/** Both kinds. */
export const closureKinds: Readonly<Record<NativeKind, ClosureKind>> = {
  [followThroughKind]: followThrough, [publicationKind]: publicationClosure,
}
