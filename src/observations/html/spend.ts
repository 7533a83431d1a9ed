/** Money and requests of the rolling day, against their budgets, in words and as a bar. */
import { disputedText, moneyStand, requestStand, type ReportSpend } from '../budget.js'
import type { ScreenReport } from '../report.js'
import { dollarsText } from '../words.js'
import { stacked } from './bars.js'
import { html, nothing, type Markup } from './markup.js'
import { alertMark, dollars, num } from './pieces.js'

const spendBar = (spend: ReportSpend): Markup => {
  const { budget_microusd: budget, spent_microusd: spent, held_microusd: held } = spend
  if (budget === null || budget === 0) return nothing
  const { state } = moneyStand(spend)
  const whole = Math.max(budget, spent + held)
  const over = state === 'over'
  return stacked('spend', `Spend of the day against ${dollarsText(budget)}`, [
    { className: over ? 'spent over' : 'spent', share: spent / whole,
      text: `spent ${dollarsText(spent)}` },
    { className: 'held', share: held / whole, text: `held ${dollarsText(held)}` },
  ], over ? budget / whole : null)
}

const moneyWords = (spend: ReportSpend): Markup => {
  const { state, rest } = moneyStand(spend)
  const with_ = spend.held_microusd === 0 ? '' : ' with what is held'
  if (state === 'over') {
    return html`<p class="alert over">${alertMark}<b>Over the budget</b> by
${dollars(rest)}${with_}. Nothing more is sent until enough of it is older than a day.</p>`
  }
  if (state !== 'near') return nothing
  return html`<p class="alert near">${alertMark}<b>Near the budget</b>:
${rest === 0 ? 'nothing' : dollars(rest)} is left${with_}.</p>`
}

const requestWords = (spend: ReportSpend): Markup => {
  const { state, rest } = requestStand(spend)
  if (state === 'over') {
    return html`<p class="alert over">${alertMark}<b>More requests</b> than the budget, by
${num(rest)}.</p>`
  }
  return state === 'near' ? html`<p class="alert near">${alertMark}<b>Near the budget</b> of
requests: ${rest === 0 ? 'none' : num(rest)} left.</p>` : nothing
}

const against = (used: Markup, budget: Markup | null): Markup =>
  (budget === null ? html`${used}, no budget is set` : html`${used} of ${budget}`)

const row = (name: string, value: Markup): Markup =>
  html`<tr><th scope="row">${name}</th><td class="v">${value}</td></tr>`

/** Spend of 24 hours; nothing where none is told. */
export const spendPart = ({ course: { spend } }: ScreenReport): Markup => {
  if (spend === null) return nothing
  const money = against(dollars(spend.spent_microusd),
    spend.budget_microusd === null ? null : dollars(spend.budget_microusd))
  const requests = against(num(spend.requests),
    spend.budget_requests === null ? null : num(spend.budget_requests))
  const held = spend.held_microusd === 0
    ? nothing : row('held, under way or of unknown charge', dollars(spend.held_microusd))
  const disputed = spend.disputed_charges === 0
    ? nothing : row('disputed', html`${disputedText(spend)}`)
  return html`<section aria-labelledby="spend"><h2 id="spend">Spend in 24 hours</h2>
${moneyWords(spend)}${requestWords(spend)}${spendBar(spend)}
<table><tbody>${row('money', money)}${held}${disputed}${row('requests', requests)}</tbody>
</table></section>`
}
