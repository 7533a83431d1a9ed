/** A day as people read it in a terminal or a mail: at most 60 lines, of 80 columns or fewer. */
import { countText } from '../../../base/counted.js'
import { moneyText } from '../../../base/money.js'
import { longDay, zoneOf } from '../../../observations/zone.js'
import type { DayDocument, DayEpisode, DaySum } from '../../../shots/told-day/told-day-contract.js'
import { widthFor, type WidthOf } from '../../wrap.js'
import type { View } from '../../output.js'
import { visibleLine } from '../../text.js'

const linesMax = 60
const columnsMax = 80
/** Names that a sum is told of; the others are counted. */
const namesMax = 6
const nameColumnsMax = 48
/** With fewer a name says nothing; such a line is wrapped. */
const nameColumnsMin = 8
const durationColumns = 12
const indent = '  '

const columnsOf = ({ columns }: View): number => Math.min(columnsMax, columns)

const nameColumnsOf = (view: View): number => Math.max(nameColumnsMin, Math.min(
  nameColumnsMax, columnsOf(view) - indent.length - durationColumns))

const duration = (seconds: number): string => {
  const minutes = Math.round(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return hours === 0 ? `${minutes} min` : `${hours} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** What one column may hold at most, of marks that take none. */
const charactersPerColumn = 4

/** What fits into so many columns, as a terminal shows it; nothing of a character is left alone. */
const cut = (text: string, columns: number, widthOf: WidthOf): string => {
  const most = [...text].slice(0, columns * charactersPerColumn).join('')
  if (most === text && widthOf(text) <= columns) return text
  let [shown, left] = ['', columns - 1]
  for (const { segment } of new Intl.Segmenter().segment(most)) {
    left -= widthOf(segment)
    if (left < 0) break
    shown += segment
  }
  return `${shown}…`
}

const sumLines = (
  title: string, sums: readonly DaySum[], view: View, widthOf: WidthOf,
): string[] => {
  if (sums.length === 0) return []
  const left = sums.length - namesMax
  const nameColumns = nameColumnsOf(view)
  return [
    view.paint('bold', title),
    ...sums.slice(0, namesMax).map(({ name, seconds }) => {
      const shown = cut(visibleLine(view.foreign(name)), nameColumns, widthOf)
      const gap = ' '.repeat(Math.max(0, nameColumns - widthOf(shown)))
      return `${indent}${shown}${gap}${duration(seconds).padStart(durationColumns)}`
    }),
    ...(left > 0 ? [`  and ${countText(left, 'other')}`] : []),
  ]
}

const hoursText = ({ since, until, time_zone: name }: DayDocument): string => {
  const zone = zoneOf(name)
  const [from, to] = [zone.at(since).time, zone.at(until).time]
  return from === '00:00' && to === '00:00' ? '' : `, ${from} to ${to}`
}

const devicesMax = 4

const nothingText = ({ hours }: DayDocument): string => (hours.every((images) => images === 0)
  ? 'No screenshot of it is in the reports.'
  : 'No new screenshot of it is in the reports, only repeats of earlier ones.')

const headLines = (told: DayDocument, view: View, widthOf: WidthOf): string[] => {
  const { day, time_zone: zone, pictures, analysed, seconds } = told
  const missing = pictures - analysed
  return [
    view.paint('bold', `${longDay(day)}${hoursText(told)} (${zone})`),
    pictures === 0 ? nothingText(told)
      : `${countText(pictures, 'screenshot')}, ${duration(seconds)} on the screen`,
    ...told.devices.slice(0, devicesMax).map(({ device_name: name, pictures: some }) =>
      cut(`${countText(some, 'screenshot')} of them from the device `
        + visibleLine(view.foreign(name)), columnsOf(view), widthOf)),
    ...(missing <= 0 ? [] : [
      `${countText(missing, 'screenshot')} not described yet: the times below are a part.`,
    ]),
  ]
}

const episodeLine = (one: DayEpisode, zoneName: string, view: View, widthOf: WidthOf): string => {
  const zone = zoneOf(zoneName)
  const when = `${zone.at(one.start).time}-${zone.at(one.end).time}`
  const words = one.text === null
    ? `(${countText(one.pictures.length, 'screenshot')}, no digest)`
    : visibleLine(view.foreign(one.text.replaceAll('\n', ' ')))
  return cut(`  ${when}  ${words}`, columnsOf(view), widthOf)
}

/** Money is counted by whole hours of UTC. */
const costText = ({ since, until }: DayDocument): string =>
  ([since, until].every((at) => at.endsWith(':00:00.000Z'))
    ? 'cost' : 'cost of the hours (UTC) that begin in it')

const endLines = (told: DayDocument, view: View): string[] => [
  `What waits for you: ${view.command('status')}`,
  `${costText(told)}  ${moneyText(told.spent_microusd)}`
    + (told.held_microusd === 0 ? '' : `, ${moneyText(told.held_microusd)} held`)
    + (told.spend_known_since === null ? ''
      : `; what was claimed before ${told.spend_known_since} is not counted any more`),
]

/** All that others wrote of a day: what is wide in a terminal is in it. */
const foreignIn = ({ time, models, episodes, devices }: DayDocument): string => [
  ...Object.values(time).flat().map(({ name }) => name), ...models,
  ...devices.map(({ device_name: name }) => name),
  ...episodes.flatMap(({ text }) => (text === null ? [] : [text])),
].join('\n')

export const dayText = async (told: DayDocument, view: View): Promise<string> => {
  const { time, models, episodes, time_zone: zone } = told
  const widthOf = await widthFor(foreignIn(told))
  const namedBy = `  (named by ${models.map(visibleLine).join(', ')})`
  const linesOf = (title: string, sums: readonly DaySum[]): string[] =>
    sumLines(title, sums, view, widthOf)
  const sums = [
    ...linesOf('Time by project, as the model named it', time.project),
    ...linesOf('Time by activity', time.activity),
    ...linesOf('Time by application; several may be visible at once', time.application),
    ...(models.length === 0 ? [] : [cut(namedBy, columnsOf(view), widthOf)]),
  ]
  const [head, end] = [headLines(told, view, widthOf), endLines(told, view)]
  const room = linesMax - head.length - sums.length - end.length - 2
  const shown = episodes.length <= room ? episodes : episodes.slice(0, room - 1)
  const left = episodes.length - shown.length
  const listed = shown.map((one) => episodeLine(one, zone, view, widthOf))
  return `${[
    ...head, ...sums, ...(episodes.length === 0 ? [] : [view.paint('bold', 'Episodes')]), ...listed,
    ...(left > 0 ? [`  and ${countText(left, 'other')}: give --from and --to`] : []), ...end,
  ].join('\n')}\n`
}
