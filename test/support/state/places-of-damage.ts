/** Where the records of a log and the blocks of a snapshot lie, to be damaged one by one. */
import { readFileSync } from 'node:fs'
import { decodeLogHeader } from '../../../src/state/log/format.js'
import { openStore, type FileStore } from '../../../src/state/store.js'

/** Where each record of a log begins and ends. */
export const recordsOf = (
  path: string,
): readonly { readonly start: number; readonly end: number }[] => {
  const bytes = readFileSync(path)
  const found: { start: number; end: number }[] = []
  let start = decodeLogHeader(bytes)?.end ?? 0
  while (start < bytes.length) {
    const end = start + 106 + Number(bytes.toString('latin1', start + 20, start + 30))
    found.push({ start, end })
    start = end
  }
  return found
}

/** Every block of a state's one run: its file and where it begins. */
export const blocksOf = (place: { dir: string; configDir: string }) => {
  const store = openStore({ ...place, mode: 'read' }) as FileStore
  const segments = store.generation.lease.table.runs.flat()
  const blocks = segments.flatMap(({ facts, index }) =>
    index.map(([collection, id, offset, length]) => ({
      path: store.places.segment(facts.name), collection, id, offset, length,
    })))
  store.close()
  return blocks
}
