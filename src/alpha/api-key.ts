import { alphaLimits } from './constants.js'

/** Whether a supplied key says "keep the stored one": empty or white space only. */
export const isBlankKey = (key: string): boolean => /^\s*$/u.test(key)

/** Whether a key can stand in an authorization header exactly as it is. */
export const isUsableKey = (key: string): boolean =>
  /^[\x21-\x7e]+$/.test(key) && key.length <= alphaLimits.apiKeyBytesMax
