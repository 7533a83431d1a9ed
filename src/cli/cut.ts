/** Lists that are longer than what is shown of them, and how to go on. */

/** That a list was cut: the flag that goes on, and what it takes. */
interface Cut {
  readonly flag: string
  readonly value: string
}

/** A run whose result may be a list that was cut. */
export interface Cutting {
  /** Arguments after the program's own name. */
  readonly argv: readonly string[]
  /** Set where the result is a list that was cut. */
  cut: Cut | null
  /** A line on stderr, left out with `--quiet`. */
  note(line: string): void
}

const plainWord = /^[A-Za-z0-9_@%+=:,./-]+$/

/** A word as a shell reads it. */
const quoted = (word: string): string =>
  (plainWord.test(word) ? word : `'${word.replaceAll('\'', '\'\\\'\'')}'`)

/** A line without one flag and its value, and what stands behind a lone `--`. */
const without = (
  argv: readonly string[], flag: string,
): readonly [readonly string[], readonly string[]] => {
  const end = argv.indexOf('--')
  const [before, behind] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end)]
  const kept = before.filter((word, at) =>
    word !== flag && before[at - 1] !== flag && !word.startsWith(`${flag}=`))
  return [kept, behind]
}

/** The whole command that prints what comes behind a cut: the line of now, going on there. */
export const nextCommand = (argv: readonly string[], { flag, value }: Cut): string => {
  const [words, behind] = without(argv, flag)
  return ['sallyport', ...words, flag, value, ...behind].map(quoted).join(' ')
}

/** The same of this run; null where nothing was cut. */
export const nextPage = ({ argv, cut }: Omit<Cutting, 'note'>): string | null =>
  (cut === null ? null : nextCommand(argv, cut))
