/**
 * Everything that is counted from observations, counted again row by row. What is held grows with
 * folders and groups, of which there are few, and by eight bytes a row.
 */
import type { DerivedRows } from '../../state/derived.js'
import type { Entry } from '../../state/types.js'
import { TextBalance, TextSet } from '../../state/text-sums.js'
import { folderDigestOf } from '../source/folder-digest.js'
import {
  contentIdOf, countIdOf, countKeyOf, shotCollections, type Observation, type ShotCount,
  type ShotFolder,
} from './observation-rows.js'

/** Facts of a folder that follow from its observations. */
type FolderFacts = Pick<
  ShotFolder, 'observations' | 'visual_runs' | 'suppressed' | 'archived' | 'latest_captured_at'
> & {
  /** Those that differ from the image before them in one small rectangle only. */
  readonly changed_little: number
}

/** The same with the newest analysis, which a folder's row may lie behind but not before. */
export type Recounted = { -readonly [K in keyof FolderFacts]: FolderFacts[K] } & {
  latest_analyzed_at: string | null
}

/** Facts of a folder without observations. */
export const noObservations = (): Recounted => ({
  observations: 0, visual_runs: 0, suppressed: 0, archived: 0, changed_little: 0,
  latest_captured_at: null,
  latest_analyzed_at: null,
})

const newer = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b > a) ? b : a

/** One observation of one content, as both sides are compared. */
export const twinText = (sha256: string, observationId: string, rootDigest: string): string =>
  `${sha256}/${observationId}/${rootDigest}`

/** Counters under way. */
class GroupCounts {
  readonly #groups = new Map<string, { readonly row: Observation; count: number }>()

  add(row: Observation): void {
    const key = JSON.stringify(Object.values(countKeyOf(row)))
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, { row, count: 1 })
    else group.count += 1
  }

  /** Counters by id, as they should be. */
  counts(): ReadonlyMap<string, ShotCount> {
    return new Map([...this.#groups.values()].map(({ row, count }) => {
      const key = countKeyOf(row)
      return [countIdOf(key), { ...key, count }]
    }))
  }
}

/** The counter rows as what they are: counted from the observations. */
export const countedRows: DerivedRows = {
  name: shotCollections.counts.name,
  from: shotCollections.observations.name,
  begin: () => {
    const groups = new GroupCounts()
    return {
      add: ({ doc }) => groups.add(doc as Observation),
      rows: () => Array.from(groups.counts(), ([id, doc]) => ({ id, doc })),
    }
  },
}

/** The count under way. */
export class Recount {
  /** Ids under which observations lie. */
  readonly ids = new TextSet()
  /** Observations by content: on the left what rows say, on the right what the contents say. */
  readonly twins = new TextBalance()
  readonly folders = new Map<string, Recounted>()
  readonly #groups = new GroupCounts()
  readonly #roots = new Map<string, string>()

  add({ id, doc: row }: Entry<Observation>): void {
    this.ids.add(id)
    this.twins.left(twinText(contentIdOf(row), row.observation_id, row.root_digest))
    this.#groups.add(row)
    this.#addToFolder(row)
  }

  #addToFolder(row: Observation): void {
    const folder = this.folders.get(row.root_digest) ?? noObservations()
    const suppressed = row.screenshot_visual_run?.suppressed_count ?? 0
    folder.observations += 1
    folder.visual_runs += suppressed > 0 ? 1 : 0
    folder.suppressed += suppressed
    folder.archived += row.archived_at === null ? 0 : 1
    folder.changed_little += row.changed_region === undefined ? 0 : 1
    folder.latest_captured_at = newer(folder.latest_captured_at, row.captured_at)
    folder.latest_analyzed_at =
      newer(folder.latest_analyzed_at, row.payload?.analyzed_at ?? null)
    this.folders.set(row.root_digest, folder)
  }

  /** The digest of a folder's name; there are few of them. */
  rootDigestOf(root: string): string {
    const digest = this.#roots.get(root) ?? folderDigestOf(root)
    this.#roots.set(root, digest)
    return digest
  }

  /** Counters by id, as they should be. */
  counts(): ReadonlyMap<string, ShotCount> {
    return this.#groups.counts()
  }
}
