/**
 * Text of ours made to fit the width of a terminal: broken between words, continued below where
 * its value began. A word is never broken, whatever its width: a path or a digest stays one that
 * can be copied.
 */

/** Columns that a text takes on a terminal, without its colours. */
export type WidthOf = (text: string) => number

const plain = /^[\x20-\x7e\n]*$/
const colours = /\u001b\[[0-9;]*m/gu

/** Columns of a text of which each character takes one. */
export const charWidth: WidthOf = (text) => [...text.replaceAll(colours, '')].length

/** How to measure a text; what measures wide characters is loaded where there are any. */
export const widthFor = async (text: string): Promise<WidthOf> => {
  if (plain.test(text.replaceAll(colours, ''))) return charWidth
  const { default: stringWidth } = await import('fast-string-width')
  return (part) => stringWidth(part.replaceAll(colours, ''))
}

/** Columns of help, wherever it is shown; a narrower terminal has narrower help. */
const helpColumnsMax = 100

/** Columns that help takes in this view. */
export const helpColumns = (
  { terminal, columns }: { readonly terminal: boolean; readonly columns: number },
): number => (terminal ? Math.min(helpColumnsMax, columns) : helpColumnsMax)

/** What is left for a value below its name; with less it begins at the left. */
const valueColumnsMin = 20
/** A name has one word or two before its colon; more are the beginning of a sentence. */
const nameForm = /^ *(?:[a-z][a-z0-9_-]*(?: [a-z][a-z0-9_-]*)?|JSON|Ids): (?! )/
const pointForm = /^ *[0-9]+\. /
const gapForm = /^ *\S+(?: \S+)* {2,}(?=\S)/
const bodyForm = /^ *\| /
const commandForm = /^ *\$ /
/** A command that ends its line, or is all of it. */
const bareCommandForm = /(?:^ *|: +| {2,})(?=(?:sallyport [a-z-]+|rm -r [/'])[^`]*$)/
const sentenceEnd = /[.!?] +$/

/** What the lines after the first begin with. */
const beginningOf = (line: string, columns: number, widthOf: WidthOf): string => {
  const lead = /^ */.exec(line)?.[0] ?? ''
  const [body] = bodyForm.exec(line) ?? []
  if (body !== undefined) return body
  if (commandForm.test(line) || line.startsWith('sallyport ', lead.length)) return `${lead}    `
  const [name = ''] = nameForm.exec(line) ?? pointForm.exec(line) ?? gapForm.exec(line) ?? []
  const width = widthOf(name)
  const isName = width > 0 && (pointForm.test(line) || !sentenceEnd.test(name))
    && width + valueColumnsMin <= columns
  return isName ? ' '.repeat(width) : lead
}

/** Stands for a space that no line is broken at; no text of ours has it. */
const held = '\ue000'

const holding = (part: string): string => part.replaceAll(' ', held)

/** What is quoted for a shell: a break in it would be part of the word. */
const shellQuoted = /\\.|'[^']*'/g

/** A flag and its value, which may be quoted. */
const flagWithValue = /--[a-z-]+ (?!-|\\)\S+/g

/** Where a command begins that goes on to the end of its line; beyond it where there is none. */
const commandAt = (line: string): number => {
  if (commandForm.test(line)) return 0
  const found = bareCommandForm.exec(line)
  return found === null ? line.length : found.index + found[0].length
}

/**
 * Holds commands between backticks, quoted words and amounts together where a line has room for
 * them; the quoted words of a command always. A command that ends the line begins at `from`.
 */
const heldTogether = (line: string, room: number, widthOf: WidthOf, from: number): string => {
  if (line.includes(held)) return line
  const command = line.slice(from).replace(shellQuoted, holding).replace(flagWithValue, (part) =>
    (widthOf(part) <= room ? holding(part) : part))
  return command === '' ? heldInText(line, room, widthOf)
    : heldInText(line.slice(0, from), room, widthOf) + command
}

const heldInText = (text: string, room: number, widthOf: WidthOf): string =>
  text.replace(/`[^`]+`|'[^']+'|\$[0-9.,]+ \([0-9,]+ \u00b5USD\)/g, (part) => {
    if (widthOf(part) <= room) return holding(part)
    return part.startsWith('`') ? part.replace(shellQuoted, holding) : part
  })

const isInCommand = (text: string): boolean => text.split('`').length % 2 === 0

/** A shell reads on after it, so that a command can be copied from two lines. */
const continued = ' \\'

const wrapLine = (line: string, columns: number, widthOf: WidthOf): string => {
  if (widthOf(line) <= columns) return line
  const beginning = beginningOf(line, columns, widthOf)
  const room = columns - widthOf(beginning)
  const from = commandAt(line)
  const text = heldTogether(line, room, widthOf, from)
  const least = beginning.includes('|') ? beginning : (/^ */.exec(line)?.[0] ?? '')
  const lines: string[] = []
  let open = ''
  let told = ''
  for (const { 1: gap = '', 2: word = '', index } of text.matchAll(/( *)(\S+)/g)) {
    const wordAt = index + gap.length
    const isIn = wordAt > from
    const tail = wordAt >= from || isInCommand(told + word) ? continued.length : 0
    if (open.trim() !== '' && widthOf(open + gap + word) + tail > columns) {
      lines.push(isIn || isInCommand(told) ? open + continued : open)
      // A long word has the whole width: a digest is to be copied.
      open = (widthOf(beginning + word) > columns ? least : beginning) + word
    } else {
      open += gap + word
    }
    told += word
  }
  return [...lines, open].join('\n').replaceAll(held, ' ')
}

/**
 * A text with what goes on in a line of its own, below the number of its paragraph, joined: it is
 * broken once, by the width of what shows it. Points below stay lines.
 */
export const joined = (text: string): string => text.replace(/(?<=\S)\n {3}(?![ -])/g, ' ')

/** The text with every line of it broken between words where it is wider than `columns`. */
export const wrapText = (text: string, columns: number, widthOf: WidthOf = charWidth): string =>
  text.split('\n').map((line) => wrapLine(line, columns, widthOf)).join('\n')

/**
 * Pages are written for terminals of 80 columns: a line that has so many with the next word was
 * broken for its width alone.
 */
const [pageColumns, brokenColumns] = [80, 74]
/** What begins an entry, a point or a command goes on with nothing. */
const entryForm = /^ *(?:\S+(?: \S+)* {2,}\S|[-$|{}"] ?|[0-9]+\. |[A-Z][a-z ]+: )/

/** A page with its paragraphs whole, so that a narrower terminal breaks them once. */
const unbroken = (page: string): string => {
  const lines: string[] = []
  let last = ''
  for (const line of page.split('\n')) {
    const text = line.trimStart()
    const whole = lines.at(-1) ?? ''
    const [word = ''] = text.split(' ')
    const isFull = last !== '' && last.length + 1 + word.length > brokenColumns
    const lead = ' '.repeat(line.length - text.length)
    const goesOn = text !== '' && isFull && !entryForm.test(line) && !commandForm.test(last)
      && lead === beginningOf(whole, pageColumns, charWidth)
    if (goesOn) lines.splice(-1, 1, `${whole} ${text}`)
    else lines.push(line)
    last = line
  }
  return lines.join('\n')
}

/** A page of help for this view: on a terminal as wide as it is, in a pipe of 100 columns. */
export const helpText = (
  page: string, view: { readonly terminal: boolean; readonly columns: number },
): string => {
  const columns = helpColumns(view)
  return wrapText(columns < pageColumns ? unbroken(page) : page, columns)
}
