/** The few pieces of roff that the man pages need. */

/** Text with everything that roff would read as a command made literal. */
export const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

/** Bold text. */
export const bold = (text: string): string => `\\fB${plain(text)}\\fR`

/** Text in italics: what the reader replaces. */
export const italic = (text: string): string => `\\fI${plain(text)}\\fR`

/** A section with its lines, which are roff already. */
export const section = (name: string, lines: readonly string[]): string =>
  [`.SH ${name}`, ...lines].join('\n')

/** A tag and the text beside it. */
export const tagged = (tag: string, text: string): string[] => ['.TP', tag, text]

/** Lines that are kept as they are. */
export const verbatim = (text: string): string =>
  ['.PP', '.nf', plain(text.trimEnd()), '.fi'].join('\n')

/** Paragraphs; one with indented lines is kept as it is. */
export const paragraphs = (text: string): string[] =>
  text
    .split('\n\n')
    .flatMap((part) => (/\n {2}/.test(part) ? [verbatim(part)] : ['.PP', plain(part)]))

/** A whole page. roff warns of empty lines, so each becomes an empty character. */
export const page = (lines: readonly string[]): string =>
  `${lines.join('\n').trimEnd().replace(/\n(?=\n)/g, '\n\\&')}\n`
