/** Where a report comes from, and what was left out of it. */
import type { ScreenReport } from '../report.js'
import { countText } from '../words.js'
import { leftOut, listBytes, newestWithin } from './bounded.js'
import { html, nothing, type Markup } from './markup.js'
import { allOfReport, withCommands } from './pieces.js'
import type { PageWriting, ShownReport } from './shown.js'

const idList = (
  title: string, what: string, ids: readonly string[],
  { bytesMax, writing }: { readonly bytesMax: number; readonly writing: PageWriting },
): Markup => {
  if (ids.length === 0) return nothing
  const { parts } = newestWithin(ids.length, bytesMax, (at) => html`${ids[at] ?? ''}
`)
  const all = parts.length === ids.length ? nothing
    : html`<p class="note">${withCommands(allOfReport, writing)} names all.</p>`
  return html`<details class="long"><summary>${title}</summary>
${leftOut(parts.length, ids.length, what)}${all}<p class="ids"><code>${parts}</code></p></details>`
}

const namesMax = 40

/** The first names of a list, and how many more there are. */
const firstOf = (names: readonly string[]): string => [
  ...names.slice(0, namesMax),
  ...(names.length > namesMax ? [`and ${names.length - namesMax} more`] : []),
].join(', ')

const ignoredPart = ({ ignored }: ScreenReport['provenance']): Markup => {
  const { areas, observations } = ignored
  const told = observations === 0 ? ''
    : ` ${countText(observations, 'observation')} standing for images that differ in such areas.`
  if (areas.length + observations === 0) return nothing
  return html`<p class="note">Areas that do not count when images are compared:
${areas.length === 0 ? 'none any more' : firstOf(areas)}.${told}</p>`
}

/** Sources, exclusions, ignored areas, and the ids behind the report. */
export const provenancePart = (report: ShownReport): Markup => {
  const { provenance: from } = report
  const left = ([
    [from.excluded.source_missing, 'whose file is missing'],
    [from.excluded.stale_root, 'of an older folder, never analysed'],
    [from.excluded.archived, 'archived'],
    [from.excluded.digests, 'digests that rest on one of these'],
  ] as const).filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`)
  const sources = from.sources.length === 0 ? '' : ` (${firstOf(from.sources)})`
  const { ids } = listBytes
  return html`<section aria-labelledby="provenance"><h2 id="provenance">Where it comes from</h2>
<p>${countText(from.observation_count, 'source observation')}${sources},
${countText(from.digest_count, 'digest')}.</p>
${left.length === 0 ? nothing : html`<p class="note">Left out: ${left.join(', ')}.</p>`}
${ignoredPart(from)}
${idList('Source observations', 'ids', from.source_observation_ids,
    { bytesMax: ids, writing: report })}
${idList('Digests', 'ids', from.digests.map((one) => one.episode_id),
    { bytesMax: ids / 4, writing: report })}
${idList('Sources of the conclusion', 'ids', from.conclusion?.source_observation_ids ?? [],
    { bytesMax: ids / 4, writing: report })}</section>`
}
