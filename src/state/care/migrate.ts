/**
 * Format changes as numbered steps. A step first raises STATE, so that from its first byte the
 * program of before says that the state is too new; the result is founded as a new generation, so
 * that one rename decides. One that was cut off is run again by whoever comes next.
 */
import { fail } from '../../base/errors.js'
import { ioFailure, publish } from '../files.js'
import { whileAlone } from '../fold-lock.js'
import { requireOwnFolders } from '../folders.js'
import { formatVersion } from '../paths.js'
import { nextNumber, SegmentWriter } from '../snapshot/fold.js'
import { bytesOf } from '../snapshot/manifest.js'
import { encodeStateFile, looseStateFile, readStateFile, type StateFile } from '../state-file.js'
import { publishFounding } from './found.js'
import { marksAfter } from './log-records.js'
import { reindex, type Layout } from './reindex.js'
import { badFiles, gather } from './all-rows.js'
import { recordsOf, salvage, type Salvage, type Trace } from './salvage.js'
import { siteOf, type Site, type StatePlace } from './use-case.js'

// To a format with other indexes or counts than the one before: the runs stay as they are, and
// the entries that are missing come to lie over them as a run of their own.

const needsRepair = (): Error =>
  fail.damaged('migration_refused', 'Only an undamaged state can change its format.', {
    next: 'Run `sallyport state repair` first.',
  })

/** Entries take less than their rows, and pieces of them lie there twice while they are sorted. */
const roomFactor = 1.1

const requireRoom = ({ files, dir }: Site, { manifest, logs }: Trace): void => {
  const rows = manifest.runs.reduce((sum, run) => sum + bytesOf(run), 0)
  const records = logs.reduce((sum, { end }) => sum + end, 0)
  const needed = Math.ceil(roomFactor * (rows + records))
  const free = files.freeBytes(dir)
  if (free >= needed) return
  throw fail.failed('disk_full', 'The disk has too little room to change the format.', {
    next: 'Free some space and run the command again.',
    details: { bytes_needed: needed, bytes_free: free },
  })
}

const requireSound = (site: Site, found: Salvage & { readonly standing: Trace }): void => {
  const { standing, untrue, remade } = found
  const wrong = standing.broken !== null || remade.length > 0
    || (untrue.at(-1) ?? 0) > standing.manifest.number
    || standing.logs.some(({ headerState }) => headerState !== 'true')
  if (wrong) throw needsRepair()
  const gathered = gather(site.files, site.places, found)
  try {
    if (gathered.lost.length > 0 || badFiles(gathered).size > 0) throw needsRepair()
  } finally {
    gathered.rows.close()
  }
}

/** A step to the format `to`; see `Migration.prepare`. */
const toIndexes = (to: number) => (site: Site, layout: Layout): ((state: StateFile) => void) => {
  const { files, places, clock } = site
  const found = salvage(files, places)
  const { standing } = found
  if (standing === undefined) throw needsRepair()
  requireSound(site, { ...found, standing })
  requireRoom(site, standing)
  return (state) => {
    const { manifest, head } = standing
    const number = nextNumber(files, places)
    const writer = new SegmentWriter(files, places, number)
    const gathered = gather(files, places, { ...found, standing })
    const own = gathered.rows.over.sorted()
    gathered.rows.close()
    const first = own.length === 0 ? [] : writer.writeAll(own)
    const runs = [
      ...(first.length === 0 ? [] : [{ id: manifest.next_run, level: 0, files: first }]),
      ...manifest.runs,
    ]
    const indexed = reindex(files, places, runs, manifest.next_run + 1, layout, writer)
    writer.whole(() => publishFounding(files, places, {
      state, number, ...head, format: to, runs: indexed.runs, nextRun: indexed.nextRun,
      epoch: Math.max(found.newestLog, standing.logs.at(-1)?.epoch ?? 0) + 1,
      marks: marksAfter(recordsOf(standing), manifest.marks), markFloor: manifest.mark_floor,
      nowMs: clock.wallMs(),
    }))
  }
}

/** One step: `to` is `from` + 1. */
export interface Migration {
  readonly from: number
  readonly to: number
  readonly name: string
  /**
   * Looks whether the step can be taken (undamaged, room enough; throws), and answers what takes
   * it once STATE was raised. Both locks are held.
   */
  readonly prepare: (site: Site, layout: Layout) => (state: StateFile) => void
}

/** The steps so far, in order. */
export const migrations: readonly Migration[] = [
  { from: 5, to: 6, name: 'aimed stops', prepare: toIndexes(6) },
  // Its log is the first whose chains do not cover the check of a header.
  { from: 6, to: 7, name: 'chains without epochs', prepare: toIndexes(7) },
]

interface MigrateReport {
  readonly from: number
  readonly to: number
  readonly steps: readonly string[]
}

/** Steps that lead from one version to another; `failed`/`no_migration` when one is missing. */
export const stepsBetween = (
  list: readonly Migration[], from: number, to: number,
): readonly Migration[] => {
  const steps: Migration[] = []
  for (let version = from; version < to; version += 1) {
    const step = list.find((candidate) => candidate.from === version)
    if (step === undefined || step.to !== version + 1) {
      throw fail.failed('no_migration', 'No step leads from this format to the next.', {
        details: { format_version: version },
      })
    }
    steps.push(step)
  }
  return steps
}

/** Takes a state directory to the target format under its locks; does nothing when it is there. */
export const migrateState = async (
  place: StatePlace & Layout, list: readonly Migration[] = migrations,
  target: number = formatVersion,
): Promise<MigrateReport> => {
  const site = siteOf(place)
  try {
    stateOf(site)
    return await whileAlone(site, 'migrate', () => runSteps(site, place, list, target))
  } catch (error) {
    throw ioFailure(error, 'changing the format')
  }
}

/** STATE of any format that a step leads on from. */
const stateOf = ({ files, places }: Site): StateFile =>
  looseStateFile(files, places.state) ?? readStateFile(files, places.state)

/** The format of the documents: STATE may have been raised by a migration that was cut off. */
const formatOf = ({ files, places }: Site, state: StateFile): number => {
  const { standing } = salvage(files, places)
  return standing === undefined ? state.format_version
    : Math.min(state.format_version, standing.manifest.format_version)
}

const runSteps = (
  site: Site, layout: Layout, list: readonly Migration[], target: number,
): MigrateReport => {
  const { files, places, dir } = site
  requireOwnFolders(files, dir)
  const before = stateOf(site)
  const from = formatOf(site, before)
  const steps = stepsBetween(list, from, target)
  for (const step of steps) {
    const run = step.prepare(site, layout)
    const state = { ...before, format_version: Math.max(before.format_version, step.to) }
    publish(files, places.state, encodeStateFile(state))
    run(state)
  }
  return { from, to: target, steps: steps.map(({ name }) => name) }
}
