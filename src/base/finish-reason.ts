/**
 * Why a model stopped, as its provider told it, in words of this program: what a provider writes
 * elsewhere than in an answer is never stored or shown.
 */

/** What there is to tell; `other` for any text that is none of these. */
export const finishReasons = ['stop', 'length', 'content_filter', 'other'] as const
export type FinishReason = (typeof finishReasons)[number]

/** The reason in a reply's own words; null where it tells none. */
export const finishReasonOf = (told: unknown): FinishReason | null => {
  if (told === undefined || told === null) return null
  return finishReasons.find((one) => one === told) ?? 'other'
}

/** What a person should know of an answer that ended so; null where there is nothing. */
export const finishNote = (reason: FinishReason | null | undefined): string | null => {
  if (reason === 'length') return 'cut off at the longest length (length)'
  return reason === 'content_filter' ? 'cut off by the provider (content_filter)' : null
}
