/**
 * Puts a backup in place. The documents of the backup become a new generation above everything
 * that is there, so that one rename decides. Until the policy above has published a revoked
 * revision beyond the anchor (the `afterRestore` hook) the store is behind its anchor and contacts
 * nobody: a crash in between leaves it refused, never forgetful.
 */
import { basename, dirname, join, resolve } from 'node:path'
import { fail } from '../../base/errors.js'
import { readAnchor } from '../anchor.js'
import { unsettleFrom } from './aside.js'
import { verifyBackup, type BackupFacts } from './backup.js'
import { copyFile, copyTree, digestFile, filesBelow, placeCopy } from './copy.js'
import {
  ensureDir, ensureDirs, namesIn, publish, readWhole, syncDir, withFile, type Files,
} from '../files.js'
import { stateElsewhere } from '../directory.js'
import { ensureStateFolders, requireOwnFolders } from '../folders.js'
import { KeyRing, readKey } from '../keys.js'
import { fileBytesMax } from '../limits.js'
import {
  formatVersion, isSnapshotName, keyPlaces, logEpochs, manifestNumbers, placesOf,
  type KeyPlaces, type Places,
} from '../paths.js'
import { isGiven } from '../place/place-file.js'
import { refuseExisting } from '../create.js'
import { publishFounding } from './found.js'
import { marksAfter } from './log-records.js'
import { reindex, type Layout } from './reindex.js'
import { badFiles, gather, soundRuns } from './all-rows.js'
import { settleVouched } from './settle-vouched.js'
import { recordsOf, salvage, type Salvage, type Trace } from './salvage.js'
import type { SegmentFacts } from '../segments/build.js'
import { nextNumber, SegmentWriter } from '../snapshot/fold.js'
import { headerIn } from '../snapshot/founding.js'
import { looseManifest, type Mark, type Run } from '../snapshot/manifest.js'
import { whileAlone } from '../fold-lock.js'
import {
  encodeStateFile, isStateIn, keptAt, looseStateFile, type StateFile,
} from '../state-file.js'
import { FileStore } from '../file-store.js'
import type { AnchorStatus, Store } from '../types.js'
import { careFailure } from './unreadable.js'
import { putAside } from './put-aside.js'
import { siteOf, type Site, type StatePlace } from './use-case.js'
import { isOwnState } from '../own-entries.js'
import { makeWhole, sweepUnfinished, unfinishedPlace } from '../unfinished.js'
import { forgetArrivals } from '../arrivals.js'

interface RestoreOptions extends StatePlace, Layout {
  /** Folder that `backupState` made. */
  readonly backup: string
  /**
   * Runs on the restored store; marks made here move the anchor. `anchorPolicyRevision` is the
   * last revision that the anchor knows of (0 when it is missing or forged): publish above it.
   */
  readonly afterRestore?: (
    store: Store, facts: { readonly anchorPolicyRevision: number },
  ) => void | Promise<void>
}

/** What a restore did. */
export interface RestoreReport {
  readonly store_id: string
  /** Sequence of the restored documents. */
  readonly sequence: number
  /** Folder with copies of what was there before; null when there was nothing. */
  readonly copied_to: string | null
  readonly anchor: AnchorStatus
}

interface Source {
  readonly root: string
  readonly state: StateFile
  /** Number of its newest log. */
  readonly epoch: number
  readonly marks: readonly Mark[]
  readonly markFloor: number
  readonly sequence: number
  readonly chain: string
  /** Writes its documents as runs, the newest first. */
  readonly write: (writer: SegmentWriter) => Run[]
}

/**
 * Restores a backup; see `RestoreOptions`. `conflict`: `other_store`, `state_exists` where what
 * lies there is no state; `blocked`/`key_missing`.
 */
