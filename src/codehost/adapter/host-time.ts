/**
 * When the host says that it made something, beside when this machine was in contact with it. Two
 * clocks that both tell whole seconds are compared by the host's own `Date`. Pure.
 */
import { codehostLimits } from '../constants.js'
import type { HttpsReply } from '../../net/types.js'

/** How far the host's clock is ahead of this machine's, in milliseconds; behind is negative. */
export interface HostAhead {
  readonly least_ms: number
  readonly most_ms: number
}

/** A contact: wall times of this machine in milliseconds. */
export interface Contact {
  readonly markedMs: number
  /** Null where nobody saw its end: it is as long as one may be. */
  readonly endedMs: number | null
  /** Null where the host did not tell its time. */
  readonly ahead: HostAhead | null
}

/** When the host can have made what a contact asked for, in milliseconds of its own clock. */
export interface HostWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** Both clocks tell whole seconds. */
const secondMs = 1_000
/** A host goes on for so long behind the end of a contact. */
const graceMs = 10_000

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** By a reply's `Date`, and when it was asked for and had come; null without a whole one. */
export const hostAhead = (
  { headers }: Pick<HttpsReply, 'headers'>, askedMs: number, cameMs: number,
): HostAhead | null => {
  const told = headers.get('date') ?? []
  const [date = ''] = told
  if (told.length !== 1 || !httpDate.test(date)) return null
  const toldMs = Date.parse(date)
  if (!Number.isFinite(toldMs)) return null
  return { least_ms: Math.floor(toldMs - cameMs), most_ms: Math.ceil(toldMs + secondMs - askedMs) }
}

/** The window of a contact; null where the host did not tell its time. */
export const hostWindow = ({ markedMs, endedMs, ahead }: Contact): HostWindow | null => {
  if (ahead === null) return null
  const lastMs = markedMs + codehostLimits.postMs
  // A clock that was moved meanwhile tells no end; a process that died had none.
  const isSeen = endedMs !== null && endedMs >= markedMs && endedMs <= lastMs
  return {
    fromMs: markedMs + ahead.least_ms - secondMs,
    toMs: (isSeen ? endedMs : lastMs) + ahead.most_ms + graceMs + secondMs,
  }
}

const hostTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** A time of the host's documents in milliseconds; null for what is none. */
export const hostTimeMs = (text: string | null | undefined): number | null => {
  if (text === null || text === undefined || !hostTime.test(text)) return null
  const ms = Date.parse(text)
  return Number.isFinite(ms) ? ms : null
}
