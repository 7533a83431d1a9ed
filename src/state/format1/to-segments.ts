/**
 * From format 1 to format 2: the files of partitions, each split by hash, become one sorted run. It
 * streams: of a large collection each partition is first written as a run of its own, and these are
 * then merged; so that memory is bounded by one partition.
 */
import { fail, SallyportError } from '../../base/errors.js'
import { publishFounding } from '../care/found.js'
import { marksAfter } from '../care/log-records.js'
import type { Site } from '../care/use-case.js'
import type { Files } from '../files.js'
import { removeFile } from '../files.js'
import { canonicalText } from '../log/canonical-text.js'
import type { SegmentFacts } from '../segments/build.js'
import { mergeRows, withoutRemoved } from '../segments/merge.js'
import { levelOf } from '../segments/plan.js'
import type { Row } from '../segments/row.js'
import { compareKeys } from '../segments/row.js'
import { scanRun } from '../segments/table.js'
import type { Places } from '../paths.js'
import { nextNumber, SegmentWriter } from '../snapshot/fold.js'
import { bytesOf } from '../snapshot/manifest.js'
import { SegmentPool } from '../snapshot/pool.js'
import type { StateFile } from '../state-file.js'
import type { SalvagedEpoch } from './salvage.js'
import { headOf, salvageAll } from './salvage.js'
import type { CollectionEntry, Manifest } from './snapshot.js'
import { PartMissing, readPartTexts } from './snapshot.js'

/** A collection of at most so many bytes is sorted in memory. */
const inMemoryBytes = 16 * 1024 * 1024
/** How many runs are merged at once: a merge looks at each for every row. */
const mergedAtOnce = 16

const needsRepair = (): Error =>
  fail.damaged('migration_refused', 'Only an undamaged state can change its format.', {
    next: 'Run `sallyport state repair` first.',
  })

const bytesIn = ({ parts }: CollectionEntry): number =>
  Object.values(parts).reduce((sum, [, , bytes]) => sum + bytes, 0)

/** Refuses where the disk has no room for the new files beside the old ones. */
const requireRoom = ({ files, dir }: Site, { collections }: Manifest, logBytes: number): void => {
  const sizes = Object.values(collections).map(bytesIn)
  const all = sizes.reduce((sum, bytes) => sum + bytes, logBytes)
  const runs = sizes.filter((bytes) => bytes > inMemoryBytes)
  const needed = Math.ceil(1.1 * (all + runs.reduce((sum, bytes) => sum + bytes, 0)))
  const free = files.freeBytes(dir)
  if (free >= needed) return
  throw fail.failed('disk_full', 'The disk has too little room to change the format.', {
    next: 'Free some space and run the command again.',
    details: { bytes_needed: needed, bytes_free: free },
  })
}

/** Rows of one partition, sorted; none where the work may pass over damage. */
const partRows = (work: Work, collection: string, part: string, entry: CollectionEntry): Row[] => {
  const known = entry.parts[part]
  if (known === undefined) return []
  const texts = work.textsOf(() => readPartTexts(work.files, work.from, collection, part, known))
  return [...texts]
    .map(([id, text]) => ({ collection, id, text: canonicalText(JSON.parse(text)) }))
    .sort(compareKeys)
}

/** Merges many runs a few at a time. */
const mergeMany = (sources: readonly Iterable<Row>[]): Iterable<Row> => {
  if (sources.length <= mergedAtOnce) return mergeRows(sources)
  const groups: Iterable<Row>[] = []
  for (let at = 0; at < sources.length; at += mergedAtOnce) {
    groups.push(mergeRows(sources.slice(at, at + mergedAtOnce)))
  }
  return mergeMany(groups)
}

type Texts = ReadonlyMap<string, string>

/** Where the partitions are read and what is written from them. */
interface Work {
  readonly files: Files
  readonly from: Places
  readonly writer: SegmentWriter
  readonly pool: SegmentPool
  /** Files that only the migration needs. */
  readonly between: SegmentFacts[]
  readonly textsOf: (read: () => Texts) => Texts
}

