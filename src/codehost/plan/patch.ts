/**
 * What changes on a base as a patch in git's own form, one file at a time. The lines that differ
 * are found by a library; where two texts share too little to be told apart line by line, the old
 * one goes and the new one comes whole.
 */
import { structuredPatch, type StructuredPatchHunk } from 'diff'

interface PatchFile {
  readonly path: string
  readonly mode: string
  readonly id: string
  /** What the base has there; null for a new file. */
  readonly before: { readonly mode: string, readonly id: string } | null
  /** Both contents as text; null where one of them is none. Equal ids need neither. */
  readonly texts: { readonly before: string, readonly after: string } | null
}

/** Most lines by which two texts may differ before they are shown as one for the other. */
const editLengthMax = 4_000
const contextLines = 3
const shortId = 7

const plain = /^[^\p{Cc}"\\]+$/u
const isPlain = (path: string): boolean =>
  plain.test(path) && Buffer.byteLength(path) === path.length

/** A path as git writes it: in quotes where it holds more than plain ASCII. */
const named = (side: 'a' | 'b', path: string): string => {
  if (isPlain(path)) return `${side}/${path}`
  const bytes = [...Buffer.from(path)].map((byte) => {
    const shown = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    return shown ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"${side}/${bytes.join('')}"`
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split(/(?<=\n)/))

const noNewline = '\\ No newline at end of file'

const wholeHunk = (before: string, after: string): StructuredPatchHunk => {
  const sides = [['-', linesOf(before)], ['+', linesOf(after)]] as const
  const lines = sides.flatMap(([sign, all]) => all.flatMap((line) =>
    (line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, noNewline])))
  const [oldLines, newLines] = sides.map(([, all]) => all.length) as [number, number]
  const [oldStart, newStart] = [Math.min(1, oldLines), Math.min(1, newLines)]
  return { oldStart, oldLines, newStart, newLines, lines }
}

const hunksOf = (before: string, after: string): readonly StructuredPatchHunk[] => {
  if (before === '' || after === '') return [wholeHunk(before, after)]
  const found = structuredPatch('a', 'b', before, after, undefined, undefined, {
    context: contextLines, maxEditLength: editLengthMax,
  })
  return found === undefined ? [wholeHunk(before, after)] : found.hunks
}

const rangeOf = (start: number, lines: number): string =>
  (lines === 1 ? `${start}` : `${start},${lines}`)

const hunkText = ({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk): string =>
  `@@ -${rangeOf(oldStart, oldLines)} +${rangeOf(newStart, newLines)} @@\n${lines.join('\n')}\n`

const headLines = ({ mode, before }: PatchFile): readonly string[] => {
  if (before === null) return [`new file mode ${mode}`]
  return before.mode === mode ? [] : [`old mode ${before.mode}`, `new mode ${mode}`]
}

const indexLine = ({ id, mode, before }: PatchFile): string => {
  const sameMode = before?.mode === mode ? ` ${mode}` : ''
  return `index ${(before?.id ?? '0'.repeat(shortId)).slice(0, shortId)}..${id.slice(0, shortId)}`
    + sameMode
}

const bodyOf = (file: PatchFile, from: string, to: string): string => {
  const { texts } = file
  if (texts === null) return `Binary files ${from} and ${to} differ\n`
  const hunks = hunksOf(texts.before, texts.after)
  if (texts.before === texts.after) return ''
  return `--- ${from}\n+++ ${to}\n${hunks.map(hunkText).join('')}`
}

export const patchOf = (file: PatchFile): string => {
  const { path, before, id } = file
  const [from, to] = [named('a', path), named('b', path)]
  const head = [`diff --git ${from} ${to}`, ...headLines(file)]
  if (before?.id === id) return `${head.join('\n')}\n`
  const lines = [...head, indexLine(file)].join('\n')
  return `${lines}\n${bodyOf(file, before === null ? '/dev/null' : from, to)}`
}
