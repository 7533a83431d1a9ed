/**
 * Lists: on a terminal a table as wide as it is, or a card for each row where a table has no room;
 * in a pipe tab-separated lines.
 */
import { wrapText, widthFor, type WidthOf } from './wrap.js'
import type { View } from './output.js'
import { visibleLine } from './text.js'

type Row = readonly string[]

const gap = 2
/** The widest column is broken between words as long as so many columns are left for it. */
const brokenColumnsMin = 20

/**
 * Renders rows. On a terminal with a head and aligned columns; in a pipe one row a line, cells
 * separated by tabs, no head, so that `cut` and `awk` work. Cells are always one line there.
 */
export const renderTable = async (view: View, head: Row, rows: readonly Row[]): Promise<string> => {
  const cells = rows.map((row) => row.map(visibleLine))
  if (!view.terminal) return cells.map((row) => `${row.join('\t')}\n`).join('')
  if (rows.length === 0) return ''
  const widthOf = await widthFor(cells.flat().join('\n'))
  const fitting = narrowed(head, cells, view.columns, widthOf)
  return fitting === null
    ? cells.map((row) => card(view, head, row, widthOf)).join('') : table(view, head, fitting)
}

/**
 * The rows as they fit side by side, the widest column broken between its words where it has to
 * be; null where that is not enough.
 */
const narrowed = (
  head: Row, rows: readonly Row[], columns: number, widthOf: WidthOf,
): readonly Row[] | null => {
  const widths = head.map((name, at) =>
    Math.max(widthOf(name), ...rows.map((row) => widthOf(row[at] ?? ''))))
  const over = widths.reduce((sum, width) => sum + width, gap * (widths.length - 1)) - columns
  if (over <= 0) return rows
  const widest = Math.max(...widths)
  const at = widths.indexOf(widest)
  const room = widest - over
  const words = rows.flatMap((row) => (row[at] ?? '').split(' '))
  if (room < Math.max(brokenColumnsMin, ...words.map(widthOf))) return null
  const narrow = (cell: string, one: number): string =>
    (one === at ? wrapText(cell, room, widthOf) : cell)
  return rows.map((row) => row.map(narrow))
}

const table = async (view: View, head: Row, rows: readonly Row[]): Promise<string> => {
  const { default: Table } = await import('cli-table3')
  const made = new Table({
    head: head.map((name) => view.paint('bold', name)),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': gap },
    chars: borderless,
  })
  made.push(...rows.map((row) => [...row]))
  const lines = made.toString().split('\n')
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** What says nothing is left out of a card. */
const empty = new Set(['', '-'])

/** A row as a few lines: its first cell, then the others with their names, broken between them. */
const card = (view: View, head: Row, row: Row, widthOf: WidthOf): string => {
  const lines: string[] = []
  let open = ''
  for (const [at, cell] of row.entries()) {
    if (at > 0 && empty.has(cell)) continue
    const part = at === 0 ? cell : `${head[at] ?? ''}: ${cell}`
    if (open !== '' && widthOf(`${open}  ${part}`) > view.columns) {
      lines.push(open)
      open = `  ${part}`
    } else {
      open = open === '' ? part : `${open}  ${part}`
    }
  }
  const [first = '', ...others] = [...lines, open]
  const key = row[0] ?? ''
  return [view.paint('bold', key) + first.slice(key.length), ...others]
    .map((line) => `${line}\n`).join('')
}

const borderless = {
  top: '', 'top-mid': '', 'top-left': '', 'top-right': '',
  bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '',
  left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '',
}
