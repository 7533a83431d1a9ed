/**
 * Text of others as people may see it: whatever drives a terminal, reorders text or cannot be seen
 * is written out as `\uXXXX`, by the same rule on a terminal and on a page.
 *
 * Invisible are the characters that Unicode calls Default_Ignorable, and the other format
 * characters (Cf) without a sign of their own; Arabic number signs and the like have one. Joiners
 * and variation selectors stay where text needs them: one or two of them after a letter or mark of
 * a script that joins, or after a picture. Flags made of tags and keycaps stay, too.
 */

// C0 but newline and tab, DEL, C1.
const controls = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f'
const hidden = [
  // Soft hyphen, grapheme joiner, fillers of Hangul, vowels of Khmer that nobody writes.
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u3164\\uffa0',
  // Spaces and operators without a width, byte order mark, line and paragraph separators.
  '\\u200b\\u2028\\u2029\\u2060-\\u2065\\ufeff',
  // Direction: marks, embeddings, overrides, isolates; shaping that is no longer used.
  '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u206f',
  // Annotations, shorthand, music, tags and what Unicode keeps free for more of these.
  '\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}',
  '\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}',
].join('')
const joining = '\\u180b-\\u180f\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}'
const joinedMax = 2

const flag = '\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}'
const keycap = '[0-9#*]\\ufe0f\\u20e3'

/**
 * Made at their first use: properties of Unicode are looked up in tables, which takes longer than
 * all else that a light command does with text.
 */
interface Forms {
  readonly unsafe: RegExp
  /** After these, and at the beginning, nothing is joined. */
  readonly joinsNothing: RegExp
}

let made: Forms | undefined
const forms = (): Forms => made ??= {
  unsafe: new RegExp(`(${flag}|${keycap})|([${joining}]+)|[${controls}${hidden}]|\\p{Cs}`, 'gu'),
  joinsNothing: new RegExp(
    `(?:^|[\\u0000-\\u00a0${hidden}\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}])$`, 'u'),
}

/** Of these none is written out. */
const plainAscii = /^[\t\n\x20-\x7e]*$/

/** What is found: all of it, a flag or keycap, joiners, and where it stands. */
type Found = [string, string | undefined, string | undefined, number]

const written = (text: string): string =>
  text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

const charBefore = (text: string, at: number): string =>
  [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? ''

/** Text of others with control, reordering and invisible characters written out, but \n and \t. */
export const shownText = (text: string): string => {
  if (plainAscii.test(text)) return text
  const { unsafe, joinsNothing } = forms()
  return text.replace(unsafe, (...[found, whole, joined, at]: Found) => {
    if (whole !== undefined) return found
    if (joined === undefined) return written(found)
    const fits = [...joined].length <= joinedMax && !joinsNothing.test(charBefore(text, at))
    return fits ? joined : written(joined)
  })
}
