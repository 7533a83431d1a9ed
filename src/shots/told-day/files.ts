/**
 * Episodes of a day for those who keep time sheets: comma-separated values (RFC 4180) and a
 * calendar (RFC 5545). What a model wrote is untrusted: no cell of it is a formula, no line of it a
 * property of its own (S-086). Pure.
 */
import type { DayEpisode, ToldDay } from './told-day-contract.js'

const crlf = '\r\n'
/** What a sheet takes for the beginning of a formula, also behind what it leaves out. */
const formula = /^[\t\r]|^[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u
/** Where a sheet that also splits there would begin a cell with a formula. */
const laterFormula = /([;\t\r\n])(?=[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20])/gu
/** Everything below a space but the line end, and what else breaks a line. */
const controls = /[\u0000-\u0009\u000b-\u001f\u007f\u0085\u2028\u2029]+/gu

const cell = (value: string | number | null): string => {
  const text = String(value ?? '')
  const told = (formula.test(text) ? `'${text}` : text).replaceAll(laterFormula, "$1'")
  return /[",;\t\r\n]/.test(told) ? `"${told.replaceAll('"', '""')}"` : told
}

const header = [
  'date', 'start', 'end', 'minutes', 'pictures', 'activity', 'application', 'project', 'sentence',
]

/** One line an episode, times in UTC. */
export const episodesCsv = ({ day, episodes }: ToldDay): string =>
  [header, ...episodes.map((one) => [
    day, one.start, one.end, Math.round(one.seconds / 60), one.pictures.length, one.activity,
    one.application, one.project, one.text,
  ])].map((row) => `${row.map(cell).join(',')}${crlf}`).join('')

const lineBytesMax = 75

/** A content line, folded so that no line has more bytes and no character is broken. */
const folded = (line: string): string => {
  let [out, bytes] = ['', 0]
  for (const character of line) {
    const more = Buffer.byteLength(character)
    if (bytes + more > lineBytesMax) {
      out += `${crlf} `
      bytes = 1
    }
    out += character
    bytes += more
  }
  return `${out}${crlf}`
}

const textValue = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(controls, ' ').replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')

const stamp = (iso: string): string => iso.replace(/[-:]|\.\d+/g, '')

const summaryOf = ({ project, application, activity }: DayEpisode): string =>
  [project, application, activity].filter((name) => name !== null).join(' - ') || 'screenshots'

const eventOf = (one: DayEpisode, storeId: string, now: string): string[] => [
  'BEGIN:VEVENT',
  // Of the window, which has one episode: its digest may be written between two exports.
  `UID:${stamp(one.start)}-${stamp(one.end)}@${storeId}`,
  `DTSTAMP:${stamp(one.written_at ?? now)}`,
  `DTSTART:${stamp(one.start)}`,
  `DTEND:${stamp(one.end)}`,
  `SUMMARY:${textValue(summaryOf(one))}`,
  ...(one.text === null ? [] : [`DESCRIPTION:${textValue(one.text)}`]),
  'END:VEVENT',
]

/** One event an episode; `storeId` makes its id one of its own, `now` is ISO text. */
export const episodesCalendar = (
  { episodes }: ToldDay, { storeId, now }: { readonly storeId: string; readonly now: string },
): string => [
  'BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Sallyport//shots day//EN',
  ...episodes.flatMap((one) => eventOf(one, storeId, now)),
  'END:VCALENDAR',
].map(folded).join('')
