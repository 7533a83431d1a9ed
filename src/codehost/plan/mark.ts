/**
 * A line that tells what one job makes from everything like it: a nonce that nobody else knows
 * before it is sent. It is a part of the sealed text, compared with it, and never searched for.
 */
import { randomBytes } from 'node:crypto'

const nonceBytes = 16

/** A new nonce. */
export const newMark = (): string => randomBytes(nonceBytes).toString('hex')

/** A text with its line behind it, which hosts do not show; without a nonce as it is. */
export const withMark = (text: string, nonce: string | undefined): string => {
  if (nonce === undefined) return text
  const isLineEnd = text === '' || text.endsWith('\n')
  return `${text}${isLineEnd ? '' : '\n'}<!-- sallyport ${nonce} -->`
}
