/**
 * Markup that cannot be injected into: whatever a template is given is text and is escaped, unless
 * it is markup that a template made. Control characters and those that reorder or hide text are
 * written out, so that a name shows what it is.
 */

/** A finished piece of markup. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What a template takes. */
export type Part = Markup | string | number | readonly Markup[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;', '`': '&#96;',
}

// C0 but newline and tab, DEL, C1, lone surrogates, and what reorders or hides text.
const control = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f'
const hiding = '\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff'
const unsafe = new RegExp(`[${control}${hiding}]|\\p{Cs}`, 'gu')

/** Text of anybody as text of a page, in an element or in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text
    .replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"'`]/g, (char) => entities[char] ?? '')

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
