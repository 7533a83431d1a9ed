/**
 * The one way in which a history changes. It reads the head and nothing else of the history, so
 * that an append costs the same however long the history is.
 */
import { shapeCheck } from '../../base/compiled-shape.js'
import { fail } from '../../base/errors.js'
import { canonicalText } from '../log/canonical-text.js'
import type { CollectionSpec, HistoryHead, HistorySpec, View } from '../types.js'
import { headAfter, lineBytes, sameHead } from './chain.js'
import { historyHead, untrueHistory } from './read-history.js'
import { entryId, headId } from './spec.js'

/** What an append reads and writes; `write` takes canonical JSON. */
interface AppendTo extends Pick<View, 'get' | 'range'> {
  write(spec: CollectionSpec<never>, id: string, text: string): void
}

/** What still fits in a history behind a head. */
export const historyRoom = <T>(
  { entriesMax, bytesMax }: HistorySpec<T>, { entries, bytes }: HistoryHead,
): { readonly entries: number; readonly bytes: number } =>
  ({ entries: Math.max(0, entriesMax - entries), bytes: Math.max(0, bytesMax - bytes) })

/** What entries count for in the limits of a history, in bytes. */
export const historyBytes = (entries: readonly unknown[]): number =>
  entries.reduce<number>((sum, entry) => sum + lineBytes(canonicalText(entry)), 0)

/** Throws `blocked` `history_full` where entries of these texts do not fit behind a head. */
const requireRoom = <T>(
  spec: HistorySpec<T>, head: HistoryHead, texts: readonly string[],
): void => {
  const room = historyRoom(spec, head)
  const bytes = texts.reduce((sum, text) => sum + lineBytes(text), 0)
  if (texts.length <= room.entries && bytes <= room.bytes) return
  const { name, entriesMax, bytesMax } = spec
  throw fail.blocked('history_full',
    `A history holds at most ${entriesMax} entries and ${bytesMax} bytes; nothing was written.`, {
      next: 'What it holds stays; no earlier entry makes room for a later one.',
      details: {
        history: name, entries_max: entriesMax, bytes_max: bytesMax,
        entries: head.entries + texts.length, bytes: head.bytes + bytes,
      },
    })
}

const moved = (name: string): Error =>
  fail.conflict('history_moved', 'The history does not end where it did.', {
    next: 'Read it again.', details: { history: name },
  })

const badEntry = (name: string): Error =>
  fail.failed('invalid_document', `An entry of ${name} breaks its shape.`, {
    next: 'This is a defect of the program; nothing was written.', details: { collection: name },
  })

/** See `Tx.append`. */
export const appendTo = <T>(
  at: AppendTo, spec: HistorySpec<T>, key: string, expected: HistoryHead, entries: readonly T[],
): HistoryHead => {
  const texts = entries.map((entry) => {
    if (!shapeCheck(spec.entry)(entry)) throw badEntry(spec.entries.name)
    return canonicalText(entry)
  })
  const present = historyHead(at, spec, key)
  requireRoom(spec, present, texts)
  if (!sameHead(present, expected)) throw moved(spec.name)
  if (texts.length === 0) return present
  if (at.get(spec.entries, entryId(key, present.entries + 1)) !== undefined) {
    throw untrueHistory(spec.name)
  }
  let head = present
  for (const text of texts) {
    head = headAfter({ name: spec.name, key }, head, text)
    const row = `{"digest":"${head.digest}","entry":${text}}`
    at.write(spec.entries as CollectionSpec<never>, entryId(key, head.entries), row)
  }
  at.write(spec.heads as CollectionSpec<never>, headId(key), canonicalText(head))
  return head
}