export const restoreState = async (options: RestoreOptions): Promise<RestoreReport> => {
  const site = siteOf(options)
  try {
    const source = readSource(site.files, resolve(options.backup))
    const keys = keyPlaces(site.configDir, source.state.store_id)
    const key = readKey(site.files, keys.key)
    const ring = new KeyRing(source.state.store_id, () => key)
    const floorNow = (): number => {
      const anchored = readAnchor(site.files, keys.anchor, ring, source.state.store_id)
      const known = typeof anchored === 'string' ? 0 : anchored.number
      return 1 + Math.max(known, source.marks.at(-1)?.number ?? 0, source.markFloor)
    }
    const empty = isEmpty(site)
    refuseShared(site, keys, source, empty)
    const copied = empty ? placeFresh(site, source, floorNow, options)
      : await placeOver(site, source, floorNow, options)
    const anchor = await rebase(options)
    const { state: { store_id }, sequence } = source
    return { store_id, sequence, copied_to: copied, anchor }
  } catch (error) {
    throw careFailure(error, 'restoring a backup', site)
  }
}

/**
 * A replica that was replaced by an old copy would have a ledger of its own, beside that of the
 * other machines. Where the server is gone for good a person says so by moving the file away.
 */
const refuseShared = (
  { files, places }: Site, keys: KeyPlaces, { root, state }: Source, empty: boolean,
): void => {
  const present = looseStateFile(files, places.state)
  if (present !== undefined && present.kept_in !== 'place') return
  if (!isGiven(files, keys.dir, state.store_id)) return
  const way = empty ? wayToReplica(files, root)
    : 'Take it back first, with `sallyport state unshare`.'
  throw stateElsewhere(`${way} Where the server is gone for good: end the other machines, and move `
    + 'the file of the key folder that ends in .place away.')
}

/** Where no directory is left that could be taken back: the server has all that it had. */
const wayToReplica = (files: Files, root: string): string => {
  const anew = 'join anew, with another --config-dir, by an invitation that another machine writes '
    + '(`sallyport machine invite NAME --to FILE`).'
  const isReplica = looseStateFile(files, placesOf(root).state)?.kept_in === 'place'
  if (!isReplica) return `The backup was made before the state was shared: ${anew}`
  // Rows name machines: with the folder of another one this one would be taken for it.
  return 'If this machine made the backup, copy its folder state to where `sallyport state path` '
    + `says. It is a replica, and follows the rest from the server. If not, ${anew}`
}

const isEmpty = ({ files, dir }: Site): boolean => {
  const facts = files.stat(dir)
  return facts === undefined || (facts.kind === 'dir' && files.list(dir).length === 0)
}

/** Throws `rejected` `backup_invalid` for a folder that no restore would take. Reads only. */
export const requireRestorable = (files: Files, backup: string): void => {
  readSource(files, backup)
}

const readSource = (files: Files, backup: string): Source => {
  const facts = verifyBackup(files, backup)
  const root = join(backup, 'state')
  const places = placesOf(root)
  const state = looseStateFile(files, places.state)
  if (state?.store_id !== facts.store_id) throw unusable()
  const found = salvage(files, places)
  const { standing } = found
  if (standing === undefined) throw unusable()
  const source = sourceOf(files, places, { ...found, standing }, facts)
  if (source.sequence !== facts.sequence || source.chain !== facts.chain) throw unusable()
  // Where its truth lay elsewhere, what is put back is a directory.
  return { ...source, root, state: { ...keptAt(state, undefined), format_version: formatVersion } }
}

type SourceRows = Omit<Source, 'root' | 'state'>

/** The files of a backup are taken over as they are. */
const sourceOf = (
  files: Files, places: Places, found: Salvage & { readonly standing: Trace }, facts: BackupFacts,
): SourceRows => {
  const { standing } = found
  const { manifest, head } = standing
  return {
    epoch: facts.epoch,
    marks: marksAfter(recordsOf(standing), manifest.marks),
    markFloor: manifest.mark_floor,
    ...head,
    write: (writer) => {
      const gathered = gather(files, places, found)
      try {
        const bad = badFiles(gathered)
        // A salvaged backup says itself that it lacks something; its raw copy tells what.
        if (bad.size > 0 && facts.loss === undefined) throw unusable()
        const runs = soundRuns(manifest.runs, bad, writer, (one) =>
          copySegment(files, places.segment(one.name), one, writer))
        const own = gathered.rows.over.sorted()
        if (own.length === 0) return runs
        return [{ id: manifest.next_run, level: 0, files: writer.writeAll(own) }, ...runs]
      } finally {
        gathered.rows.close()
      }
    },
  }
}

