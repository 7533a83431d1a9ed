/**
 * The one place that renders a command that a person is told. Use cases write commands in their
 * plain form, `sallyport` and words, between backticks where they stand in a sentence. A face tells
 * them with what the line, or the service, needs so that they mean the same state wherever they are
 * typed: `--state-dir DIR`, say. A command that was rendered before is left as it is.
 */
import * as v from 'valibot'
import { nextStepsOf, type NextStep } from './next-step.js'

/**
 * A command in its plain form, whole: what a face tells of it is `told-document.ts`'s. The shape
 * itself is what marks the field.
 */
export const command = v.string()
/** Such a command, or none. */
export const nullableCommand = v.nullable(command)
/** A sentence of ours in which commands stand between backticks, in their plain form. */
export const sentence = v.string()
/** Such a sentence, or none. */
export const nullableSentence = v.nullable(sentence)

/** What told commands carry besides their own words: flags and values as words of a shell. */
export type Carried = readonly string[]

/** Nothing: whoever types in the same environment means the same state without a flag. */
export const nothingCarried: Carried = []

/** What no shell reads as anything but itself. */
const plainWord = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/

/** What ends a line, drives a terminal, cannot be seen, or ends a command between backticks. */
const unquotable = /[`\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

const octal = (char: string): string =>
  [...Buffer.from(char)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * A word as any shell reads it, on one line. Control characters and backticks come as what `printf`
 * makes of their octal numbers, as does what it would take for a flag; a line break at the very end
 * would be lost there, and stays.
 */
export const shellWord = (word: string): string => {
  if (plainWord.test(word)) return word
  if (!unquotable.test(word) || word.endsWith('\n')) return inQuotes(word)
  const form = word.replaceAll('\\', '\\\\').replaceAll('%', '%%')
    .replace(new RegExp(unquotable, 'gu'), octal)
    .replace(/^-/, octal)
  return `"$(printf ${inQuotes(form)})"`
}

const program = 'sallyport '

/** A line of the program in its plain form: `ledger show` as `sallyport ledger show`. */
export const commandLine = (line: string): string => program + line

/** Words as a line of the program, each as a shell reads it. */
export const lineOfWords = (words: readonly string[]): string => words.map(shellWord).join(' ')

/** Lines that mean the same over any state, or over none. */
const stateless = new RegExp('^(?:--help|--version|help|demo|schema|completion|sandbox|'
  + 'edge daemon|at|machine join)(?: |$)')
const onlyHelps = / --help$/

/** A command that says by itself which state it is about. */
const placed = / --(?:at|state-dir) /

const suffixOf = (carried: Carried): string =>
  (carried.length === 0 ? '' : ` ${lineOfWords(carried)}`)

/** A command as it is told. One that needs no state, and one that names it, stays as it is. */
export const toldCommand = (command: string, carried: Carried): string => {
  const suffix = suffixOf(carried)
  if (suffix === '' || !command.startsWith(program) || command.includes(suffix)) return command
  const line = command.slice(program.length)
  return stateless.test(line) || onlyHelps.test(line) || placed.test(`${command} `)
    ? command : command + suffix
}

const quoted = /`(sallyport [^`]+)`/g

/** A sentence with its commands as they are told. */
export const toldText = (text: string, carried: Carried): string =>
  (carried.length === 0 ? text
    : text.replace(quoted, (_, command: string) => `\`${toldCommand(command, carried)}\``))

/** A field of ours as it is told: a sentence, or a command that is all of it. */
export const toldSentence = (text: string, carried: Carried): string =>
  toldCommand(toldText(text, carried), carried)

/** The commands of a hint as they are told; whether they need a person is said of them as meant. */
export const toldSteps = (hint: string | null, carried: Carried): NextStep[] =>
  nextStepsOf(hint).map((step) => ({ ...step, command: toldCommand(step.command, carried) }))
