/**
 * How long a reply asks to be left alone (RFC 9110, 10.2.3): whole seconds, or a date. A date is
 * measured from the reply's own `Date`, so that no difference of two clocks counts.
 */
import type { HttpsReply } from './types.js'

/** The one form of a date that senders may write (RFC 9110, 5.6.7). */
const dateForm =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

const dateMs = (text: string | undefined): number | null => {
  const ms = text !== undefined && dateForm.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(ms) ? null : ms
}

/** A wait, or the time until which, where the reply tells no date of its own. Milliseconds. */
export type RetryAfter = { readonly afterMs: number } | { readonly atMs: number }

/** What a reply asks for; null where it says nothing, or nothing of this form. Total. */
export const retryAfterOf = ({ headers }: Pick<HttpsReply, 'headers'>): RetryAfter | null => {
  const told = headers.get('retry-after')?.at(-1)?.trim()
  if (told === undefined) return null
  // However many digits: what is absurd is long, and whoever waits has a longest time of its own.
  if (/^\d+$/.test(told)) return { afterMs: Number(told) * 1000 }
  const atMs = dateMs(told)
  if (atMs === null) return null
  const fromMs = dateMs(headers.get('date')?.at(-1)?.trim())
  return fromMs === null ? { atMs } : { afterMs: atMs - fromMs }
}

/** Milliseconds from `nowMs` (wall time); not above zero where the time has come. */
export const waitOf = (asked: RetryAfter, nowMs: number): number =>
  ('afterMs' in asked ? asked.afterMs : asked.atMs - nowMs)