const copySegment = (
  files: Files, path: string, facts: SegmentFacts, writer: SegmentWriter,
): SegmentFacts => {
  const bytes = readWhole(files, path, facts.bytes)
  if (bytes === undefined) throw unusable()
  return writer.write({ bytes, facts })
}

const unusable = (): Error =>
  fail.rejected('backup_invalid', 'The backup does not hold a whole state.', {
    next: 'Use another backup.',
  })

const foundFrom = (
  site: Site, places: Places, source: Source,
  { epoch, floor, layout }: { epoch: number; floor: number; layout: Layout },
): void => {
  const { files, clock } = site
  const number = nextNumber(files, places)
  const writer = new SegmentWriter(files, places, number)
  const written = source.write(writer)
  const next = 1 + Math.max(0, ...written.map(({ id }) => id))
  // A copy of an earlier format has no indexes, and a salvaged one may have lost a part of them.
  const { runs, nextRun } = reindex(files, places, written, next, layout, writer)
  writer.whole(() => publishFounding(files, places, {
    state: source.state,
    number,
    epoch,
    sequence: source.sequence,
    chain: source.chain,
    marks: source.marks,
    markFloor: floor,
    format: formatVersion,
    nextRun,
    runs,
    nowMs: clock.wallMs(),
  }))
}

/** Entries of a backup that are copied as they are. */
const plainEntries = (files: Files, root: string): string[] =>
  files.list(root).filter((name) => !['wal', 'collections', 'STATE'].includes(name))

const placeFresh = (
  site: Site, source: Source, floorNow: () => number, layout: Layout,
): null => {
  const { files, dir } = site
  const parent = dirname(dir)
  ensureDirs(files, parent)
  sweepUnfinished(files, parent, site.clock.wallMs(), (path) => isOwnState(files, path))
  const made = unfinishedPlace(dir)
  makeWhole(files, { made, target: dir }, () => {
    fillFresh(site, source, made, { floorNow, layout })
  })
  return null
}

/** Everything of a restored state, durable, where nothing is yet. */
const fillFresh = (
  site: Site, source: Source, made: string,
  { floorNow, layout }: { readonly floorNow: () => number, readonly layout: Layout },
): void => {
  const { files } = site
  const places = placesOf(made)
  files.mkdir(made)
  for (const folder of [places.wal, places.collections, places.run]) files.mkdir(folder)
  for (const name of plainEntries(files, source.root)) {
    const from = join(source.root, name)
    if (name === 'artifacts') restoreArtifacts(files, from, join(made, name), undefined)
    else if (files.stat(from)?.kind === 'dir') copyTree(files, from, join(made, name))
    else copyFile(files, from, join(made, name))
  }
  if (files.stat(places.artifacts) === undefined) files.mkdir(places.artifacts)
  withFile(files, places.lock, 'lock', (fd) => files.sync(fd))
  publish(files, places.state, encodeStateFile(source.state))
  foundFrom(site, places, source, { epoch: source.epoch + 1, floor: floorNow(), layout })
}

/** Which store lies there: STATE says it, or where that is lost a manifest or a log. */
const storeAt = ({ files, places, dir }: Site): string | undefined => {
  const present = looseStateFile(files, places.state)
  if (present !== undefined) return present.store_id
  requireOwnFolders(files, dir)
  const told = [
    ...manifestNumbers(namesIn(files, places.collections))
      .map((number) => looseManifest(files, places.manifest(number))),
    ...logEpochs(namesIn(files, places.wal)).map((epoch) => headerIn(files, places.log(epoch))),
  ]
  return told.find((one) => one !== undefined)?.store_id
}

