/**
 * What keys, tokens and private keys look like. A shape proves nothing: it is what a text is cut by
 * before it is shown, and what a person is warned of before a file is published.
 */

/** Keys and tokens by the prefixes that their issuers give them. */
export const prefixedKey =
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|xox[abps]|spe)[-_][A-Za-z0-9_-]{8,}/g

/** What stands behind the name of a scheme in a header. */
export const authorization = /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi

/** A private key as PEM, whole or cut off. */
export const privateKey =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g

/** 32 bytes as base64url: tokens of our own. */
export const ownToken = /\b[A-Za-z0-9_-]{43}\b/g
