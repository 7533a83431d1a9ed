/** Turning values into text for people. */
import { shownText } from '../base/shown-text.js'

/** Text of others with control characters shown escaped; newline and tab stay. */
export const visible = (text: string): string => shownText(text)

/** Colours and nothing else: what our own `paint` writes. */
const colours = /(\u001b\[[0-9;]*m)/u

/**
 * The last net before a terminal: everything but our own colours is made visible, so that a name
 * out of a profile or a row that no renderer thought of cannot drive the terminal.
 */
export const terminalSafe = (text: string): string =>
  text.split(colours).map((part, at) => (at % 2 === 1 ? part : visible(part))).join('')

/** Text of others made visible, on one line. */
export const visibleLine = (text: string): string =>
  visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')

/** Bytes in the unit that people read. */
export const bytesText = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${units[unit]}`
}

/** Lines of `name: value` with the values in one column. */
export const fieldLines = (fields: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${`${name}:`.padEnd(width + 2)}${value}\n`).join('')
}
