/**
 * The chain over the entries of one history. Each link covers the history's name, its key, the
 * number of the entry, the link before and the entry's canonical JSON, so that no entry can be
 * changed, dropped, moved, or taken from another history, without another head.
 */
import { hash } from 'node:crypto'
import type { HistoryHead } from '../types.js'

/** Which history; neither part needs an escape in JSON. */
interface HistoryName {
  readonly name: string
  readonly key: string
}

const domain = 'sallyport.history.v1'

/** The digest of a history without an entry. */
const firstLink = ({ name, key }: HistoryName): string =>
  hash('sha256', `["${domain}","${name}","${key}"]`)

/** The digest of an entry (its number, its canonical JSON) behind the digest `before`. */
export const linkOf = (
  { name, key }: HistoryName, number: number, before: string, text: string,
): string => hash('sha256', `["${domain}","${name}","${key}",${number},"${before}"]\n${text}`)

/** What an entry counts for: its canonical JSON and a line end. */
export const lineBytes = (text: string): number => Buffer.byteLength(text) + 1

export const emptyHead = (history: HistoryName): HistoryHead =>
  ({ bytes: 0, digest: firstLink(history), entries: 0 })

export const headAfter = (
  history: HistoryName, { bytes, digest, entries }: HistoryHead, text: string,
): HistoryHead => ({
  bytes: bytes + lineBytes(text),
  digest: linkOf(history, entries + 1, digest, text),
  entries: entries + 1,
})

/** Whether two heads are of one moment. */
export const sameHead = (a: HistoryHead, b: HistoryHead): boolean =>
  a.entries === b.entries && a.bytes === b.bytes && a.digest === b.digest
