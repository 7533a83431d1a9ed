/** What a window asks for, decided from rows alone and before any model is asked (S-105). */
import { digestOf } from '../../base/canonical.js'
import { claimCollection, claimStatus, type ClaimStatus } from '../../gateway/call/claims.js'
import type { View } from '../../state/types.js'
import { digestSchemaVersion } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { versionsOf, type Analysed } from '../texts/sources.js'
import { digestCollections as c, type Episode, type MadeText } from './digest-rows.js'
import type { DigestWindow } from './windows.js'

/** Digest that decides whether a window changed, before any model is asked. */
export const sourceDigestOf = (window: DigestWindow, sources: readonly Analysed[]): string =>
  digestOf({ schema: digestSchemaVersion, digest_key: window.key, sources: versionsOf(sources) })

/** A window with what it holds. */
interface Seen {
  readonly window: DigestWindow
  readonly sources: readonly Analysed[]
  readonly sourceDigest: string
  readonly episode: Episode | null
}

/** What is to be done. */
export type WindowPlan = Seen & (
  | { readonly kind: 'empty' }
  | { readonly kind: 'unchanged' }
  /** This very text was bought before: it takes its place again, with no call. */
  | { readonly kind: 'reuse'; readonly made: MadeText }
  | { readonly kind: 'not_repeated'; readonly reason: string }
  | { readonly kind: 'write'; readonly number: number }
)

/** Only a call that provably sent nothing may be followed by itself, without a person. */
const sentNothing = (standing: ClaimStatus): boolean =>
  standing === 'not_contacted' || standing === 'interrupted'

/** How planning treats what was tried before. */
interface PlanOptions {
  /** An operator asks for one more call after one that was refused, failed or is uncertain. */
  readonly retry: boolean
}

const tried = (
  ctx: ShotsContext, view: View, seen: Seen, { retry }: PlanOptions,
): WindowPlan => {
  const attempt = view.get(c.attempts, seen.sourceDigest)
  if (attempt === undefined) return { ...seen, kind: 'write', number: 1 }
  if (attempt.made !== null) return { ...seen, kind: 'reuse', made: attempt.made }
  const claim = view.get(claimCollection, attempt.input_digest)
  const standing = claimStatus(ctx.gov.store, view, claim)
  const again = sentNothing(standing) || (retry && standing !== 'running')
  if (again) return { ...seen, kind: 'write', number: attempt.number + 1 }
  const reason = claim?.ended?.reason ?? standing
  return { ...seen, kind: 'not_repeated', reason }
}

/** Plans one window. */
export const planWindow = (
  ctx: ShotsContext, view: View, window: DigestWindow, sources: readonly Analysed[],
  options: PlanOptions = { retry: false },
): WindowPlan => {
  const episode = view.get(c.episodes, window.key) ?? null
  const seen: Seen = { window, sources, sourceDigest: sourceDigestOf(window, sources), episode }
  if (sources.length === 0) return { ...seen, kind: 'empty' }
  if (episode?.source_digest === seen.sourceDigest) return { ...seen, kind: 'unchanged' }
  return tried(ctx, view, seen, options)
}
