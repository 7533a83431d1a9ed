/**
 * Markup that cannot be injected into: whatever a template is given is text and is escaped, unless
 * it is markup that a template made. Control characters and those that reorder or hide text are
 * written out, so that a name shows what it is.
 */
import { shownText } from '../../base/shown-text.js'

/** A finished piece of markup. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What a template takes. */
type Part = Markup | string | number | readonly Markup[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;', '`': '&#96;',
}

/** Text of anybody as text of a page, in an element or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  shownText(text).replace(/[&<>"'`]/g, (char) => entities[char] ?? '')

const textOf = (part: Part): string => {
  if (part instanceof Markup) return part.text
  if (typeof part === 'string') return escapeHtml(part)
  if (typeof part === 'number') return String(part)
  return part.map(({ text }) => text).join('')
}

/** Template of markup; every value in it is escaped. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
  new Markup(strings.reduce((text, string, at) => {
    const part = parts[at - 1]
    return `${text}${part === undefined ? '' : textOf(part)}${string}`
  }))

/** Nothing. */
export const nothing = new Markup('')
