/**
 * What language models wrote, apart from all that was counted. A model is named once: with one
 * model before its texts, with several by numbers that a list explains. Each text has its time.
 */
import type { ScreenReport, Written } from '../report.js'
import { asAtText, countText } from '../words.js'
import { longDay, type Zone } from '../zone.js'
import { firstWithin, leftOut, listBytes, newestWithin } from './bounded.js'
import { hasDays } from './days.js'
import { html, nothing, type Markup } from './markup.js'
import { allOfReport, moment, momentNear, num, withCommands } from './pieces.js'
import type { ShownReport } from './shown.js'

/** Who wrote the texts of a page: names to the numbers that stand for them. */
interface Authors {
  readonly numbers: ReadonlyMap<string, number>
  readonly all: readonly { readonly one: Written; readonly texts: number }[]
}

const keyOf = ({ model, reply_model: reply }: Written): string => `${model}\n${reply}`

const textsOf = ({ model_text: model }: ScreenReport): readonly Written[] =>
  [...(model.conclusion === null ? [] : [model.conclusion]), ...model.digests, ...model.summaries]

/** The models of a report, in the order of their texts. */
export const authorsOf = (report: ScreenReport): Authors => {
  const counts = new Map<string, { one: Written; texts: number }>()
  for (const one of textsOf(report)) {
    const known = counts.get(keyOf(one))
    if (known === undefined) counts.set(keyOf(one), { one, texts: 1 })
    else known.texts += 1
  }
  return {
    numbers: new Map([...counts.keys()].map((key, at) => [key, at + 1])), all: [...counts.values()],
  }
}

const nameOf = ({ model, reply_model: reply }: Written): Markup =>
  html`<bdi>${model}</bdi> <span class="soft">(replied as <bdi>${reply}</bdi>)</span>`

const foot = 'A text of a model may be wrong; everything without a time of writing was counted.'

/** Who wrote the texts below; nothing where there are none. */
export const authorsPart = ({ all }: Authors): Markup => {
  const [first] = all
  if (first === undefined) return nothing
  if (all.length === 1) {
    return html`<p class="authors" id="authors">Written by the language model ${nameOf(first.one)}:
${countText(first.texts, 'text')} below. ${foot}</p>`
  }
  const { parts, left } = firstWithin(all.length, listBytes.authors, (at) => {
    const { one, texts } = all[at] as Authors['all'][number]
    return html`<li><b class="who">${at + 1}</b><span>${nameOf(one)},
${countText(texts, 'text')}</span></li>`
  })
  return html`<div class="authors" id="authors"><p>Written by ${all.length} language models.
${foot}</p><ul>${parts}</ul>${left === 0 ? nothing : html`<p>and ${num(left)} more</p>`}</div>`
}

/** The number of the one that wrote all of these; null where several did or one wrote it all. */
const commonOf = (texts: readonly Written[], { numbers }: Authors): number | null => {
  const found = new Set(texts.map((one) => numbers.get(keyOf(one)) ?? 0))
  return numbers.size > 1 && found.size === 1 ? [...found][0] ?? null : null
}

interface Byline {
  readonly authors: Authors
  readonly common: number | null
  readonly zone: Zone
}

const byline = (one: Written, near: string, { authors, common, zone }: Byline): Markup => {
  const who = authors.numbers.size < 2 || common !== null ? nothing
    : html`<b class="who">${authors.numbers.get(keyOf(one)) ?? 0}</b> `
  const { as_at: of } = one
  const asAt = of === null ? '' : `, ${asAtText(of, momentNear(zone, of.captured_at, near))}`
  return html`<span class="by">${who}written ${num(momentNear(zone, one.written_at, near))}\
${one.outdated ? ', before a later change' : ''}\
${asAt}</span>`
}

const commonNote = (common: number | null): Markup => (common === null ? nothing
  : html`<p class="note">All by model <b class="who">${common}</b>.</p>`)

/** The conclusion; nothing without one. */
export const conclusionPart = (report: ShownReport, zone: Zone, authors: Authors): Markup => {
  const { conclusion } = report.model_text
  if (conclusion === null) return nothing
  const from = countText(conclusion.source_observation_count, 'screenshot')
  const age = conclusion.current ? nothing
    : html`<p class="note">It was made from ${from} of an earlier state of this period.</p>`
  const { parts } = newestWithin(1, listBytes.conclusion, () =>
    html`<blockquote class="said">${conclusion.text}</blockquote>`)
  const text = parts.length === 0
    ? html`<p>It is too long for a page: ${withCommands(allOfReport, report)}.</p>`
    : html`${parts}`
  const by = byline(conclusion, report.made_at, { authors, common: null, zone })
  return html`<section aria-labelledby="conclusion"><h2 id="conclusion">Conclusion</h2>
${text}<p>${by}</p>${age}</section>`
}

