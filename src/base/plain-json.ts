/**
 * JSON that the engine's own parser may be trusted with, because one look at its bytes and one at
 * its value prove that nothing in it is read otherwise by `parseStrictJson`. It refuses nothing by
 * itself: what is not proved is left to the reader that names what is wrong.
 */

const quote = 0x22
const backslash = 0x5c
const [zero, nine, minus, dot] = [0x30, 0x39, 0x2d, 0x2e]
const [colon, openBrace, closeBrace, openBracket, closeBracket] = [0x3a, 0x7b, 0x7d, 0x5b, 0x5d]
/** A number of so many digits is a safe integer whatever they are. */
const digitsMax = 15

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= zero && byte <= nine

/** Behind a string that begins at `at`; -1 for one that has no end or may hold a lone surrogate. */
const afterString = (bytes: Uint8Array, at: number): number => {
  for (let next = at + 1; next < bytes.length; next += 1) {
    const byte = bytes[next]
    if (byte === quote) return next + 1
    if (byte !== backslash) continue
    next += 1
    // `\ud…` alone begins a surrogate, whatever its case.
    const isUnicode = bytes[next] === 0x75
    if (isUnicode && ((bytes[next + 1] ?? 0) | 0x20) === 0x64) return -1
  }
  return -1
}

/** Behind a number that begins at `at`; -1 for one that is no plain safe integer. */
const afterNumber = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] === minus ? at + 1 : at
  let next = first
  while (isDigit(bytes[next])) next += 1
  const begin = bytes[first]
  const isPlain = next > first && next - first <= digitsMax
    && (begin !== zero || (next === first + 1 && first === at))
  const behind = (bytes[next] ?? 0) | 0x20
  return isPlain && bytes[next] !== dot && behind !== 0x65 ? next : -1
}

/** How many members the objects of a text have; null where something in it is not plain. */
const countMembers = (bytes: Uint8Array, depthMax: number): number | null => {
  let [members, depth, at] = [0, 0, 0]
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === quote) at = afterString(bytes, at)
    else if (byte === minus || isDigit(byte)) at = afterNumber(bytes, at)
    else {
      if (byte === colon) members += 1
      else if (byte === openBrace || byte === openBracket) depth += 1
      else if (byte === closeBrace || byte === closeBracket) depth -= 1
      if (depth > depthMax) return null
      at += 1
    }
    if (at < 0) return null
  }
  return members
}

/** How many members the objects of a value have: fewer than in its text where one stood twice. */
const membersOf = (value: unknown): number => {
  const waiting: unknown[] = [value]
  let members = 0
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one !== 'object' || one === null) continue
    const below: unknown[] = Array.isArray(one) ? one : Object.values(one)
    if (!Array.isArray(one)) members += below.length
    for (const child of below) if (typeof child === 'object') waiting.push(child)
  }
  return members
}

/**
 * The value of a document that is plain: no number but safe integers, no member twice, no escape of
 * a surrogate, no deeper than `depthMax`. Null for every other one, good or not. `text` is what
 * `bytes` are in UTF-8, without a byte order mark.
 */
export const plainJson = (
  bytes: Uint8Array, text: string, depthMax: number,
): { readonly value: unknown } | null => {
  const members = countMembers(bytes, depthMax)
  if (members === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return membersOf(value) === members ? { value } : null
  } catch {
    return null
  }
}
