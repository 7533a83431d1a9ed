/** How a publication is proved when its capacity is closed. */
import { closureBlocked } from '../blockers.js'
import type { ClosureKind } from '../kind.js'
import { requireStageHere } from '../../jobs/publication/stage-machine.js'
import { publicationReadLimits, type PublicationReadLimits } from '../closure-limits.js'
import { holdProducerGuard, requireQuiescence } from './quiescence.js'
import { readPublicationEvidence } from './read-publication.js'
import { inventoryOf, publicationTarget } from './target.js'

/** Publications. */
export const publicationClosure: ClosureKind = {
  limits: publicationReadLimits,
  requireHere: ({ store }, view, job) => requireStageHere(store, view, job),
  guard: holdProducerGuard,
  proving: (gov, view, job, request, given) => {
    const limits: PublicationReadLimits = { ...publicationReadLimits, ...given }
    const inventory = inventoryOf(gov, view, job)
    const proof = requireQuiescence(gov, view, job, inventory)
    const target = publicationTarget(gov, view, job, inventory, request, limits)
    const { unread, earlier, publication } = target
    return {
      producer: { applicable: true, standing: proof.standing, marker_sha256: proof.markerSha256 },
      reads: unread.length,
      earlier: unread.length === 0 ? { receipts: [], earlier } : null,
      read: (get, { budget, signal }) => readPublicationEvidence(target, {
        gov, get, budget, signal, limits, readRevision: request.expected_connection_revision,
      }),
      requireStill: () => {
        const now = requireQuiescence(gov, gov.store.read(), job, inventory)
        if (now.markerSha256 === proof.markerSha256) return
        throw closureBlocked('producer_marker_differs', job.job_id)
      },
      end: () => publication.close(),
    }
  },
  // Everything anew; that the local work had ended was proved by the closure.
  observing: (gov, view, job, request, given) => {
    const limits: PublicationReadLimits = { ...publicationReadLimits, ...given }
    const found = publicationTarget(gov, view, job, inventoryOf(gov, view, job), request, limits)
    const target = { ...found, unread: found.posts, earlier: [] }
    return {
      reads: target.posts.length,
      read: (get, { budget, signal }) => readPublicationEvidence(target, {
        gov, get, budget, signal, limits, readRevision: request.expected_connection_revision,
      }),
      end: () => found.publication.close(),
    }
  },
}
