/** A report as text for a terminal or a file. */
import { disputedText, moneyStand } from './budget.js'
import type { ScreenReport } from './report.js'
import {
  asAtText, countText, dimensionsText, dollarsText, reusedText, sizeText, spanText, statusText,
  type AsAtFacts,
} from './words.js'
import { longDay, zoneOf, type Zone } from './zone.js'

/** How texts of others and headings are shown. */
interface TextStyle {
  /** Text that others wrote: file names and what a model wrote. */
  foreign(text: string): string
  strong(text: string): string
}

type Lines = readonly string[]

const filesMax = 40

const moment = (zone: Zone, iso: string): string => {
  const { day, time } = zone.at(iso)
  return `${day} ${time}`
}

const indented = (text: string, by = '  '): string =>
  text.split('\n').map((line) => `${by}${line}`).join('\n')

const headLines = ({ period, facts, course }: ScreenReport, zone: Zone): Lines => [
  `Screenshots from ${moment(zone, period.since)} to ${moment(zone, period.until)}, ${zone.name}`,
  `${countText(facts.count, 'observation')} of ${countText(course.image_count, 'image')}`,
]

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

const bar = (count: number, most: number): string =>
  '#'.repeat(Math.ceil((count / Math.max(1, most)) * 40))

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

const factLines = ({ facts, course }: ScreenReport, zone: Zone, style: TextStyle): Lines => {
  const left = Math.max(0, facts.observations.length - filesMax)
  let day = ''
  return facts.observations.slice(left).flatMap((fact, at) => {
    const run = course.runs[left + at]
    if (run === undefined) return []
    const seen = zone.at(run.captured_at)
    const head = seen.day === day ? [] : [`  ${longDay(seen.day)}`]
    day = seen.day
    const span = Date.parse(run.last_seen_at) - Date.parse(run.captured_at)
    const stood = span > 0 ? `, stood ${spanText(span)}` : ''
    const size = `${dimensionsText(fact.width, fact.height)}, ${sizeText(fact.bytes)}`
    const name = style.foreign(fact.filename.replaceAll('\n', '\\n'))
    return [
      ...head,
      `  ${seen.time}  ${name}, ${fact.format}, ${size}, ${statusText(run.status)}${stood}`,
    ]
  })
}

interface Written {
  readonly text: string
  readonly model: string
  readonly reply_model: string
  readonly written_at: string
  readonly outdated: boolean
  readonly as_at: AsAtFacts | null
}

const byline = (one: Written, zone: Zone, style: TextStyle): string => {
  const model = style.foreign(`${one.model} (${one.reply_model})`)
  const age = one.outdated ? ', from before a change' : ''
  const { as_at: at } = one
  const of = at === null ? '' : `, ${asAtText(at, moment(zone, at.captured_at))}`
  return `written by ${model} at ${moment(zone, one.written_at)}${age}${of}`
}

const summariesHead = (shown: number, all: number): string =>
  (shown < all ? `Summaries, the newest ${shown} of ${all}` : 'Summaries')

const modelLines = (report: ScreenReport, zone: Zone, style: TextStyle): Lines => {
  const { conclusion, digests, summaries, summary_count: all } = report.model_text
  const told = summaries.slice(-filesMax)
  const part = (head: string, one: Written): Lines => [
    '', style.strong(head), `  ${byline(one, zone, style)}`,
    indented(style.foreign(one.text)),
  ]
  const names = report.facts.observations
  return [
    ...(conclusion === null ? [] : part('Conclusion', conclusion)),
    ...digests.flatMap((one) =>
      part(`Digest of ${moment(zone, one.window_start)} to ${moment(zone, one.window_end)}`, one)),
    ...(all === 0 ? [] : ['', style.strong(summariesHead(told.length, all))]),
    ...told.flatMap((one) => [
      `  ${style.foreign((names[one.number - 1]?.filename ?? '').replaceAll('\n', '\\n'))}: `
        + style.foreign(one.text),
      `    ${byline(one, zone, style)}`,
    ]),
  ]
}

const ignoredLines = ({ ignored }: ScreenReport['provenance']): Lines => [
  ...(ignored.areas.length === 0 ? [] : [`  ignored areas: ${ignored.areas.join(' ')}`]),
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

/** The report as text. What a model wrote stands apart, with its name and time. */
export const reportText = (report: ScreenReport, style: TextStyle): string => {
  const zone = zoneOf(report.period.time_zone)
  const hidden = report.facts.count - Math.min(report.facts.listed, filesMax)
  const lines = [
    ...headLines(report, zone),
    ...(report.facts.count === 0 ? [] : [
      '', style.strong('Status'), ...statusLines(report),
      '', style.strong('Images by hour'), ...hourLines(report),
      '', style.strong('Files'), ...factLines(report, zone, style),
      ...(hidden > 0 ? [`  and ${hidden} earlier ones`] : []),
    ]),
    ...modelLines(report, zone, style),
    ...spendLines(report),
    '', style.strong('Where it comes from'), ...provenanceLines(report),
  ]
  return `${lines.join('\n')}\n`
}
