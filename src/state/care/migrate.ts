/**
 * Format changes as numbered functions. Each takes all documents of one format version to the next;
 * the result is published as a new generation, so that one rename decides and the generation
 * before stays.
 */
import { fail } from '../../base/errors.js'
import type { Documents } from './documents.js'
import { applyPayload, foundGeneration, readDocuments } from './documents.js'
import { ioFailure, publish } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import { takeLock } from '../lock.js'
import { formatVersion } from '../paths.js'
import { headOf, marksAfter, salvageAll } from './salvage.js'
import { encodeStateFile, readStateFile } from '../state-file.js'
import type { Site, StatePlace } from './use-case.js'
import { siteOf } from './use-case.js'

/** One step: `to` is `from` + 1. `run` changes the documents in place. */
export interface Migration {
  readonly from: number
  readonly to: number
  readonly name: string
  readonly run: (documents: Documents) => void
}

/** The steps so far, in order. Format 1 is the first, so there is none yet. */
export const migrations: readonly Migration[] = []

/** What a migration did. */
export interface MigrateReport {
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

/** Takes a state directory to the target format under its lock; does nothing when it is there. */
export const migrateState = async (
  place: StatePlace, list: readonly Migration[] = migrations, target: number = formatVersion,
): Promise<MigrateReport> => {
  const site = siteOf(place)
  const lock = site.lock(site.places.lock, site.clock)
  try {
    readStateFile(site.files, site.places.state)
    await takeLock(lock, 'migrate', site)
    try {
      return runSteps(site, list, target)
    } finally {
      lock.give()
    }
  } catch (error) {
    throw ioFailure(error, 'changing the format')
  } finally {
    lock.close()
  }
}

const runSteps = (
  { files, places, dir, clock }: Site, list: readonly Migration[], target: number,
): MigrateReport => {
  requireOwnFolders(files, dir)
  const newest = salvageAll(files, places).at(-1)
  const head = newest === undefined ? undefined : headOf(newest)
  if (newest?.manifest === undefined || head === undefined) throw needsRepair()
  // The manifest counts: a crash after its publication leaves only STATE behind.
  const from = newest.manifest.format_version
  const steps = stepsBetween(list, from, target)
  const before = readStateFile(files, places.state)
  const state = { ...before, format_version: target }
  if (steps.length > 0) {
    if (newest.tail !== 'clean') throw needsRepair()
    const { all, bad } = readDocuments(files, places, newest.manifest)
    if (bad.length > 0) throw needsRepair()
    for (const { content } of newest.records) applyPayload(all, content)
    for (const step of steps) step.run(all)
    foundGeneration(files, places, all, {
      state,
      epoch: newest.epoch + 1,
      ...head,
      marks: marksAfter(newest, newest.manifest.marks),
      markFloor: newest.manifest.mark_floor,
      nowMs: clock.wallMs(),
    })
  }
  if (before.format_version !== target) publish(files, places.state, encodeStateFile(state))
  return { from, to: target, steps: steps.map(({ name }) => name) }
}

const needsRepair = (): Error =>
  fail.damaged('migration_refused', 'Only an undamaged state can change its format.', {
    next: 'Run `sallyport state repair` first.',
  })
