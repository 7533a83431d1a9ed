/** Small pieces that the parts of the page share. */
import { toldText } from '../../base/told.js'
import { dollarsText } from '../words.js'
import type { Zone } from '../zone.js'
import { html, type Markup } from './markup.js'
import type { PageWriting } from './shown.js'

/** A number, an amount, a time or a span: it never breaks inside. */
export const num = (text: string | number): Markup => html`<span class="num">${text}</span>`

/** A sentence of ours whose numbers and amounts never break inside. */
export const numbered = (text: string): Markup =>
  html`${text.split(/(\$?\d+(?:\.\d+)?)/).map((part, at) =>
    (at % 2 === 1 ? num(part) : html`${part}`))}`

/** An amount of money. */
export const dollars = (microusd: number): Markup => num(dollarsText(microusd))

/** Day and time. */
export const moment = (zone: Zone, iso: string): string => {
  const { day, time } = zone.at(iso)
  return `${day} ${time}`
}

/** The time alone where it is on the day of another moment, else day and time. */
export const momentNear = (zone: Zone, iso: string, near: string): string =>
  zone.at(iso).day === zone.at(near).day ? zone.at(iso).time : moment(zone, iso)

/** A command: it goes on in the next line between its words only. */
const command = (text: string): Markup =>
  html`<code>${text.split(' ').map((word, at) =>
    html`${at === 0 ? '' : ' '}<span class="w">${word}</span>`)}</code>`

/** A text of ours with commands between backticks, each as it is told. */
export const withCommands = (text: string, { carried }: PageWriting): Markup => {
  const parts = toldText(text, carried).split('`')
  return html`${parts.map((part, at) => (at % 2 === 1 && at < parts.length - 1
    ? command(part) : html`${at % 2 === 1 ? `\`${part}` : part}`))}`
}

/** A mark that is told from others by its sign and not by its colour alone; words stand beside. */
export const alertMark: Markup = html`<i class="mark" aria-hidden="true">!</i>`

/** What names all that a page leaves out. */
export const allOfReport = '`sallyport shots report --json`'
