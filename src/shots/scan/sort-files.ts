/** Which files of a walk are known, and in which order the others are read. */
import type { View } from '../../state/types.js'
import { fileIdOf } from '../keep.js'
import { shotCollections as c } from '../rows.js'
import { needsReading } from './decide.js'
import type { Candidate } from './intake.js'
import { hiddenRows, type KnownIndex } from './known-index.js'
import { fileNameOf } from './names.js'
import { exactStamp } from './read-once.js'
import type { Listing } from './walk.js'

/** A walk, sorted. */
export interface SortedFiles {
  /** One byte a file: 1 where a committed row is about this very file. */
  readonly known: Uint8Array
  /** Known only by their rows: the index had missed them. */
  readonly missedByIndex: number
  readonly candidates: readonly Candidate[]
}

/** What sorting looks at. */
export interface SortWorld {
  readonly view: View
  readonly root: string
  readonly rootDigest: string
  readonly index: KnownIndex | null
  /** Names that an event was about, latin1; they come first. */
  readonly hints: ReadonlySet<string>
}

/** The row has the last word on a file that the index does not know. */
const knownByRow = (world: SortWorld, name: string, anyHidden: boolean): boolean => {
  const { view, root, rootDigest } = world
  const row = view.get(c.files, fileIdOf(rootDigest, fileNameOf(name)))
  if (row === undefined) return false
  const exact = exactStamp(root, name)
  const same = exact !== null && row.bytes === exact.bytes
    && row.modified_ns === exact.modifiedNs && row.inode === exact.inode
  if (!same) return false
  if (!anyHidden || row.observation_id === null) return true
  return !needsReading(row, view.get(c.observations, row.observation_id))
}

const inOrder = (listing: Listing, files: number[], hints: ReadonlySet<string>): Candidate[] => {
  const { stamps } = listing
  const hinted = (file: number): number => (hints.has(listing.nameOf(file)) ? 0 : 1)
  const byName = (a: number, b: number): number =>
    (listing.nameOf(a) < listing.nameOf(b) ? -1 : 1)
  files.sort((a, b) =>
    hinted(a) - hinted(b)
    || (stamps[a * 4 + 1] as number) - (stamps[b * 4 + 1] as number)
    || byName(a, b))
  return files.map((file) => ({ file, name: listing.nameOf(file) }))
}

/** Sorts a walk: hints first, then oldest modification first. */
export const sortFiles = (listing: Listing, world: SortWorld): SortedFiles => {
  const { view, rootDigest, index } = world
  const { missing, archived } = hiddenRows(view, rootDigest)
  // A root that was never scanned has no row: none is looked for.
  const rows = view.get(c.roots, rootDigest) !== undefined
  const known = new Uint8Array(listing.count)
  const unknown: number[] = []
  let missedByIndex = 0
  for (let file = 0; file < listing.count; file += 1) {
    if (index?.has(listing, file) === true) {
      known[file] = 1
    } else if (rows && knownByRow(world, listing.nameOf(file), missing + archived > 0)) {
      known[file] = 1
      missedByIndex += 1
    } else {
      unknown.push(file)
    }
  }
  return { known, missedByIndex, candidates: inOrder(listing, unknown, world.hints) }
}
