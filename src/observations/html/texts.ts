/**
 * What language models wrote, apart from all that was counted. A model is named once: with one
 * model before its texts, with several by numbers that a list explains. Each text has its time.
 */
import type { ScreenReport } from '../report.js'
import { asAtText, countText, type AsAtFacts } from '../words.js'
import type { Zone } from '../zone.js'
import { firstWithin, leftOut, listBytes, newestWithin, type Bounded } from './bounded.js'
import { html, nothing, type Markup } from './markup.js'
import { allOfReport, moment, momentNear, num, withCommands } from './pieces.js'
import type { ShownReport } from './shown.js'

interface Written {
  readonly text: string
  readonly model: string
  readonly reply_model: string
  readonly written_at: string
  readonly outdated: boolean
  readonly as_at: AsAtFacts | null
}

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

/** Digests that the page shows; the first of them is number `left` + 1. */
export const digestEntries = (report: ScreenReport, zone: Zone, authors: Authors): Bounded => {
  const { digests } = report.model_text
  const by = { authors, common: commonOf(digests, authors), zone }
  return newestWithin(digests.length, listBytes.digests, (at) => {
    const one = digests[at] as (typeof digests)[number]
    return html`<article id="digest-${at + 1}"><h3>${num(moment(zone, one.window_start))} to
${num(zone.at(one.window_end).time)}
<small>${countText(one.observation_count, 'screenshot')}, ${byline(one, one.window_start, by)}\
</small></h3><p class="said">${one.text}</p></article>`
  })
}

/** The digests; nothing without one. */
export const digestsPart = (report: ScreenReport, shown: Bounded, authors: Authors): Markup => {
  const { digests } = report.model_text
  if (digests.length === 0) return nothing
  return html`<section aria-labelledby="digests"><h2 id="digests">Digests</h2>
${leftOut(shown.parts.length, digests.length, 'digests')}${commonNote(commonOf(digests, authors))}
${shown.parts}</section>`
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
  const list = parts.length <= openMax ? html`${parts}` : html`${parts.slice(-openMax)}`
  const earlier = parts.slice(0, Math.max(0, parts.length - openMax))
  const more = earlier.length === 0 ? nothing
    : html`<details class="long"><summary>${earlier.length} earlier
${earlier.length === 1 ? 'summary' : 'summaries'}</summary>${earlier}</details>`
  return html`<section aria-labelledby="summaries"><h2 id="summaries">Summaries</h2>
${untold(parts.length, all)}${commonNote(by.common)}${more}${list}
</section>`
}
