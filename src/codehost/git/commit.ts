/**
 * Commits whose id is known before the host makes them: both people with their date given, whole
 * seconds in UTC, one parent, no signature, and a message that nobody has a reason to tidy up.
 */
import { fail, type SallyportError } from '../../base/errors.js'
import { isWellFormed } from '../../base/well-formed.js'
import { objectId, isObjectId, type ObjectId } from './object-id.js'

/** Who wrote or committed, and when. */
export interface Identity {
  readonly name: string
  readonly email: string
  /** `2021-01-23T20:20:25Z`: UTC, whole seconds. */
  readonly date: string
}

/** A commit before it is made. */
export interface CommitDraft {
  readonly tree: ObjectId
  readonly parents: readonly ObjectId[]
  readonly author: Identity
  readonly committer: Identity
  readonly message: string
}

/** Most bytes of a name and of an address. */
export const identityBytesMax = 256
/** Most bytes of a message. */
export const messageBytesMax = 65_536

/** What is wrong with a commit's text. */
type CommitReason =
  | 'author_form' | 'name_form' | 'email_form' | 'identity_too_long' | 'date_form' | 'message_empty'
  | 'message_not_unicode' | 'message_nul' | 'message_carriage_return' | 'message_begin'
  | 'message_final_newline' | 'message_too_long'

const worded: Readonly<Record<CommitReason, string>> = {
  author_form: 'the author is not written as NAME <ADDRESS>',
  name_form: 'a name is empty, holds <, > or a control character, or begins or ends with a space '
    + 'or one of . , : ; " \\ \'',
  email_form: 'an address is empty, holds <, >, a space or a control character, or begins or ends '
    + 'with one of . , : ; " \\ \'',
  identity_too_long: `a name or address is longer than ${identityBytesMax} bytes`,
  date_form: 'a date is not a whole second of UTC from 1970 on, as in 2021-01-23T20:20:25Z',
  message_empty: 'the message is empty',
  message_not_unicode: 'the message is not valid Unicode',
  message_nul: 'the message holds a NUL',
  message_carriage_return: 'the message has carriage returns; its lines must end in LF alone',
  message_begin: 'the message does not begin with text',
  message_final_newline: 'the message does not end in exactly one LF',
  message_too_long: `the message is longer than ${messageBytesMax} bytes`,
}

/** Throws `commit_text_invalid` (rejected) for a reason. */
const refused = (reason: CommitReason): SallyportError =>
  fail.rejected('commit_text_invalid', `The commit cannot be made: ${worded[reason]}.`, { reason })

// What git strips from both ends of a name, and what would end the line or the address.
const edge = '[.,:;"\\\\\']'
const name = new RegExp(`^(?!${edge}|\\s)[^<>\\p{Cc}\\u2028\\u2029]+(?<!${edge}|\\s)$`, 'u')
const email = new RegExp(`^(?!${edge})[^<>\\s\\p{Cc}]+(?<!${edge})$`, 'u')
const date = /^(?:19[7-9]\d|20\d\d)-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** Seconds since 1970 of a date in its one form, or null. */
export const secondsOf = (text: string): number | null => {
  const ms = date.test(text) ? Date.parse(text) : Number.NaN
  // A day that a month does not have is taken for one of the next.
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text.replace('Z', '.000Z')
    ? ms / 1000 : null
}

/** The date of a moment, its fraction of a second cut off. */
export const dateOf = (wallMs: number): string =>
  new Date(Math.floor(wallMs / 1000) * 1000).toISOString().replace('.000Z', 'Z')

const personForm = /^([^<>]*) <([^<>]*)>$/

/** A person as `NAME <ADDRESS>`. Throws `commit_text_invalid` (rejected) `author_form`. */
export const personOf = (text: string): Omit<Identity, 'date'> => {
  const [, who, where] = personForm.exec(text) ?? []
  if (who === undefined || where === undefined) throw refused('author_form')
  return { name: who, email: where }
}

export const identityReason = (person: Identity): CommitReason | null => {
  const texts = [person.name, person.email]
  if (!isWellFormed(person.name) || !name.test(person.name)) return 'name_form'
  if (!isWellFormed(person.email) || !email.test(person.email)) return 'email_form'
  if (texts.some((text) => Buffer.byteLength(text) > identityBytesMax)) return 'identity_too_long'
  return secondsOf(person.date) === null ? 'date_form' : null
}

export const messageReason = (message: string): CommitReason | null => {
  if (message.trim() === '') return 'message_empty'
  if (!isWellFormed(message)) return 'message_not_unicode'
  if (message.includes('\0')) return 'message_nul'
  if (message.includes('\r')) return 'message_carriage_return'
  if (/^\s/.test(message)) return 'message_begin'
  if (!/[^\n]\n$/.test(message)) return 'message_final_newline'
  return Buffer.byteLength(message) > messageBytesMax ? 'message_too_long' : null
}

/** Throws `commit_text_invalid` (rejected) where people or message are not of their form. */
export const requireCommitText = (draft: Omit<CommitDraft, 'tree' | 'parents'>): void => {
  const reason = identityReason(draft.author) ?? identityReason(draft.committer)
    ?? messageReason(draft.message)
  if (reason !== null) throw refused(reason)
}

const line = (word: string, { name: who, email: where, date: when }: Identity): string =>
  `${word} ${who} <${where}> ${secondsOf(when)} +0000\n`

/** The bytes of a commit object. Its text must have passed `requireCommitText`. */
export const commitBytes = (draft: CommitDraft): Buffer => {
  if (![draft.tree, ...draft.parents].every(isObjectId)) throw new TypeError('not an object id')
  const parents = draft.parents.map((id) => `parent ${id}\n`).join('')
  return Buffer.from(
    `tree ${draft.tree}\n${parents}${line('author', draft.author)}`
      + `${line('committer', draft.committer)}\n${draft.message}`, 'utf8')
}

/** The id that a commit will have. */
export const commitId = (draft: CommitDraft): ObjectId => objectId('commit', commitBytes(draft))
