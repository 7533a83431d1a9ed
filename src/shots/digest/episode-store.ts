/** The one writer of episodes, with the calendar and the counts that are read from them. */
import { rowsUnder } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import {
  digestCollections as c, digestHeadId, episodesById, type DigestHead, type Episode,
} from './digest-rows.js'

/** UTC day of a window's start. */
export const dayOf = (iso: string): string => iso.slice(0, iso.indexOf('T'))

const later = (a: string, b: string): string => (b > a ? b : a)
const earlier = (a: string, b: string): string => (b < a ? b : a)

const addToDay = (tx: Tx, row: Episode): void => {
  const day = dayOf(row.window_start)
  const starts = new Map([[row.digest_key, row.window_start]])
  for (const key of tx.get(c.days, day)?.keys ?? []) {
    starts.set(key, tx.get(c.episodes, key)?.window_start ?? '')
  }
  const keys = [...starts]
    .sort(([, a], [, b]) => (a < b ? -1 : Number(a > b)))
    .map(([key]) => key)
  tx.put(c.days, day, { keys })
}

/** Writes an episode, new or changed. Its key, window and id never change. */
export const putEpisode = (tx: Tx, row: Episode): void => {
  const before = tx.get(c.episodes, row.digest_key)
  if (before !== undefined && before.episode_id !== row.episode_id) {
    throw new TypeError('a window has one episode')
  }
  tx.put(c.episodes, row.digest_key, row)
  if (before === undefined) addToDay(tx, row)
  const day = dayOf(row.window_start)
  const head = tx.get(c.head, digestHeadId)
  tx.put(c.head, digestHeadId, {
    count: (head?.count ?? 0) + (before === undefined ? 1 : 0),
    first_day: earlier(head?.first_day ?? day, day),
    last_day: later(head?.last_day ?? day, day),
    latest_window_end: later(head?.latest_window_end ?? row.window_end, row.window_end),
    latest_at: later(head?.latest_at ?? row.updated_at, row.updated_at),
  })
}

/** Count and newest times of the episodes (S-120); null before the first. */
export const digestHead = (view: View): DigestHead | null =>
  view.get(c.head, digestHeadId) ?? null

const dayMs = 86_400_000

/** Beyond this the calendar itself is read: a capture time may say year 9999. */
const daysWalkedMost = 400

const startOf = (day: string): number => Date.parse(`${day}T00:00:00.000Z`)

/** Days from one to another, both included, in order; of a long span only those with episodes. */
const daysBetween = (view: View, first: string, last: string): string[] => {
  const count = (startOf(last) - startOf(first)) / dayMs + 1
  if (count > daysWalkedMost) {
    return view.all(c.days).map(({ id }) => id).filter((day) => day >= first && day <= last)
  }
  return Array.from({ length: Math.max(0, count) }, (_, i) =>
    dayOf(new Date(startOf(first) + i * dayMs).toISOString()))
}

const ofDay = (view: View, day: string): Episode[] =>
  (view.get(c.days, day)?.keys ?? [])
    .flatMap((key) => view.get(c.episodes, key) ?? [])

/** Episodes whose window begins in a span, oldest first; half-open. */
export const episodesBetween = (view: View, since: string, until: string): Episode[] => {
  const head = digestHead(view)
  if (head === null || since >= until) return []
  const first = later(head.first_day, dayOf(since))
  const last = earlier(head.last_day, dayOf(until))
  return daysBetween(view, first, last)
    .flatMap((day) => ofDay(view, day))
    .filter((one) => one.window_start >= since && one.window_start < until)
}

/** Every episode, newest window first, day after day, so that a reader may stop early. */
export function* episodesNewestFirst(view: View): Generator<Episode, void, undefined> {
  const head = digestHead(view)
  if (head === null) return
  for (const day of daysBetween(view, head.first_day, head.last_day).reverse()) {
    yield* ofDay(view, day).reverse()
  }
}

/** The episode of an id, or undefined. */
export const findEpisode = (view: View, episodeId: string): Episode | undefined =>
  rowsUnder(view, c.episodes, episodesById, { under: [episodeId], limit: 1 })[0]?.doc
