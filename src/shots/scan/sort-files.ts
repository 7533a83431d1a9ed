/** Which files of a walk are known, and in which order the others are read. */
import type { View } from '../../state/types.js'
import { fileIdOf } from '../observations/observation-store.js'
import { shotCollections as c } from '../observations/observation-rows.js'
import type { Candidate } from './intake.js'
import { hiddenRows, marks, type HiddenRows, type KnownIndex, type Looked } from './known-index.js'
import { fileNameOf } from './names.js'
import { needsReading } from './needs-reading.js'
import { exactStamp } from './read-once.js'
import { isSameFile, isTouchedAtMost } from './same-file.js'
import type { Listing } from './walk.js'

/** A walk, sorted. */
export interface SortedFiles {
  /** One of `marks` for each file: whether a committed row is about this very file. */
  readonly known: Uint8Array
  /** Known only by their rows, touched ones among them: the index had missed them. */
  readonly missedByIndex: number
  readonly candidates: readonly Candidate[]
  /** Rows that hid behind a known file when the marks were made. */
  readonly hidden: HiddenRows
}

/** What sorting looks at. */
interface SortWorld {
  readonly view: View
  readonly folder: string
  readonly folderDigest: string
  readonly index: KnownIndex | null
  /** Names that an event was about, latin1; they come first. */
  readonly hints: ReadonlySet<string>
}

/** The row has the last word on a file that the index does not know. */
const lookAtRow = (world: SortWorld, name: string, anyHidden: boolean): Looked => {
  const { view, folder, folderDigest } = world
  const row = view.get(c.files, fileIdOf(folderDigest, fileNameOf(name)))
  if (row === undefined) return 'unknown'
  const exact = exactStamp(folder, name)
  if (exact === null || !isTouchedAtMost(row, exact)) return 'unknown'
  // What counts hidden rows knows of the folder's own alone, and a duplicate may lead elsewhere.
  const mayHide = anyHidden || row.outcome === 'duplicate'
  const hidden = mayHide && row.observation_id !== null
    && needsReading(row, view.get(c.observations, row.observation_id))
  if (hidden) return 'unknown'
  return isSameFile(row, exact) ? 'known' : 'touched'
}

const inOrder = (
  listing: Listing, known: Uint8Array, files: number[], hints: ReadonlySet<string>,
): Candidate[] => {
  const { stamps } = listing
  const rank = (file: number): number => {
    if (hints.has(listing.nameOf(file))) return 0
    return known[file] === marks.touched ? 2 : 1
  }
  const byName = (a: number, b: number): number =>
    (listing.nameOf(a) < listing.nameOf(b) ? -1 : 1)
  files.sort((a, b) =>
    rank(a) - rank(b)
    || (stamps[a * 4 + 1] as number) - (stamps[b * 4 + 1] as number)
    || byName(a, b))
  return files.map((file) => ({
    file, name: listing.nameOf(file), isUrgent: hints.has(listing.nameOf(file)),
  }))
}

/**
 * Sorts a walk: hints first, then oldest modification first. Files that were only touched come
 * after all others, so that a folder of which every file got a link keeps no new image waiting.
 */
export const sortFiles = (listing: Listing, world: SortWorld): SortedFiles => {
  const { view, folderDigest, index } = world
  const hidden = hiddenRows(view, folderDigest)
  // A folder that was never scanned has no row: none is looked for.
  const rows = view.get(c.folders, folderDigest) !== undefined
  const known = new Uint8Array(listing.count)
  const unread: number[] = []
  let missedByIndex = 0
  for (let file = 0; file < listing.count; file += 1) {
    let looked = index?.look(listing, file) ?? 'unknown'
    if (looked === 'unknown' && rows) {
      looked = lookAtRow(world, listing.nameOf(file), hidden.missing + hidden.archived > 0)
      if (looked !== 'unknown') missedByIndex += 1
    }
    known[file] = marks[looked]
    if (looked !== 'known') unread.push(file)
  }
  const candidates = inOrder(listing, known, unread, world.hints)
  return { known, missedByIndex, candidates, hidden }
}
