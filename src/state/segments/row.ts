/**
 * Rows of the one ordered keyspace (collection, id) and the line of text each is in a segment:
 * canonical JSON, `["collection","id",document]`, or `["collection","id"]` where it was removed.
 */
import { stringJson } from '../log/canonical-text.js'

/** Where a row stands. */
export interface Key {
  readonly collection: string
  readonly id: string
}

/** A document at its place; `text` is its canonical JSON, null where it was removed. */
export interface Row extends Key { readonly text: string | null }

/** Order of the keyspace: collection, then id, both by UTF-16 code units. */
export const compareKeys = (a: Key, b: Key): number => {
  if (a.collection !== b.collection) return a.collection < b.collection ? -1 : 1
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

/** The line of a row, without its line end. */
export const lineOf = ({ collection, id, text }: Row): string =>
  text === null
    ? `["${collection}",${stringJson(id)}]`
    : `["${collection}",${stringJson(id)},${text}]`

/** Where the quote stands that ends the JSON text beginning at `start`; -1 where none does. */
const closingQuote = (line: string, start: number): number => {
  for (let at = line.indexOf('"', start + 1); at !== -1; at = line.indexOf('"', at + 1)) {
    let slashes = 0
    while (line[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at
  }
  return -1
}

/** Reads a line; undefined where it is none of ours. The document's text is not parsed. */
export const rowOf = (line: string): Row | undefined => {
  const nameEnd = line.indexOf('"', 2)
  if (!line.startsWith('["') || nameEnd === -1 || !line.startsWith('","', nameEnd)) return undefined
  const start = nameEnd + 2
  const end = closingQuote(line, start)
  if (end === -1 || !line.endsWith(']')) return undefined
  const quoted = line.slice(start, end + 1)
  const id = quoted.includes('\\') ? JSON.parse(quoted) as string : quoted.slice(1, -1)
  const collection = line.slice(2, nameEnd)
  if (end + 2 === line.length) return { collection, id, text: null }
  if (line[end + 1] !== ',') return undefined
  return { collection, id, text: line.slice(end + 2, -1) }
}
