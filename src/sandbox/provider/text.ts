import { createHash } from 'node:crypto'

/** Answers that read like answers and quote nothing of the question. */
const answers = [
  'A sally port is the guarded double door of a fortress: only one side opens at a time.',
  'Take the smallest step that can be undone, look at what it did, and then take the next one.',
  'Two things are worth writing down before you begin: what would make you stop, and who decides.',
  'There are three common causes. Rule out the cheapest one first and keep a note of what you saw.',
  'In short: yes, with one condition. Check that the record was written before you act on it.',
  'It depends on the order of events, so look at the timestamps before you look at the values.',
] as const

const fits = (text: string, wordsMax: number): { text: string; cut: boolean } => {
  const words = text.split(' ')
  if (words.length <= wordsMax) return { text, cut: false }
  return { text: words.slice(0, wordsMax).join(' '), cut: true }
}

/**
 * A plausible answer that depends on the question alone, at most `tokensMax` words long (a word is
 * the sandbox's token). `cut` tells whether the limit shortened it.
 */
export const plausibleAnswer = (
  question: string,
  tokensMax: number,
): { text: string; cut: boolean } => {
  const exactly = /reply with exactly:?\s+"?([A-Za-z0-9_-]{1,64})"?/i.exec(question)?.[1]
  if (exactly !== undefined) return { text: exactly, cut: false }
  const first = createHash('sha256').update(question, 'utf8').digest()[0] ?? 0
  return fits(`${answers[first % answers.length]} (Sandbox answer.)`, tokensMax)
}

/** The sandbox's token count of a text: one per four bytes of UTF-8, at least one. */
export const tokensOf = (text: string): number =>
  Math.max(1, Math.ceil(Buffer.byteLength(text, 'utf8') / 4))
