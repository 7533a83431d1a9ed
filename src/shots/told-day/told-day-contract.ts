/** What goes into a day as the page tells it, and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, count, iso, nullableText, text } from '../../base/schema.js'

const sumShape = v.strictObject({ name: text, seconds: count })
/** How long something was on the screen, as the model named it. */
export type DaySum = v.InferOutput<typeof sumShape>

const pictureShape = v.strictObject({
  observation_id: text,
  captured_at: iso,
  /** The last part of its name: no folder; of a capture the id of the upload. */
  filename: text,
  /** The sentence that the model wrote of it; null where there is none. */
  summary: nullableText,
  /** `screenshot_folder`, or `edge` for what a paired device captured. */
  source: text,
  /** Null for the images of folders. */
  device_name: nullableText,
})
/** One picture of an episode. */
export type DayPicture = v.InferOutput<typeof pictureShape>

const episodeShape = v.strictObject({
  /** Null where no digest was written of its window. */
  episode_id: nullableText,
  start: iso,
  end: iso,
  text: nullableText,
  model: nullableText,
  written_at: nullableText,
  /** How long its pictures count, and what most of that was, as the model named it. */
  seconds: count,
  activity: nullableText,
  application: nullableText,
  project: nullableText,
  pictures: v.array(pictureShape),
})
/** A window of the day. */
export type DayEpisode = v.InferOutput<typeof episodeShape>

const outputShape = v.strictObject({
  /** `2026-11-27`, in the time zone. */
  day: text,
  /** The day it is now. */
  today: text,
  time_zone: text,
  /** Pictures, like ones that were merged with them not counted. */
  pictures: count,
  analysed: count,
  /** Paired devices that captured some of them, most pictures first. */
  devices: v.array(v.strictObject({ device_id: text, device_name: text, pictures: count })),
  /** Of a folder and of a device each picture is ended by the next one of the same place. */
  seconds: count,
  /** Images by the hour of the wall clock, merged ones too. */
  hours: v.pipe(v.array(count), v.length(24)),
  time: v.strictObject({
    activity: v.array(sumShape), application: v.array(sumShape), project: v.array(sumShape),
  }),
  models: v.array(text),
  episodes: v.array(episodeShape),
  /** What was claimed in the hours, UTC, that begin in it; micro-USD. */
  spent_microusd: count,
  held_microusd: count,
  /** Sums of earlier hours are not kept any more; null where all of the day's are. */
  spend_known_since: v.nullable(iso),
})
/** A day. */
export type ToldDay = v.InferOutput<typeof outputShape>

/** What a terminal asks of a day. */
const dayInput = closedObject({
  /** `2026-11-27`, `today` or `yesterday`; today where it is left out. */
  day: v.optional(v.string()),
  /** Times of the day by its clocks, `14:00`: only what lies between them. */
  from: v.optional(v.string()),
  to: v.optional(v.string()),
  /** IANA name of the zone in which they are meant; that of `TZ`, or the machine's. */
  time_zone: v.optional(v.string()),
  /** New files that the episodes are written to. */
  csv: v.optional(v.string()),
  ical: v.optional(v.string()),
})

/** A day, or hours of it, and the files that were written of it. */
const dayShape = v.strictObject({
  ...outputShape.entries,
  /** ISO text; included, and excluded. */
  since: iso,
  until: iso,
  csv_file: nullableText,
  ical_file: nullableText,
})
/** Result of `shots day`. */
export type DayDocument = v.InferOutput<typeof dayShape>

/** One day, for a terminal and scripts. */
export const shotsDay = contract({ name: 'shots.day', input: dayInput, output: dayShape })

/** One day, for the page. */
export const pageDay = contract({
  name: 'page.day',
  input: closedObject({
    /** `2026-11-27`; today where it is left out. */
    day: v.optional(v.string()),
  }),
  output: outputShape,
})
