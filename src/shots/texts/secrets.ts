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
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/,
  /\b[Bb]earer\s+[A-Za-z0-9._~+/-]{16,}/,
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,100}:[^\s/@]{3,}@/i,
]

const words = [
  'password', 'passwd', 'passphrase', 'passwort', 'pwd', 'secret', 'token', 'api[ _-]?key',
  'access[ _-]?key', 'private[ _-]?key', 'client[ _-]?secret', 'credential', 'pin', 'otp',
].join('|')

/** `password: hunter2`, `api_key="…"`, `PASSWORD=…`: a value with a digit or a sign in it. */
const assigned = new RegExp(
  `(?<![A-Za-z])(?:${words})["']?\\s*(?:[:=]|\\bis\\b)\\s*["'\`]?`
    + `(?=\\S*[\\d!@#$%^&*+~])[^\\s"'\`]{4,}`,
  'i',
)

const longToken = /[A-Za-z0-9_+/-]{32,}/g

/** Upper case, lower case and digits all through: no word, no path and no hash in hex is so. */
const isMixed = (token: string): boolean =>
  /[A-Z]/.test(token) && /[a-z]/.test(token) && (token.match(/[0-9]/g)?.length ?? 0) >= 4

/** Whether a text holds something of the shape of a key. */
export const holdsSecret = (text: string): boolean =>
  shapes.some((shape) => shape.test(text)) || assigned.test(text)
  || (text.match(longToken) ?? []).some(isMixed)