/** Rows of one collection, sorted. */
function* collectionRows(
  work: Work, collection: string, entry: CollectionEntry,
): Generator<Row> {
  const { writer, pool, between } = work
  const parts = Object.keys(entry.parts)
  if (bytesIn(entry) <= inMemoryBytes) {
    yield* mergeMany(parts.map((part) => partRows(work, collection, part, entry)))
    return
  }
  const runs = parts.map((part) => writer.writeAll(partRows(work, collection, part, entry)))
  between.push(...runs.flat())
  const lease = pool.lease({ runs: runs.map((files, id) => ({ id, level: 0, files })) })
  try {
    yield* mergeMany(lease.table.runs.map((files) => scanRun(files)))
  } finally {
    lease.release()
  }
}

function* storedRows(work: Work, { collections }: Manifest): Generator<Row> {
  for (const name of Object.keys(collections).sort()) {
    const entry = collections[name]
    if (entry !== undefined) yield* collectionRows(work, name, entry)
  }
}

/** Newest rows of the log. */
const logRows = ({ records }: SalvagedEpoch): Row[] => {
  const rows = new Map<string, Row>()
  for (const { content } of records) {
    for (const [collection, , id, ...rest] of content.ops) {
      const text = rest.length === 0 ? null : canonicalText(rest[0])
      rows.set(`${collection}/${id}`, { collection, id, text })
    }
  }
  return [...rows.values()].sort(compareKeys)
}

/** Reads every partition once, so that damage is met before anything changes. */
const requireSound = (site: Site, manifest: Manifest): void => {
  for (const [collection, { parts }] of Object.entries(manifest.collections)) {
    for (const [part, entry] of Object.entries(parts)) {
      try {
        readPartTexts(site.files, site.places, collection, part, entry)
      } catch (error) {
        const isDamage = error instanceof SallyportError && error.kind === 'damaged'
        throw isDamage || error instanceof PartMissing ? needsRepair() : error
      }
    }
  }
}

/** See `Migration.prepare`. */
export const toSegments = (site: Site): ((state: StateFile) => void) => {
  const { files, places, clock } = site
  const newest = salvageAll(files, places).at(-1)
  const head = newest === undefined ? undefined : headOf(newest)
  if (newest?.manifest === undefined || head === undefined) throw needsRepair()
  if (newest.tail !== 'clean') throw needsRepair()
  const { manifest } = newest
  requireSound(site, manifest)
  requireRoom(site, manifest, newest.end)
  return (state) => {
    const number = nextNumber(files, places)
    const writer = new SegmentWriter(files, places, number)
    const written = writeRun(files, places, { places, newest, manifest, damaged: 'thrown' }, writer)
    publishFounding(files, places, {
      state, number, epoch: newest.epoch + 1, ...head, format: 2,
      marks: marksAfter(newest.records, manifest.marks),
      markFloor: manifest.mark_floor,
      nextRun: 2,
      runs: written.length === 0 ? []
        : [{ id: 1, level: levelOf(bytesOf({ files: written }), 0, undefined), files: written }],
      nowMs: clock.wallMs(),
    })
  }
}

/** A generation of format 1, and whether partitions that cannot be read are left out. */
export interface Format1Source {
  readonly places: Places
  readonly newest: SalvagedEpoch
  readonly manifest: Manifest
  readonly damaged: 'thrown' | 'left out'
}

const skipDamage = (read: () => Texts): Texts => {
  try {
    return read()
  } catch (error) {
    const isDamage = error instanceof SallyportError && error.kind === 'damaged'
    if (!isDamage && !(error instanceof PartMissing)) throw error
    return new Map()
  }
}

/** Writes all documents of a generation of format 1 as one sorted run into `places`. */
export const writeRun = (
  files: Files, places: Places, source: Format1Source, writer: SegmentWriter,
): SegmentFacts[] => {
  const work: Work = {
    files, from: source.places, writer, between: [],
    pool: new SegmentPool(files, places, 0),
    textsOf: source.damaged === 'left out' ? skipDamage : (read) => read(),
  }
  const rows = mergeRows<Row>([logRows(source.newest), storedRows(work, source.manifest)])
  const written = writer.writeAll(withoutRemoved(rows))
  for (const { name } of work.between) removeFile(files, places.segment(name))
  return written
}