/** How many episodes each day of a report has, by the day on which their windows begin. */
export const episodesByDay = (
  { model_text: { digests } }: ScreenReport, zone: Zone,
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { window_start: start } of digests) {
    const { day } = zone.at(start)
    counts.set(day, (counts.get(day) ?? 0) + 1)
  }
  return counts
}

/** Episodes that a part shows, the newest, and the days that have one among them. */
interface Episodes {
  readonly part: Markup
  readonly byDay: ReadonlyMap<string, number>
}

/** Each window with its stored sentence; it says so where none has one. */
export const episodesPart = (report: ShownReport, zone: Zone, authors: Authors): Episodes => {
  const { facts, model_text: { digests, summary_count: described } } = report
  if (digests.length === 0) {
    const part = facts.count === 0 || described === 0 ? nothing
      : html`<section aria-labelledby="episodes" class="calm"><h2 id="episodes">Episodes</h2>
<p>No sentence is stored for a window of this period.
${withCommands('`sallyport shots digest` asks for them.', report)}</p></section>`
    return { part, byDay: new Map() }
  }
  const by = { authors, common: commonOf(digests, authors), zone }
  const shown = newestWithin(digests.length, listBytes.digests, (at) => {
    const one = digests[at] as (typeof digests)[number]
    const [from, to] = [zone.at(one.window_start).time, zone.at(one.window_end).time]
    return html`<article><h3>${num(`${from} to ${to}`)}
<small>${countText(one.observation_count, 'screenshot')}, ${byline(one, one.window_start, by)}\
</small></h3><p class="said">${one.text}</p></article>`
  })
  const here = digests.slice(shown.left)
  const several = hasDays(report, zone) || episodesByDay(report, zone).size > 1
  const entries = shown.parts.map((part, n) => {
    const dayAt = (at: number): string => zone.at(here[at]?.window_start ?? '').day
    const day = dayAt(n)
    return !several || (n > 0 && dayAt(n - 1) === day) ? part
      : html`<h3 class="of-day" id="episodes-${day}">${longDay(day)}</h3>${part}`
  })
  return {
    byDay: episodesByDay({ ...report, model_text: { ...report.model_text, digests: here } }, zone),
    part: html`<section aria-labelledby="episodes"><h2 id="episodes">Episodes</h2>
${leftOut(shown.parts.length, digests.length, 'episodes')}${commonNote(by.common)}
${entries}</section>`,
  }
}

const openMax = 20

/** Summaries are read for the newest analysed screenshots; those of the others are not there. */
const untold = (shown: number, analysed: number): Markup =>
  (shown >= analysed ? nothing : html`<p class="note">The newest ${num(shown)} of
${num(analysed)} screenshots with an analysis have their summary here. A shorter period
(<code>--since</code>, <code>--until</code>) shows the others.</p>`)

/** The summaries; nothing without one. */
export const summariesPart = (report: ScreenReport, zone: Zone, authors: Authors): Markup => {
  const { model_text: { summaries, summary_count: all }, course, facts } = report
  if (summaries.length === 0) return nothing
  const by = { authors, common: commonOf(summaries, authors), zone }
  const shown = newestWithin(summaries.length, listBytes.summaries, (at) => {
    const one = summaries[at] as (typeof summaries)[number]
    const seen = course.runs[one.number - 1]?.captured_at ?? one.written_at
    const name = facts.observations[one.number - 1]?.filename ?? ''
    return html`<article><h3>${num(moment(zone, seen))} <bdi class="file">${name}</bdi>
<small>${byline(one, seen, by)}</small></h3><p class="said">${one.text}</p></article>`
  })
  const { parts } = shown
  // Where episodes tell the day, what each screen showed is unfolded by whoever wants it.
  const open = report.model_text.digests.length === 0 ? parts.slice(-openMax) : []
  const folded = parts.slice(0, parts.length - open.length)
  const which = open.length === 0 ? '' : 'earlier '
  const more = folded.length === 0 ? nothing
    : html`<details class="long"><summary>${folded.length} ${which}\
${folded.length === 1 ? 'summary' : 'summaries'}</summary>${folded}</details>`
  return html`<section aria-labelledby="summaries"><h2 id="summaries">What each screen showed</h2>
${untold(parts.length, all)}${commonNote(by.common)}${more}${open}
</section>`
}
