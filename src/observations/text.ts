/**
 * A report as text for a terminal, a file or a mail: at most 60 lines, in the order of the page.
 * What has no room is counted, and lies on the page and in the JSON.
 */
import { disputedText, moneyStand } from './budget.js'
import { periodNamed, periodTitle, shortDay } from './periods.js'
import type { ScreenReport, Written } from './report.js'
import type { TimeSum } from './sums.js'
import { waitingOf } from './waits.js'
import {
  asAtText, countText, dimensionsText, dollarsText, reusedText, sizeText, spanText, statusText,
} from './words.js'
import { zoneOf, type Zone } from './zone.js'

/** How texts of others and headings are shown. */
interface TextStyle {
  /** Text that others wrote: file names and what a model wrote. */
  foreign(text: string): string
  strong(text: string): string
  /** A text of ours with commands between backticks, as it is told here; left out: as it is. */
  told?(text: string): string
}

type Lines = readonly string[]

const linesMax = 60
/** Lines of single parts; what remains goes to episodes, summaries, files and hours, in turn. */
const namesMax = 3
const daysMax = 7
const conclusionMax = 6
const waitsMax = 4
const statusMax = 8
const charsMax = 240
const nameColumns = 40

const moment = (zone: Zone, iso: string): string => {
  const { day, time } = zone.at(iso)
  return `${day} ${time}`
}

/** A text as one line that has an end. */
const oneLine = (text: string): string => {
  const chars = [...text.replaceAll('\n', ' ')]
  return chars.length <= charsMax ? chars.join('') : `${chars.slice(0, charsMax - 1).join('')}…`
}

/** Entries with one line each, of which the newest are told where there are too many. */
const newest = (lines: Lines, most: number, what: string): Lines =>
  (lines.length <= most ? lines
    : [`  ${lines.length - most + 1} earlier ${what}: --html, --json`, ...lines.slice(1 - most)])

/** The same for what is sorted by its weight. */
const heaviest = (lines: Lines, most: number, what: string): Lines =>
  (lines.length <= most ? lines
    : [...lines.slice(0, most - 1), `  and ${lines.length - most + 1} more ${what}`])

const bar = (count: number, most: number): string =>
  '#'.repeat(Math.ceil((count / Math.max(1, most)) * 40))

const headLines = ({ period, facts, course }: ScreenReport, zone: Zone): Lines => [
  ...(period.kind === null ? []
    : [`Screenshots of ${periodTitle(periodNamed(period.kind, zone.at(period.since).day))}`]),
  `Screenshots from ${moment(zone, period.since)} to ${moment(zone, period.until)}, ${zone.name}`,
  `${countText(facts.count, 'observation')} of ${countText(course.image_count, 'image')}`,
]

const sumLines = (title: string, sums: readonly TimeSum[], style: TextStyle): Lines =>
  (sums.length === 0 ? [] : [style.strong(title), ...heaviest(sums.map(({ name, seconds }) => {
    const shown = style.foreign(oneLine(name)).padEnd(nameColumns)
    return `  ${shown} ${spanText(seconds * 1_000)}`
  }), namesMax + 1, 'names')])

const timeLines = (
  { facts, model_text: { time, summary_count: described } }: ScreenReport, style: TextStyle,
): Lines => {
  if (facts.count === 0) return ['No screenshot of this period may be reported.']
  if (time.observation_count === 0) {
    return ['', style.strong('What was done'), '  Nothing is described, so no time is told.']
  }
  const part = time.observation_count === facts.count ? ''
    : `, told of ${time.observation_count} of ${facts.count} observations; `
      + `${described} are described`
  return [
    '', style.strong('What was done'), `  ${spanText(time.seconds * 1_000)} on the screen${part}`,
    ...sumLines('Time by project, written by the model', time.project, style),
    ...sumLines('Time by activity, written by the model', time.activity, style),
    ...sumLines('Time by application, written by the model; several may be visible at once',
      time.application, style),
    `  named by ${style.foreign(oneLine(time.models.join(', ')))}`,
  ]
}

