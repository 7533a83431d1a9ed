/** What a person chose, told as the line that says the same: the next time it can be typed. */
import { usdText } from '../base/money.js'
import { lineOfWords } from '../base/told.js'
import type { VerbDeps } from './verb.js'

/** Stands for a file that holds the key: no key is ever part of a line. */
export const keyFileWord = 'KEYFILE'

const micro = '-microusd'

/** A flag with its value, as people type it: one in micro-USD by its sister in dollars. */
export const flagWords = (flag: string, value: unknown): readonly string[] => (flag.endsWith(micro)
  ? [flag.slice(0, -micro.length), usdText(Number(value))] : [flag, String(value)])

/** Tells the lines. A consent is none of them: it is asked for when they are typed. */
export const tellTyped = (deps: VerbDeps, lines: readonly (readonly string[])[]): void => {
  deps.note('\nThe same, typed:')
  for (const words of lines) deps.note(`  $ ${deps.view.command(lineOfWords(words))}`)
  if (lines.flat().includes(keyFileWord)) deps.note(`  ${keyFileWord} is a file with the key.`)
}
