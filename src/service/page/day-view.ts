/**
 * One day as its person spent it: how long with what, as the model wrote it, and the episodes in
 * their order, each with its stored sentence and its pictures. No sentence is made up here (S-026).
 */
import { look } from './acting.js'
import { isGood, wordsOf } from './asking.js'
import type { ToldDay } from '../../shots/told-day/told-day-contract.js'
import type { Control, Part } from './browser.js'
import { dayOf, type Episode, type ShownDay, type Sum } from './day-shown.js'
import { at, browser, fill, make, makeButton, onSubmit, say } from './parts.js'
import { showPictures } from './picture-view.js'
import { countOf, span } from './words.js'

let shown: ShownDay | null = null
/** Hours that are looked at, both included; null: all. */
let hours: { readonly from: number, readonly to: number } | null = null
/** Raised by each day that is asked for: an answer for another one is not shown. */
let asked = 0

const hourText = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

const dateOf = (day: string): Date => new Date(`${day}T12:00:00`)

const longDay = (day: string): string => dateOf(day).toLocaleDateString([], {
  weekday: 'long', day: 'numeric', month: 'long',
})

/** A day so many days later. */
const dayFrom = (day: string, days: number): string => {
  const date = new Date(`${day}T12:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** Seven days: up to today where the day is one of them, around it otherwise. */
const weekOf = ({ day, today }: ShownDay): readonly string[] => {
  const last = day >= dayFrom(today, -6) ? today : dayFrom(day, 3)
  return Array.from({ length: 7 }, (_, n) => dayFrom(last, n - 6))
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()

const wanted = (): string => fold(at<Control>('day-search').value.trim())

const isInHours = ({ firstHour, lastHour }: Episode): boolean =>
  hours === null || (lastHour >= hours.from && firstHour <= hours.to)

const says = ({ text, pictures }: Episode, needle: string): boolean => needle === ''
  || fold(text).includes(needle) || pictures.some(({ caption }) => fold(caption).includes(needle))

const sumRow = ({ name, seconds }: Sum, most: number): Part => {
  const bar = make('span', { name: 'sum-bar' })
  bar.style.width = `${most === 0 ? 0 : Math.max(1, (seconds / most) * 100)}%`
  return make('li', {},
    make('span', { text: name, name: 'sum-name' }),
    make('span', { text: span(seconds), name: 'sum-time' }),
    make('span', { name: 'sum-track' }, bar))
}

const sumsMax = 6

const showSums = (id: string, sums: readonly Sum[]): void => {
  const most = Math.max(0, ...sums.map(({ seconds }) => seconds))
  fill(id, sums.length === 0
    ? [make('li', { text: 'Nothing was written of it.', name: 'none' })]
    : sums.slice(0, sumsMax).map((one) => sumRow(one, most)))
}

/** A first click looks at one hour, a second one at all up to another. */
const pickHour = (hour: number): void => {
  if (hours === null || hours.from !== hours.to) hours = { from: hour, to: hour }
  else if (hours.from === hour) hours = null
  else hours = { from: Math.min(hours.from, hour), to: Math.max(hours.to, hour) }
  showCourse()
}

const hourButton = (images: number, hour: number, most: number): Part => {
  const isChosen = hours !== null && hour >= hours.from && hour <= hours.to
  const bar = make('span', { name: 'hour-bar' })
  bar.style.height = `${most === 0 ? 0 : Math.round((images / most) * 100)}%`
  // It begins with what can be seen of it.
  const label = `${hour} to ${hour + 1} o'clock, ${countOf(images, 'picture')}`
  const button = makeButton('', { name: 'hour', label }, () => pickHour(hour))
  button.setAttribute('aria-pressed', String(isChosen))
  // Who goes through the page by keyboard passes over the night.
  button.disabled = images === 0
  button.append(make('span', { name: 'hour-track' }, bar),
    make('span', { text: String(hour), name: 'hour-name' }))
  return button
}

const episodeRow = (one: Episode): Part => {
  const { start, end, text, by, pictures, id } = one
  const title = `${start} to ${end}`
  const row = make('li', {},
    make('p', { text: title, name: 'when' }),
    make('div', { name: 'what' },
      make('p', { text: text === '' ? 'No digest was written of it yet.' : text,
        name: text === '' ? 'soft' : '' }),
      ...(by === '' ? [] : [make('p', { text: by, name: 'soft by' })])))
  row.id = id
  if (pictures.length > 0) {
    row.append(makeButton(countOf(pictures.length, 'picture'), {
      label: `${countOf(pictures.length, 'picture')} of ${title}`,
    }, () => showPictures(title, pictures)))
  }
  return row
}

const showCourse = (): void => {
  if (shown === null) return
  const { episodes } = shown
  const most = Math.max(0, ...shown.hours)
  fill('hours', shown.hours.map((images, hour) => hourButton(images, hour, most)))
  const needle = wanted()
  const found = episodes.filter((one) => isInHours(one) && says(one, needle))
  const period = hours === null ? ''
    : ` between ${hourText(hours.from)} and ${hourText(hours.to + 1)}`
  const isAll = hours === null && needle === ''
  say('course-told', isAll ? countOf(episodes.length, 'episode')
    : `${found.length} of ${countOf(episodes.length, 'episode')}${period}`)
  at('course-all').hidden = isAll
  fill('episodes', found.length === 0
    ? [make('li', { text: episodes.length === 0 ? shown.emptyText
      : 'No episode says that.', name: 'none' })]
    : found.map(episodeRow))
}

const showWeek = (day: ShownDay): void => fill('week', weekOf(day).map((one) => {
  const name = dateOf(one).toLocaleDateString([], { weekday: 'short' })
  const button = makeButton(`${name} ${Number(one.slice(8))}`, {
    name: 'weekday',
  }, () => void showDay(one))
  if (one === day.day) button.setAttribute('aria-current', 'date')
  // What is shown alike is not filled anew: two months can have the same weekdays.
  button.dataset['day'] = one
  return button
}))

const show = (day: ShownDay): void => {
  // What is looked for in a day stays while that day does.
  if (shown?.day !== day.day) {
    hours = null
    at<Control>('day-search').value = ''
  }
  shown = day
  say('day-title', longDay(day.day))
  say('day-told', '')
  say('day-figures', day.figures)
  at<Control>('day-on').disabled = day.day === day.today
  say('day-spent', `What was asked on ${longDay(day.day)} cost ${day.spent}.`)
  showWeek(day)
  for (const [id, sums] of Object.entries(day.sums)) showSums(`by-${id}`, sums)
  at('day-sums').hidden = Object.values(day.sums).every(({ length }) => length === 0)
  say('day-labels', day.written)
  at('day-parts').hidden = false
  showCourse()
}

/** Asks anew for the day that is shown: it was read when it was opened. */
export const showDayAnew = (): Promise<void> => showDay(shown?.day ?? null)

/** Asks for a day and shows it; null: the newest there is. */
export const showDay = async (day: string | null): Promise<void> => {
  asked += 1
  const mine = asked
  const answer = await look(`/api/page/day${day === null ? '' : `?day=${day}`}`)
  if (mine !== asked) return
  if (isGood(answer)) return show(dayOf(answer.body as ToldDay))
  at('day-parts').hidden = shown === null
  say('day-told', wordsOf(answer))
}

/** Nothing of a day stays. */
export const hideDay = (): void => {
  asked += 1
  shown = null
  hours = null
  for (const id of ['day-title', 'day-told', 'day-figures', 'day-labels', 'day-spent',
    'course-told']) say(id, '')
  for (const id of ['week', 'hours', 'episodes', 'by-activity', 'by-application', 'by-project']) {
    fill(id, [])
  }
  at<Control>('day-search').value = ''
  at('day-parts').hidden = true
}

/** Listens to buttons and fields; once. */
export const beginDay = (): void => {
  const step = (days: number): void => {
    if (shown !== null) void showDay(dayFrom(shown.day, days))
  }
  at('day-back').addEventListener('click', () => step(-1))
  at('day-on').addEventListener('click', () => step(1))
  at('day-search').addEventListener('input', showCourse)
  onSubmit('day-form', showCourse)
  at('course-all').addEventListener('click', () => {
    hours = null
    at<Control>('day-search').value = ''
    showCourse()
    browser.document.getElementById('day-search')?.focus()
  })
}
