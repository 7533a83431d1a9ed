/** What goes into the digest job and its lists, and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { resultLost, resultNotStored } from '../../gateway/call/not-stored.js'
import { partialOf, type BatchWork } from '../../base/outcome.js'
import { behindRow } from '../../base/page.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import { shotLimits } from '../constants.js'
import { cutKind } from '../cut-short.js'
import { dueFailure, maySent } from '../money.js'
import { pausedNext } from '../paused.js'
import { callsOfRenewal } from '../receipts/renewal.js'
import { textReasonNext } from '../texts/readiness.js'
import type { OpenedDigest } from './read-digest.js'
import { episodeShape, type Episode } from './digest-rows.js'
import { digestReceiptShape, type DigestReceipt } from './types.js'

/** What was paid for and refused comes again only for who says so; what was not sent, freely. */
const againNext = ({ windows }: DigestReceipt): string => {
  const failed = windows.find((one) => one.outcome === 'failed')
  if (failed === undefined) return 'Run it again.'
  const retry = failed.cost_microusd === null ? '' : ' --retry'
  return `To try it again: \`sallyport shots digest --window-end ${failed.window_end}${retry}\`.`
}

/** Every call of a tick: its windows, and a proof that it renewed. */
export const callsOfTick = ({ windows, proof_renewal: renewal }: DigestReceipt) =>
  [...callsOfRenewal(renewal), ...windows]

/** What a tick did, for whoever tells that it did not do all of it. */
export const digestWork = (receipt: DigestReceipt): BatchWork => ({
  done: receipt.written + receipt.updated,
  sent: callsOfTick(receipt).filter(maySent).length,
  counts: {
    written: receipt.written, updated: receipt.updated, failed: receipt.failed,
    blocked: receipt.blocked, held_microusd: receipt.held_microusd,
    cost_microusd: callsOfTick(receipt).reduce((sum, one) => sum + (one.cost_microusd ?? 0), 0),
  },
})

const cutShort = (receipt: DigestReceipt): SallyportError | null => {
  const reason = receipt.reason ?? 'unknown'
  const parts = { reason, next: textReasonNext(reason, receipt.disputed) }
  if (receipt.status === 'blocked' && receipt.paused_until !== null) {
    return fail.blocked(
      'digest_paused',
      `The gateway refused the last request; none is sent before ${receipt.paused_until}.`,
      { reason, next: pausedNext('report'), details: { paused_until: receipt.paused_until } },
    )
  }
  if (receipt.status === 'blocked') {
    return fail.blocked('digest_blocked', 'No further digest may be written now.', parts)
  }
  if (receipt.status !== 'degraded') return null
  if (reason === resultNotStored) return resultLost(digestWork(receipt).counts)
  const cut = cutKind(reason)
  if (cut === 'cancelled') {
    const stopped = receipt.windows.find((one) => one.reason === reason)?.operation_id ?? null
    return fail.cancelled('digest_cancelled', 'Stopped; what is left waits.', {
      reason, details: {
        ...digestWork(receipt).counts, ...(stopped === null ? {} : { operation_id: stopped }),
      },
    })
  }
  if (cut === 'locked') {
    return fail.locked('digest_degraded', 'The state or the lane was busy; what is left waits.', {
      ...parts, next: 'Run it again when the other process has ended.',
    })
  }
  return fail.remote('digest_degraded', 'A digest was asked for and could not be kept.', {
    ...parts, next: againNext(receipt),
  })
}

/**
 * The failure that a tick tells of; null for a good one. A charge that nobody knows comes before
 * whatever else became of it.
 */
export const digestFailure = (receipt: DigestReceipt): SallyportError | null =>
  dueFailure('digest', callsOfTick(receipt)) ?? partialOf(cutShort(receipt), digestWork(receipt))

/** One tick of the job, or one window of any age; `retry` only with a window. */
export const shotsDigest = contract({
  name: 'shots.digest',
  input: closedObject({
    /** ISO text, aligned to the windows. */
    window_end: v.optional(v.string()),
    retry: v.optional(v.boolean()),
  }),
  output: digestReceiptShape,
  failure: digestFailure,
})

const openedShape = v.strictObject({ ...episodeShape.entries, content: v.string() })
const digestsShape = v.union([v.array(episodeShape), openedShape])
/** The list, or one episode with its text. */
type DigestsDocument = v.InferOutput<typeof digestsShape>

const isList = (source: readonly Episode[] | OpenedDigest): source is readonly Episode[] =>
  Array.isArray(source)

/** Digests, newest window first; or one of them with its text. */
export const shotsDigests = contract({
  name: 'shots.digests',
  input: closedObject({
    episode: v.optional(v.string()),
    limit: v.optional(strictInteger(1, shotLimits.listItemsMax)),
    /** Only those behind this one. */
    after: behindRow('epi'),
  }),
  output: digestsShape,
  toDocument: (source: readonly Episode[] | OpenedDigest): DigestsDocument =>
    (isList(source) ? [...source] : { ...source.episode, content: source.content }),
})
