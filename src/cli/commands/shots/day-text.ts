/** A day as people read it in a terminal or a mail: at most 60 lines of 80 columns. */
import { countText } from '../../../base/counted.js'
import { moneyText } from '../../../base/money.js'
import { longDay, zoneOf } from '../../../observations/zone.js'
import type { DayDocument, DayEpisode, DaySum } from '../../../shots/told-day/contract.js'
import { charWidth } from '../../fit.js'
import type { View } from '../../output.js'
import { visibleLine } from '../../text.js'

const linesMax = 60
const columnsMax = 80
/** Names that a sum is told of; the others are counted. */
const namesMax = 6
const nameColumns = 48
const durationColumns = 12

const duration = (seconds: number): string => {
  const minutes = Math.round(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return hours === 0 ? `${minutes} min` : `${hours} h ${String(minutes % 60).padStart(2, '0')} min`
}

const cut = (text: string, columns: number): string => {
  const characters = [...text]
  return characters.length <= columns ? text : `${characters.slice(0, columns - 1).join('')}…`
}

const sumLines = (title: string, sums: readonly DaySum[], view: View): string[] => {
  if (sums.length === 0) return []
  const left = sums.length - namesMax
  return [
    view.paint('bold', title),
    ...sums.slice(0, namesMax).map(({ name, seconds }) => {
      const shown = cut(visibleLine(view.foreign(name)), nameColumns)
      const gap = ' '.repeat(Math.max(0, nameColumns - charWidth(shown)))
      return `  ${shown}${gap}${duration(seconds).padStart(durationColumns)}`
    }),
    ...(left > 0 ? [`  and ${countText(left, 'other')}`] : []),
  ]
}

const hoursText = ({ since, until, time_zone: name }: DayDocument): string => {
  const zone = zoneOf(name)
  const [from, to] = [zone.at(since).time, zone.at(until).time]
  return from === '00:00' && to === '00:00' ? '' : `, ${from} to ${to}`
}

const headLines = (told: DayDocument, view: View): string[] => {
  const { day, time_zone: zone, pictures, analysed, seconds } = told
  const missing = pictures - analysed
  return [
    view.paint('bold', `${longDay(day)}${hoursText(told)} (${zone})`),
    pictures === 0 ? 'No screenshot of it is in the reports.'
      : `${countText(pictures, 'screenshot')}, ${duration(seconds)} on the screen`,
    ...(missing <= 0 ? [] : [
      `${countText(missing, 'screenshot')} not described yet: the times below are a part.`,
    ]),
  ]
}

const episodeLine = (one: DayEpisode, zoneName: string, view: View): string => {
  const zone = zoneOf(zoneName)
  const when = `${zone.at(one.start).time}-${zone.at(one.end).time}`
  const words = one.text === null
    ? `(${countText(one.pictures.length, 'screenshot')}, no digest)`
    : visibleLine(view.foreign(one.text.replaceAll('\n', ' ')))
  return cut(`  ${when}  ${words}`, columnsMax)
}

const endLines = (told: DayDocument, view: View): string[] => [
  `What waits for you: ${view.command('status')}`,
  `cost  ${moneyText(told.spent_microusd)}`
    + (told.held_microusd === 0 ? '' : `, ${moneyText(told.held_microusd)} held`),
]

/** The text of a day. */
export const dayText = (told: DayDocument, view: View): string => {
  const { time, models, episodes, time_zone: zone } = told
  const sums = [
    ...sumLines('Time by project, as the model named it', time.project, view),
    ...sumLines('Time by activity', time.activity, view),
    ...sumLines('Time by application; several may be visible at once', time.application, view),
    ...(models.length === 0 ? [] : [`  (named by ${models.map(visibleLine).join(', ')})`]),
  ]
  const [head, end] = [headLines(told, view), endLines(told, view)]
  const room = linesMax - head.length - sums.length - end.length - 2
  const shown = episodes.length <= room ? episodes : episodes.slice(0, room - 1)
  const left = episodes.length - shown.length
  const listed = shown.map((one) => episodeLine(one, zone, view))
  return `${[
    ...head, ...sums, ...(episodes.length === 0 ? [] : [view.paint('bold', 'Episodes')]), ...listed,
    ...(left > 0 ? [`  and ${countText(left, 'other')}: give --from and --to`] : []), ...end,
  ].join('\n')}\n`
}
