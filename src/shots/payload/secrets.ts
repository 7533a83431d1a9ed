/**
 * Texts of the shape of a key, a token or a password. Forms that issuers document, assignments to
 * words that name a secret, and long tokens of mixed letters and digits. A text that has one is
 * refused whole; a secret of no recognisable shape passes, as the docs say.
 */
const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/,
  /\b[sprk]k[-_](?:live|test|proj|or|ant)?[-_]?[A-Za-z0-9_-]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bAIza[0-9A-Za-z_-]{30,}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /\bnpm_[A-Za-z0-9]{30,}/,
  /\b[Bb]earer\s+[A-Za-z0-9._~+/-]{16,}/,
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,100}:[^\s/@]{3,}@/i,
]

const words = [
  'password', 'passwd', 'passphrase', 'passwort', 'pwd', 'secret', 'token', 'api[ _-]?key',
  'access[ _-]?key', 'private[ _-]?key', 'client[ _-]?secret', 'credential', 'pin', 'otp',
].join('|')

/** Where a value follows: `password: `, `api_key="`, `PASSWORD=`. */
const assignment = new RegExp(
  `(?<![A-Za-z])(?:${words})["']?\\s*(?:[:=]|\\bis\\b)\\s*["'\`]?`, 'gi',
)
const word = /\S*/y
const sign = /[\d!@#$%^&*+~]/g

/** The text up to the next blank, from a place on, and where its last sign or digit is. */
const wordAt = (text: string, at: number): { readonly end: number; readonly sign: number } => {
  word.lastIndex = at
  const found = word.exec(text)?.[0] ?? ''
  const last = [...found.matchAll(sign)].at(-1)
  return { end: at + found.length, sign: last === undefined ? -1 : at + last.index }
}

/**
 * `password: hunter2`, `api_key="…"`, `PASSWORD=…`: a value of four characters or more, with a
 * digit or a sign up to the next blank. A word is walked once, however many assignments are in it.
 */
const holdsAssignment = (text: string): boolean => {
  let known = { end: -1, sign: -1 }
  for (const found of text.matchAll(assignment)) {
    const at = found.index + found[0].length
    if (!/^[^\s"'`]{4}/.test(text.slice(at, at + 4))) continue
    if (at >= known.end) known = wordAt(text, at)
    if (known.sign >= at) return true
  }
  return false
}

const dotted = /[A-Za-z0-9_.-]{28,}/g

/** A signed token: three parts with dots between, the first from `eyJ` on. */
const holdsSignedToken = (text: string): boolean =>
  (text.match(dotted) ?? []).some((run) => {
    const parts = run.split('.')
    return parts.some((part, n) => /\beyJ[A-Za-z0-9_-]{10}/.test(part)
      && (parts[n + 1]?.length ?? 0) >= 10 && (parts[n + 2]?.length ?? 0) >= 5)
  })

const longToken = /[A-Za-z0-9_+/-]{32,}/g

/** Upper case, lower case and digits all through: no word, no path and no hash in hex is so. */
const isMixed = (token: string): boolean =>
  /[A-Z]/.test(token) && /[a-z]/.test(token) && (token.match(/[0-9]/g)?.length ?? 0) >= 4

/** Whether a text holds something of the shape of a key. */
export const holdsSecret = (text: string): boolean =>
  shapes.some((shape) => shape.test(text)) || holdsSignedToken(text) || holdsAssignment(text)
  || (text.match(longToken) ?? []).some(isMixed)
