/** Lists that are longer than what is shown of them, and how to go on. */
import { commandLine, lineOfWords, type Carried } from '../base/told.js'
import { placeFlags } from './globals.js'

/** That a list was cut: the flag that goes on, and what it takes. */
interface PageEnd {
  readonly flag: string
  readonly value: string
}

/** A run whose result may be a list that was cut. */
export interface PagedRun {
  /** Arguments after the program's own name. */
  readonly argv: readonly string[]
  /** What commands carry that this run tells. */
  readonly carried: Carried
  /** Set where the result is a list that was cut. */
  cut: PageEnd | null
  /** A line on stderr, left out with `--quiet`. */
  note(line: string): void
}

/** A line without these flags and their values, and what stands behind a lone `--`. */
const without = (
  argv: readonly string[], flags: readonly string[],
): readonly [readonly string[], readonly string[]] => {
  const end = argv.indexOf('--')
  const [before, behind] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end)]
  const kept = before.filter((word, at) => !flags.some((flag) =>
    word === flag || before[at - 1] === flag || word.startsWith(`${flag}=`)))
  return [kept, behind]
}

/**
 * The whole command that prints what comes behind a cut: the line of now, going on there. Its
 * places come as told commands have them; no list takes another file.
 */
export const nextCommand = (
  { argv, carried }: Pick<PagedRun, 'argv' | 'carried'>, { flag, value }: PageEnd,
): string => {
  const [words, behind] = without(argv, [flag, ...placeFlags])
  return commandLine(lineOfWords([...words, flag, value, ...carried, ...behind]))
}

/** The same of this run; null where nothing was cut. */
export const nextPage = (run: Omit<PagedRun, 'note'>): string | null =>
  (run.cut === null ? null : nextCommand(run, run.cut))