const dayLines = ({ course, model_text: { time } }: ScreenReport, style: TextStyle): Lines => {
  const days = [...new Set([...course.days, ...time.days].map(({ day }) => day))].sort()
  if (days.length < 2) return []
  const most = Math.max(1, ...time.days.map(({ seconds }) => seconds))
  return ['', style.strong('Days, on one scale'), ...newest(days.map((day) => {
    const seconds = time.days.find((one) => one.day === day)?.seconds ?? 0
    const images = course.days.find((one) => one.day === day)?.image_count ?? 0
    return `  ${shortDay(day).padEnd(11)} ${spanText(seconds * 1_000).padStart(11)}`
      + ` ${countText(images, 'image').padStart(13)}  ${bar(seconds, most)}`.trimEnd()
  }), daysMax, 'days')]
}

const statusLines = ({ course }: ScreenReport): Lines =>
  Object.entries(course.statuses)
    .sort(([, a], [, b]) => b - a)
    .flatMap(([status, count]) => [
      `  ${statusText(status).padEnd(18)}${String(count).padStart(7)}`,
      ...(status === 'succeeded' && course.reused > 0
        ? [`  ${String(course.reused).padStart(7)}  ${reusedText}`] : []),
      ...course.reasons.filter((one) => one.status === status)
        .map((one) => `  ${String(one.count).padStart(7)}  ${one.reason}`
          + (one.text === null ? '' : `: ${one.text}`)),
    ])

const hourLines = ({ course }: ScreenReport): Lines => {
  const most = Math.max(...course.hours)
  return course.hours.flatMap((count, hour) => (count === 0 ? [] : [
    `  ${String(hour).padStart(2, '0')}:00  ${String(count).padStart(6)}  ${bar(count, most)}`,
  ]))
}

const spendLines = ({ course }: ScreenReport): Lines => {
  const { spend } = course
  if (spend === null) return []
  const of = (used: string, budget: string | null): string =>
    budget === null ? `${used}, no budget is set` : `${used} of ${budget}`
  const { state, rest } = moneyStand(spend)
  const held = spend.held_microusd === 0 ? '' : ' with what is held'
  const over = state === 'over' ? `, over by ${dollarsText(rest)}${held}` : ''
  return [
    '', 'Spend of the last 24 hours',
    `  money     ${of(
      dollarsText(spend.spent_microusd),
      spend.budget_microusd === null ? null : dollarsText(spend.budget_microusd),
    )}${over}`,
    ...(spend.held_microusd === 0 ? [] : [`  held      ${dollarsText(spend.held_microusd)}`]),
    ...(spend.disputed_charges === 0 ? [] : [`  disputed  ${disputedText(spend)}`]),
    `  requests  ${of(
      String(spend.requests),
      spend.budget_requests === null ? null : String(spend.budget_requests),
    )}`,
  ]
}

const factLines = ({ facts, course }: ScreenReport, zone: Zone, style: TextStyle): Lines =>
  facts.observations.flatMap((fact, at) => {
    const run = course.runs[at]
    if (run === undefined) return []
    const span = Date.parse(run.last_seen_at) - Date.parse(run.captured_at)
    const stood = span > 0 ? `, stood ${spanText(span)}` : ''
    const size = `${dimensionsText(fact.width, fact.height)}, ${sizeText(fact.bytes)}`
    const name = style.foreign(fact.filename.replaceAll('\n', '\\n'))
    return [`  ${moment(zone, run.captured_at)}  ${name}, ${fact.format}, ${size}, ${
      statusText(run.status)}${stood}`]
  })

const byline = (one: Written, zone: Zone, style: TextStyle): string => {
  const model = style.foreign(`${one.model} (${one.reply_model})`)
  const age = one.outdated ? ', from before a change' : ''
  const { as_at: at } = one
  const of = at === null ? '' : `, ${asAtText(at, moment(zone, at.captured_at))}`
  return `written by ${model} at ${moment(zone, one.written_at)}${age}${of}`
}

const conclusionLines = (
  { model_text: { conclusion: one } }: ScreenReport, zone: Zone, style: TextStyle,
): Lines => {
  if (one === null) return []
  const lines = one.text.split('\n').map((line) => `  ${style.foreign(line)}`)
  return ['', style.strong('Conclusion'), `  ${byline(one, zone, style)}`,
    ...heaviest(lines, conclusionMax, 'lines: --html, --json')]
}

