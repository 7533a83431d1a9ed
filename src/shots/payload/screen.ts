/**
 * Coarse screens over what a model wrote. They recognise the shape of what must not be copied: a
 * line of a chat with its time and name, several lines of code or log. A private message as such
 * cannot be recognised by a program; the prompt forbids it and the docs say what is left.
 */

/*
 * Each of them takes time in proportion to the text: blanks at the start of a line stay in that
 * line (a run of empty lines would be walked from each of its lines), and no two parts beside each
 * other take the same characters.
 */
const lineStart = String.raw`^[^\S\n\r\u2028\u2029]*`

/** `[10:42] Ann: …`, `10:42 Ann: …`, `<Ann> …`, `Ann (10:42): …` at the start of a line. */
const messageLines = [
  String.raw`\[?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp][Mm])?\]?[\s,-]+`
    + String.raw`\p{L}[\p{L}\p{N} ._'-]{0,40}[:>]\s*\S`,
  String.raw`<[\p{L}][\p{L}\p{N}._-]{0,40}>\s+\S`,
  String.raw`[\p{L}][\p{L}\p{N} ._'-]{0,40}[([]\d{1,2}:\d{2}[^)\]]{0,12}[)\]]\s*\S`,
].map((line) => new RegExp(lineStart + line, 'mu'))

/** Whether a text holds a line of a conversation. */
export const holdsMessage = (text: string): boolean => messageLines.some((line) => line.test(text))

const linesMax = 3

/** Whether one of the snippets is more than a few lines of something raw. */
export const holdsLongRaw = (snippets: readonly string[]): boolean =>
  snippets.some((snippet) => snippet.split('\n').length > linesMax)
