/** Histories for the tests of stores. */
import * as v from 'valibot'
import type { Files } from '../../../src/state/files.js'
import { nodeFiles } from '../../../src/state/files.js'
import { historyHead } from '../../../src/state/history/read-history.js'
import { collectionsOf, historySpec } from '../../../src/state/history/spec.js'
import type { CollectionSpec, HistoryHead, HistorySpec, Store } from '../../../src/state/types.js'

const stepShape = v.strictObject({ n: v.number(), text: v.string() })
export type Step = v.InferOutput<typeof stepShape>

/** A history with the usual limits. */
export const steps: HistorySpec<Step> = historySpec({ name: 'steps', entry: stepShape })
/** One that is soon full. */
export const few: HistorySpec<Step> =
  historySpec({ name: 'few', entry: stepShape, entriesMax: 3, bytesMax: 100 })
export const historyCollections: readonly CollectionSpec<unknown>[] =
  [...collectionsOf(steps), ...collectionsOf(few)]

/** Entries from the number `from` on. */
export const stepsFrom = (from: number, count: number, text = ''): Step[] =>
  Array.from({ length: count }, (_, i) => ({ n: from + i, text }))

/** Appends behind whatever is there. */
export const append = (
  store: Store, key: string, entries: readonly Step[], spec: HistorySpec<Step> = steps,
): Promise<HistoryHead> =>
  store.transact('append', (tx) => tx.append(spec, key, historyHead(tx, spec, key), entries))

/** The disk, with the reads of snapshot files that are as long as a block. */
export const countedBlocks = (): { readonly files: Files; blocks: number; bytes: number } => {
  const segments = new Set<number>()
  const all = {
    blocks: 0,
    bytes: 0,
    files: {
      ...nodeFiles,
      open: (path: string, intent: Parameters<Files['open']>[1]) => {
        const fd = nodeFiles.open(path, intent)
        if (path.endsWith('.seg')) segments.add(fd)
        else segments.delete(fd)
        return fd
      },
      read: (fd: number, buffer: Uint8Array, position: number) => {
        if (segments.has(fd)) {
          all.blocks += 1
          all.bytes += buffer.length
        }
        return nodeFiles.read(fd, buffer, position)
      },
    } satisfies Files,
  }
  return all
}
