/** Texts of pull requests, issues and comments, in the form in which a host gives them back. */
import { fail } from '../../base/errors.js'
import { isWellFormed } from '../../base/well-formed.js'

/** Most characters of a title and of a body; UTF-16 units, which are never fewer. */
const textLimits = { titleMax: 256, bodyMax: 65_536 } as const

type HostTextReason =
  | 'title_empty' | 'title_form' | 'title_too_long'
  | 'body_empty' | 'body_form' | 'body_too_long'

const worded: Readonly<Record<HostTextReason, string>> = {
  title_empty: 'the title is empty',
  title_form: 'the title has a line end or control character, or begins or ends with a space',
  title_too_long: `the title is longer than ${textLimits.titleMax} characters`,
  body_empty: 'the body is empty',
  body_form: 'the body has a NUL, a carriage return or what is not valid Unicode',
  body_too_long: `the body is longer than ${textLimits.bodyMax} characters`,
}

const titleReason = (title: string): HostTextReason | null => {
  if (title.trim() === '') return 'title_empty'
  const form = isWellFormed(title) && title.trim() === title && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(title)
  if (!form) return 'title_form'
  return title.length > textLimits.titleMax ? 'title_too_long' : null
}

/** What is wrong with a body, or null; that of a comment may not be empty. */
const bodyReason = (body: string, mayBeEmpty: boolean): HostTextReason | null => {
  if (!mayBeEmpty && body.trim() === '') return 'body_empty'
  if (!isWellFormed(body) || /[\0\r]/.test(body)) return 'body_form'
  return body.length > textLimits.bodyMax ? 'body_too_long' : null
}

/** Throws `host_text_invalid` (rejected) for what is wrong with title or body. */
export const requireHostText = (text: { readonly title?: string, readonly body: string }): void => {
  const titled = text.title === undefined ? null : titleReason(text.title)
  const reason = titled ?? bodyReason(text.body, text.title !== undefined)
  if (reason === null) return
  throw fail.rejected('host_text_invalid', `It cannot be published: ${worded[reason]}.`, { reason })
}
