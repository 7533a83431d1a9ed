/** Half of a surrogate pair: with the flag `u`, whole pairs are no match. */
const loneSurrogate = /\p{Surrogate}/u

/** Whether a text has UTF-8 bytes, that is, no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean => !loneSurrogate.test(text)
