/** What the page shows of a day, made of what the service tells of it. */

import type { Seen } from './picture-view.js'

/** How long something was on the screen, as the model named it. */
export interface Sum {
  readonly name: string
  readonly seconds: number
}

/** A stretch of the day with its stored sentence. */
export interface Episode {
  readonly id: string
  /** Times of day as they are shown. */
  readonly start: string
  readonly end: string
  /** Hours of the day that it reaches into, both included. */
  readonly firstHour: number
  readonly lastHour: number
  /** What the model wrote of it; empty where nothing was. */
  readonly text: string
  /** Which model, and when. */
  readonly by: string
  readonly pictures: readonly Seen[]
}

/** A day. */
export interface ShownDay {
  /** `2026-11-27`. */
  readonly day: string
  /** The last day that can be looked at. */
  readonly lastDay: string
  readonly previous: string | null
  readonly next: string | null
  readonly figures: string
  readonly sums: {
    readonly activity: readonly Sum[]
    readonly application: readonly Sum[]
    readonly project: readonly Sum[]
  }
  readonly conclusion: string
  /** Who wrote what is shown as written. */
  readonly written: string
  /** Pictures by hour of the day. */
  readonly hours: readonly number[]
  readonly episodes: readonly Episode[]
  /** What stands where there is no episode. */
  readonly emptyText: string
}

/** Reads a day of `GET /api/shots/day`. */
export const dayOf = (body: unknown): ShownDay => body as ShownDay
