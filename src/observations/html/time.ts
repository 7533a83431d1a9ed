/** What was done, first: how long, by what the model named. */
import type { ScreenReport } from '../report.js'
import type { TimeSum } from '../sums.js'
import { countText, spanText } from '../words.js'
import { html, nothing, type Markup } from './markup.js'
import { num } from './pieces.js'

/** Names that are told of a sum; the others are counted. */
const namesMax = 12

const table = (title: string, sums: readonly TimeSum[]): Markup => {
  if (sums.length === 0) return nothing
  const rows = sums.slice(0, namesMax).map(({ name, seconds }) =>
    html`<tr><th scope="row"><bdi>${name}</bdi></th><td class="v">${num(spanText(seconds * 1_000))}
</td></tr>`)
  const left = sums.length - namesMax
  const more = left <= 0 ? nothing
    : html`<p class="soft">And ${countText(left, 'other')}, in the JSON of this report.</p>`
  return html`<section><h3>${title}</h3><table><tbody>${rows}</tbody></table>${more}</section>`
}

/** Time by project, activity and application; nothing where nothing was described. */
export const timePart = ({ facts, model_text: { time } }: ScreenReport): Markup => {
  if (time.observation_count === 0) return nothing
  const part = time.observation_count < facts.count
    ? html`Told of ${num(time.observation_count)} of ${num(facts.count)} observations: the others
are not described, or older than the newest that are.` : nothing
  return html`<section aria-labelledby="time"><h2 id="time">What was done</h2>
<p class="soft">${num(spanText(time.seconds * 1_000))} on the screen, by the names that a model
gave. Several applications may be visible at once. ${part}</p>
<div class="pair">${table('Project', time.project)}${table('Activity', time.activity)}
${table('Application', time.application)}</div></section>`
}