const episodeLines = (
  { model_text: { digests } }: ScreenReport, zone: Zone, style: TextStyle,
): Lines => digests.map((one) =>
  `  ${moment(zone, one.window_start)} to ${zone.at(one.window_end).time}  ${
    style.foreign(oneLine(one.text))} (${byline(one, zone, style)})`)

const summaryLines = (
  { model_text: { summaries }, facts }: ScreenReport, zone: Zone, style: TextStyle,
): Lines => summaries.map((one) => {
  const name = (facts.observations[one.number - 1]?.filename ?? '').replaceAll('\n', '\\n')
  return `  ${style.foreign(name)}: ${style.foreign(oneLine(one.text))} (${
    byline(one, zone, style)})`
})

const waitLines = (report: ScreenReport, style: TextStyle): Lines => {
  const waiting = waitingOf(report)
  const told = waiting.map(({ head, code, next }) =>
    `  ${head}${code === null ? '' : ` ${code}`}${
      next === null ? '' : ` ${style.told?.(next) ?? next}`}`)
  return ['', style.strong('Waits for a person'), ...(told.length === 0
    ? ['  Nothing of this period does.'] : heaviest(told, waitsMax, 'things'))]
}

const ignoredLines = ({ ignored }: ScreenReport['provenance']): Lines => [
  ...(ignored.areas.length === 0 ? [] : [`  ignored areas: ${oneLine(ignored.areas.join(' '))}`]),
  ...(ignored.observations === 0 ? [] : [
    `  ${countText(ignored.observations, 'observation')} standing for images that differ there`,
  ]),
]

const provenanceLines = ({ provenance }: ScreenReport): Lines => {
  const { excluded } = provenance
  const left = [
    [excluded.source_missing, 'source missing'], [excluded.stale_root, 'of an older folder'],
    [excluded.archived, 'archived'], [excluded.digests, 'digests that rest on one of these'],
  ] as const
  const out = left.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`)
  return [
    `  ${countText(provenance.digest_count, 'digest')}, `
      + `${countText(provenance.observation_count, 'source observation')} `
      + `(${provenance.sources.join(', ') || 'no source'}); ids with --json`,
    ...(out.length === 0 ? [] : [`  left out: ${out.join(', ')}`]),
    ...ignoredLines(provenance),
  ]
}

/** A part that takes what room is left. */
interface Growing {
  readonly head: string
  readonly lines: Lines
  readonly what: string
}

/** The least that is worth a head of its own. */
const leastLines = 3

/** Parts with as many of their lines as there is room for, the first ones first. */
const grown = (room: number, parts: readonly Growing[], style: TextStyle): Lines[] => {
  let left = room
  return parts.map(({ head, lines, what }) => {
    const most = Math.min(lines.length, left - 2)
    if (lines.length === 0 || most < Math.min(leastLines, lines.length)) return []
    left -= most + 2
    const count = most < lines.length ? `, the newest ${most - 1} of ${lines.length}` : ''
    return ['', style.strong(`${head}${count}`), ...newest(lines, most, what)]
  })
}

/**
 * The report as text. What a model wrote stands apart, with its name and time, and first; then what
 * waits, and last what the program did and spent.
 */
export const reportText = (report: ScreenReport, style: TextStyle): string => {
  const zone = zoneOf(report.period.time_zone)
  const first = [
    ...headLines(report, zone), ...timeLines(report, style), ...dayLines(report, style),
    ...conclusionLines(report, zone, style),
  ]
  const waits = waitLines(report, style)
  const status = report.facts.count === 0 ? []
    : ['', style.strong('Status'), ...heaviest(statusLines(report), statusMax, 'lines')]
  const last = [
    ...spendLines(report), '', style.strong('Where it comes from'), ...provenanceLines(report),
  ]
  const room = linesMax - first.length - waits.length - status.length - last.length
  const [episodes = [], summaries = [], hours = [], files = []] = grown(room, [
    { head: 'Episodes', lines: episodeLines(report, zone, style), what: 'episodes' },
    { head: 'Summaries', lines: summaryLines(report, zone, style), what: 'summaries' },
    { head: 'Images by hour', lines: hourLines(report), what: 'hours' },
    { head: 'Files', lines: factLines(report, zone, style), what: 'files' },
  ], style)
  const lines = [
    ...first, ...episodes, ...summaries, ...waits, ...status, ...hours, ...files, ...last,
  ]
  return `${lines.join('\n')}\n`
}
