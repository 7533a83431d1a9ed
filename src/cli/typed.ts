/** What a person chose, told as the line that says the same: the next time it can be typed. */
import type { VerbDeps } from './verb.js'

const plainWord = /^[A-Za-z0-9_%+=:,./-]+$/

const shellWord = (word: string): string =>
  (plainWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** Stands for a file that holds the key: no key is ever part of a line. */
export const keyFileWord = 'KEYFILE'

/** A line without `sallyport`, as a shell reads it, for the state directory of this run. */
export const typedLine = ({ globals }: VerbDeps, words: readonly string[]): string =>
  [
    'sallyport', ...words,
    ...(globals.stateDir === null ? [] : ['--state-dir', globals.stateDir]),
  ].map(shellWord).join(' ')

/** Tells the lines. A consent is none of them: it is asked for when they are typed. */
export const tellTyped = (deps: VerbDeps, lines: readonly (readonly string[])[]): void => {
  deps.note('\nThe same, typed:')
  for (const words of lines) deps.note(`  $ ${typedLine(deps, words)}`)
  if (lines.flat().includes(keyFileWord)) deps.note(`  ${keyFileWord} is a file with the key.`)
}
