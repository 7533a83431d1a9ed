/** Lists: a table on a terminal, tab-separated lines in a pipe. */
import type { View } from './output.js'
import { visibleLine } from './text.js'

/**
 * Renders rows. On a terminal with a head and aligned columns; in a pipe one row a line, cells
 * separated by tabs, no head, so that `cut` and `awk` work. Cells are always one line.
 */
export const renderTable = async (
  view: View, head: readonly string[], rows: readonly (readonly string[])[],
): Promise<string> => {
  const cells = rows.map((row) => row.map(visibleLine))
  if (!view.terminal) return cells.map((row) => `${row.join('\t')}\n`).join('')
  if (rows.length === 0) return ''
  const { default: Table } = await import('cli-table3')
  const table = new Table({
    head: head.map((name) => view.paint('bold', name)),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 2 },
    chars: borderless,
  })
  table.push(...cells.map((row) => [...row]))
  const lines = table.toString().split('\n')
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

const borderless = {
  top: '', 'top-mid': '', 'top-left': '', 'top-right': '',
  bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '',
  left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '',
}
