/**
 * What was sent of these very bytes before. A request is claimed by its content (SHA-256, model,
 * allow-list, prompt and schema), never by row or path: a folder that was renamed, a row that was
 * archived or a copy under another folder gives the bytes a new row, but not a new request
 * (S-168). Only `provider_failure_retry` follows one that failed or is uncertain.
 */
import { digestOf } from '../../base/canonical.js'
import { routeOf } from '../../contact/routes.js'
import {
  claimCollection, claimStatus, type CallClaim, type ClaimStatus,
} from '../../gateway/call/claims.js'
import { gatewayCollection, gatewayRouteId, type SlotSetup } from '../../gateway/setup.js'
import type { View } from '../../state/types.js'
import { analysisPromptVersion, analysisSchemaVersion } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { configuredModel } from '../observations/as-of-now.js'
import {
  contentIdOf, shotCollections as c, type Observation,
} from '../observations/observation-rows.js'
import { rowTakenOver, rowUncertain, type CallBefore } from './outcome.js'

/** What a request is claimed by: the bytes; of a capture, those of its device alone (S-044). */
type Content = Pick<Observation, 'sha256' | 'root_digest' | 'edge'>

/** Digest under which the call of this number for these bytes is claimed; numbers begin with 1. */
export const inputDigestOf = (content: Content, setup: SlotSetup, number: number): string =>
  digestOf({
    call: 'shots.analysis', sha256: contentIdOf(content), model: setup.model,
    upstream_allow: setup.upstream_allow,
    prompt_version: analysisPromptVersion, schema_version: analysisSchemaVersion, number,
  })

interface LastCall {
  readonly claim: CallClaim
  readonly standing: ClaimStatus
}

interface ContentCalls {
  /** Number of the next call. */
  readonly next: number
  /** The newest one that may have been sent; null where none was. */
  readonly last: LastCall | null
}

/** A call that provably sent nothing leaves everything as it was before it. */
const sentNothing = (standing: ClaimStatus): boolean =>
  standing === 'not_contacted' || standing === 'interrupted'

/** The calls for these bytes under a setup, whichever rows they were made for. */
export const contentCalls = (
  { gov }: Pick<ShotsContext, 'gov'>, view: View, content: Content, setup: SlotSetup,
): ContentCalls => {
  let last: LastCall | null = null
  for (let number = 1; ; number += 1) {
    const claim = view.get(claimCollection, inputDigestOf(content, setup, number))
    if (claim === undefined) return { next: number, last }
    const standing = claimStatus(gov.store, view, claim)
    if (!sentNothing(standing)) last = { claim, standing }
  }
}

/**
 * Whether a row's own last request failed or is uncertain: only the one reason that says so sends
 * it again (S-168). Another model makes it another request; an uncertain one stays.
 */
export const failedBefore = (view: View, row: Observation): boolean => {
  const { contact, operation_id: operation } = row.analyzer
  if (contact === 'uncertain') return true
  if (row.analysis_status !== 'failed') return false
  const route = operation === null ? undefined : routeOf(view, operation)
  return route === undefined || route.model === configuredModel(view)
}

/** What a new request for a row would follow. */
type EarlierCall =
  | { readonly kind: 'none' }
  /** These bytes are under way now, for this row or another. */
  | { readonly kind: 'running' }
  /** Failed or uncertain, and the row says so itself. */
  | { readonly kind: 'own' }
  /** Failed, uncertain or paid for already, for another row or one that is gone. */
  | { readonly kind: 'taken_over'; readonly before: CallBefore }

const othersOf = (view: View, row: Observation): Observation[] =>
  (view.get(c.contents, contentIdOf(row))?.observations ?? [])
    .filter((one) => one.observation_id !== row.observation_id)
    .map((one) => view.get(c.observations, one.observation_id))
    .filter((one) => one !== undefined)

const beforeOfClaim = (
  { claim, standing }: LastCall, others: readonly Observation[],
): CallBefore => {
  const paid = others.find(({ payload }) => payload?.operation_id === claim.operation_id)
  return {
    operationId: claim.operation_id,
    inputDigest: claim.input_digest,
    uncertain: standing === 'charge_unknown',
    outcome: standing === 'running' || standing === 'interrupted' ? 'charge_unknown' : standing,
    reason: claim.ended?.reason ?? null,
    payload: paid?.payload ?? null,
  }
}

/** Calls of an earlier version are known by their rows alone. */
const beforeOfRow = ({ analyzer }: Observation): CallBefore => ({
  operationId: analyzer.operation_id,
  inputDigest: analyzer.input_digest,
  uncertain: analyzer.contact === 'uncertain',
  outcome: analyzer.contact === 'uncertain' ? 'charge_unknown' : 'reply_rejected',
  reason: analyzer.reason,
  payload: null,
})

const newest = (a: Observation, b: Observation): number =>
  (a.analyzer.updated_at ?? '') < (b.analyzer.updated_at ?? '') ? 1 : -1

/** What stands before a request for the bytes of a row, on rows of now. */
export const earlierCall = (
  ctx: Pick<ShotsContext, 'gov'>, view: View, row: Observation,
): EarlierCall => {
  const setup = view.get(gatewayCollection, gatewayRouteId)?.slots.screenshot ?? null
  const last = setup === null ? null : contentCalls(ctx, view, row, setup).last
  const others = othersOf(view, row)
  if (last?.standing === 'running' || others.some((one) => one.analyzer.contact === 'claimed')) {
    return { kind: 'running' }
  }
  if (failedBefore(view, row)) return { kind: 'own' }
  if (last !== null) {
    const analysed = last.standing === 'succeeded' && row.payload !== null
    return analysed
      ? { kind: 'none' } : { kind: 'taken_over', before: beforeOfClaim(last, others) }
  }
  const failed = others.filter((one) => failedBefore(view, one)).sort(newest)[0]
  return failed === undefined
    ? { kind: 'none' } : { kind: 'taken_over', before: beforeOfRow(failed) }
}

/** The row as an earlier request for its bytes makes it; the same row where none stands before. */
export const afterEarlierCall = (
  ctx: Pick<ShotsContext, 'gov'>, view: View, row: Observation, now: string,
): Observation => {
  const earlier = earlierCall(ctx, view, row)
  if (earlier.kind === 'taken_over') return rowTakenOver(row, earlier.before, now)
  return earlier.kind === 'own' && row.analyzer.contact === 'uncertain'
    ? rowUncertain(row, now) : row
}
