/**
 * Format changes as numbered steps. A step first raises STATE, so that from its first byte the
 * program of before says that the state is too new; the result is founded as a new generation, so
 * that one rename decides. One that was cut off is run again by whoever comes next.
 */
import { fail } from '../../base/errors.js'
import { ioFailure, publish } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import { takeLock } from '../lock.js'
import { formatVersion } from '../paths.js'
import { encodeStateFile, looseStateFile, readStateFile, type StateFile } from '../state-file.js'
import { whileNobodyFolds } from '../fold-lock.js'
import type { Layout } from './reindex.js'
import { salvage } from './salvage.js'
import { toIndexes } from './to-indexes.js'
import { siteOf, type Site, type StatePlace } from './use-case.js'

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
]

/** What a migration did. */
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
  const lock = site.lock(site.places.lock, site.clock)
  try {
    stateOf(site)
    await takeLock(lock, 'migrate', site)
    try {
      return await whileNobodyFolds(site, 'migrate', () =>
        runSteps(site, place, list, target))
    } finally {
      lock.give()
    }
  } catch (error) {
    throw ioFailure(error, 'changing the format')
  } finally {
    lock.close()
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
