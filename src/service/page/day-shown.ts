/** What the page shows of a day, made of what the service tells of it: times and words alone. */
import { zoneOf, type Zone } from '../../observations/zone.js'
import type {
  DayEpisode, DayPicture, DaySum, ToldDay,
} from '../../shots/told-day/told-day-contract.js'
import type { Seen } from './picture-view.js'
import { countOf, dollars, span, wordly } from './words.js'

/** How long something was on the screen, as the model named it. */
export type Sum = DaySum

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
  /** The day it is now: no later one can be looked at. */
  readonly today: string
  readonly figures: string
  /** What its calls cost. */
  readonly spent: string
  readonly sums: ToldDay['time']
  /** Who wrote what is shown as written. */
  readonly written: string
  /** Pictures by hour of the day. */
  readonly hours: readonly number[]
  readonly episodes: readonly Episode[]
  /** What stands where there is no episode. */
  readonly emptyText: string
}

/** First and last hour of a day that a stretch reaches into; of the days beside it nothing. */
const hoursOn = (
  zone: Zone, day: string, { start, end }: Pick<DayEpisode, 'start' | 'end'>,
): Pick<Episode, 'firstHour' | 'lastHour'> => {
  const first = zone.at(start)
  // What ends at 15:00 does not reach into that hour.
  const last = zone.at(new Date(Date.parse(end) - 1).toISOString())
  const firstHour = first.day < day ? 0 : Math.floor(first.minute / 60)
  const lastHour = last.day > day ? 23 : Math.floor(last.minute / 60)
  return { firstHour, lastHour: Math.max(firstHour, lastHour) }
}

/** When, from where, and what was written of it. */
const captionOf = (
  { captured_at: at, filename, device_name: device, summary }: DayPicture,
  clockOf: (iso: string) => string,
): string => [
  clockOf(at), device === null ? filename : `device ${device}`,
  ...(summary === null ? [] : [summary]),
].join(' · ')

const episodeOf = (one: DayEpisode, day: string, zone: Zone): Episode => {
  const clockOf = (iso: string): string => zone.at(iso).time
  return {
    id: one.episode_id ?? `window-${one.start}`,
    start: clockOf(one.start), end: clockOf(one.end), ...hoursOn(zone, day, one),
    text: one.text ?? '',
    by: one.model === null || one.written_at === null
      ? '' : `Written by ${one.model}, ${clockOf(one.written_at)}`,
    pictures: one.pictures.map((seen) => ({
      observationId: seen.observation_id, caption: captionOf(seen, clockOf),
    })),
  }
}

const writtenText = ({ models, pictures, time: { activity } }: ToldDay): string => {
  if (pictures === 0) return ''
  if (activity.length === 0) return 'No model has described these pictures.'
  return `What it was is as ${models.join(', ')} wrote it; times are counted. Several applications `
    + 'can be on the screen at one time.'
}

const nothingText = ({ hours }: ToldDay): string => (hours.every((images) => images === 0)
  ? 'No picture was taken in of this day.'
  : 'No new picture was taken in of this day, only repeats of earlier ones.')

/** Makes it of a document. */
export const dayOf = (told: ToldDay): ShownDay => {
  // Its days begin where the service is, wherever the browser is.
  const zone = zoneOf(told.time_zone)
  const { pictures, analysed, seconds, spent_microusd: spent, held_microusd: held } = told
  return {
    day: told.day, today: told.today, hours: told.hours,
    figures: pictures === 0 ? nothingText(told)
      : [`${span(seconds)} seen, ${countOf(pictures, 'picture')}, ${analysed} described`,
        ...told.devices.map((one) => `${one.pictures} from the device ${one.device_name}`),
      ].join(', '),
    spent: `${dollars(spent)}${held === 0 ? '' : `, and ${dollars(held)} held`}`
      + (told.spend_known_since === null ? '' : ', as far as that is still counted'),
    sums: { ...told.time, activity: told.time.activity.map(({ name, seconds: some }) =>
      ({ name: wordly(name), seconds: some })) },
    written: writtenText(told),
    episodes: told.episodes.map((one) => episodeOf(one, told.day, zone)),
    emptyText: 'There is no episode of this day.',
  }
}