const placeOver = async (
  site: Site, source: Source, floorNow: () => number, layout: Layout,
): Promise<string> => {
  const { files, places, dir } = site
  // A folder of somebody: taking the lock would write into a file of that name.
  if (!isStateIn(files, places) && !isOwnState(files, dir)) refuseExisting(files, dir)
  const present = storeAt(site) ?? source.state.store_id
  if (present !== source.state.store_id) {
    throw fail.conflict('other_store', 'Another state lies at the place of the restore.', {
      next: 'Name another place with --state-dir.',
    })
  }
  return whileAlone(site, 'state restore', () =>
    placeLocked(site, source, floorNow(), layout))
}

const placeLocked = (site: Site, source: Source, floor: number, layout: Layout): string => {
  const { files, places, dir } = site
  requireOwnFolders(files, dir)
  ensureStateFolders(files, places)
  ensureDir(files, places.run)
  settleVouched(site)
  const aside = putAside(site, 'restore', (folder) => {
    for (const name of ['wal', 'collections']) {
      copyTree(files, join(dir, name), join(folder, name), isSnapshotName)
    }
    for (const name of ['STATE', 'witness.log']) {
      if (files.stat(join(dir, name)) === undefined) continue
      copyFile(files, join(dir, name), join(folder, name))
    }
  })
  for (const name of plainEntries(files, source.root)) {
    if (name === 'witness.log') restoreWitness(files, source.root, places)
    else if (name === 'artifacts') {
      restoreArtifacts(files, join(source.root, name), places.artifacts, aside)
    } else addMissing(files, join(source.root, name), join(dir, name))
  }
  unsettleFrom(source.root, dir, files)
  forgetArrivals(files, dir)
  publish(files, places.state, encodeStateFile(source.state))
  // The next number: whoever is open on the newest log looks for no other one.
  const epoch = (logEpochs(files.list(places.wal)).at(-1) ?? 0) + 1
  foundFrom(site, places, source, { epoch, floor, layout })
  return aside
}

/** A longer witness log that continues the backup's stays: it remembers what the backup forgot. */
const restoreWitness = (files: Files, root: string, places: Places): void => {
  const read = (path: string): Buffer =>
    readWhole(files, path, fileBytesMax.witness) ?? Buffer.alloc(0)
  const [saved, present] = [read(join(root, 'witness.log')), read(places.witness)]
  if (present.subarray(0, saved.length).equals(saved)) return
  publish(files, places.witness, saved)
}

/**
 * Artifacts are named by the SHA-256 of their bytes: one that is not there, or whose bytes are not
 * its name, comes from the backup; what stood in its place goes into the folder of copies. One
 * whose bytes in the backup are not its name is no copy of it and stays behind.
 */
const restoreArtifacts = (
  files: Files, from: string, to: string, aside: string | undefined,
): void => {
  ensureDirs(files, to)
  for (const name of filesBelow(files, from)) {
    const stored = basename(name)
    const target = join(to, name)
    const present = files.stat(target)
    const isSound = present?.kind === 'file' && digestFile(files, target).sha256 === stored
    if (isSound || digestFile(files, join(from, name)).sha256 !== stored) continue
    ensureDirs(files, dirname(target))
    if (present !== undefined && aside !== undefined) {
      files.rename(target, join(aside, `untrue-${stored}`))
      syncDir(files, aside)
    }
    placeCopy(files, join(from, name), target)
  }
}

/** Copies what is not there yet. */
const addMissing = (files: Files, from: string, to: string): void => {
  if (files.stat(from)?.kind === 'file') {
    if (files.stat(to) === undefined) placeCopy(files, from, to)
    return
  }
  ensureDirs(files, to)
  for (const name of filesBelow(files, from)) {
    const target = join(to, name)
    if (files.stat(target) !== undefined) continue
    ensureDirs(files, dirname(target))
    placeCopy(files, join(from, name), target)
  }
}

const rebase = async (options: RestoreOptions): Promise<AnchorStatus> => {
  // The old copy is in place by now: a stop may not keep it from coming into force revoked.
  const store = new FileStore({ ...options, signal: undefined, mode: 'write' })
  store.rebasing = true
  try {
    const { policyRevision: anchorPolicyRevision } = store.anchor()
    await options.afterRestore?.(store, { anchorPolicyRevision })
    return store.anchor().status
  } finally {
    store.close()
  }
}
