/**
 * A consistent copy of a state directory as a folder. The bulk (artifacts, snapshot files) is
 * copied without the lock; under the lock only what changed meanwhile, so that the lock is never
 * held across large copies. The key is not in it: a backup alone opens nothing.
 */
import { basename, dirname, join, resolve, sep } from 'node:path'
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { realOf } from '../../base/user-folders.js'
import { unsettledFolders } from './aside.js'
import { copyFile, digestFile, filesBelow } from './copy.js'
import { filesOf, type Directory } from '../directory.js'
import {
  ensureDirs, errnoOf, ioFailure, isTemporary, orIoFailure, publish, readWhole, removeFile,
  syncDir, namesIn, type Files,
} from '../files.js'
import { fileBytesMax } from '../limits.js'
import { manifestDigest, segmentsIn, type Manifest } from '../snapshot/manifest.js'
import type { Store, View, WitnessLog } from '../types.js'
import { removeUnfinished, sweepUnfinished, unfinishedPlace } from '../unfinished.js'
import { asideName } from './use-case.js'

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** Shape of `backup.json`, written last: a folder without it is no backup. */
const backupShape = v.strictObject({
  schema: v.literal('sallyport.backup.v1'),
  store_id: v.string(),
  created_at: v.string(),
  /** The newest log. */
  epoch: count,
  sequence: count,
  chain: sha,
  /** Every file below `state/`: relative path, bytes, SHA-256. */
  files: v.array(v.strictTuple([v.string(), count, sha])),
  /** Only in a salvaged backup: what was wrong with the state that it was made of. */
  loss: v.optional(v.strictObject({
    /** Codes of what was damaged. */
    damage: v.array(v.string()),
    /** Artifacts that are not in it: their bytes are not their name, or they are missing. */
    artifacts: v.array(sha),
  })),
})
export type BackupFacts = v.InferOutput<typeof backupShape>
/** What a salvaged backup lacks. */
export type BackupLoss = NonNullable<BackupFacts['loss']>

/** Top-level entries that are no part of a backup as they are. */
const leftOut = new Set(['run', 'lock', 'fold', 'aside'])

/** Folders whose files come and go beside the lock: local work, and requests that are kept. */
const clearedUnlocked = new Set(['stages', 'pending'])

/** Bytes of `backup.json`: canonical JSON, a space, its SHA-256. */
const encodeFacts = (facts: BackupFacts): Buffer => {
  const text = canonicalJson(facts)
  return Buffer.from(`${text} ${sha256Hex(text)}\n`)
}

/** Reads `backup.json`; `rejected`: `backup_missing` without a folder, else `backup_invalid`. */
const readBackupFacts = (files: Files, dir: string): BackupFacts => {
  if (files.stat(dir) === undefined) throw noBackup()
  const bytes = readWhole(files, join(dir, 'backup.json'), fileBytesMax.backup)
  const text = bytes?.toString('utf8', 0, Math.max(0, bytes.length - 66)) ?? ''
  const whole = bytes !== undefined && Buffer.from(`${text} ${sha256Hex(text)}\n`).equals(bytes)
  const parsed = whole ? v.safeParse(backupShape, JSON.parse(text)) : undefined
  if (parsed?.success !== true) throw invalidBackup()
  return parsed.output
}

const noBackup = (): Error =>
  fail.rejected('backup_missing', 'There is no folder at the place of the backup.', {
    next: 'Name the folder that `sallyport state backup DIR` made.',
  })

const invalidBackup = (): Error =>
  fail.rejected('backup_invalid', 'The folder is not a whole backup.', {
    next: 'Use another backup; `sallyport state backup DIR` makes one.',
  })

/** What a backup holds. */
export interface BackupReport {
  readonly to: string
  readonly store_id: string
  readonly sequence: number
  readonly files: number
  readonly bytes: number
  /** What a salvaged backup lacks; null for a whole one. */
  readonly loss: BackupLoss | null
}

interface BackupOptions {
  /** Copy what is left of a damaged state and write down what is lost, instead of refusing. */
  readonly salvage?: boolean
  /** Names of stored artifacts that the documents refer to: one that is missing is damage. */
  readonly referenced?: (view: View) => ReadonlySet<string>
  /** Whether the witness log has no line although the documents were witnessed. */
  readonly lacksWitness?: (view: View, witness: WitnessLog) => boolean
}

const inner = (path: string, root: string): boolean =>
  path === root || path.startsWith(root + sep)

/**
 * Copies a store (open for writing) into the new folder `to`, which must not exist. A damaged state
 * or artifact is refused (`damaged`), since a copy of what is left would look whole; with `salvage`
 * the copy says what it lacks, and beside what can be restored it holds the raw log and snapshots
 * as a former state, for a restore to look through.
 */
export const backupState = async (
  opened: Store, to: string, options: BackupOptions = {},
): Promise<BackupReport> => {
  // A replica has every record and artifact that it has followed.
  const store = filesOf(opened)
  const { files } = store
  const target = resolve(to)
  if (inner(target, store.dir) || inner(realOf(target), realOf(store.dir))) {
    throw fail.rejected('backup_inside', 'A backup cannot lie inside the state directory.')
  }
  if (orIoFailure('making a backup', () => files.stat(target)) !== undefined) {
    throw fail.conflict('backup_exists', 'There is something at the place of the backup.', {
      next: 'Name a folder that does not exist.',
    })
  }
  const made = unfinishedPlace(target)
  try {
    ensureDirs(files, dirname(target))
    const parent = dirname(target)
    sweepUnfinished(files, parent, store.clock.wallMs(), (path) => isBackup(files, path))
    files.mkdir(made)
    const facts = await store.withoutFolding('state backup', () => {
      const copy = new Copy(store, join(made, 'state'), options)
      copy.bulk()
      return store.exclusive('state backup', () => copy.finish())
    })
    publish(files, join(made, 'backup.json'), encodeFacts(facts))
    files.rename(made, target)
    syncDir(files, dirname(target))
    const bytes = facts.files.reduce((sum, [, size]) => sum + size, 0)
    const { store_id, sequence, loss = null } = facts
    return { to: target, store_id, sequence, files: facts.files.length, bytes, loss }
  } catch (error) {
    removeUnfinished(files, made)
    throw ioFailure(error, 'making a backup')
  }
}

const entriesOfBackup = new Set(['state', 'backup.json'])

const isBackup = (files: Files, path: string): boolean =>
  files.list(path).every((entry) => entriesOfBackup.has(entry) || isTemporary(entry))

const refused = (code: string, message: string): Error =>
  fail.damaged(code, `${message} A backup of it would look whole.`, {
    next: 'Run `sallyport state check`, then `sallyport state repair`; --salvage copies what is '
      + 'left and writes down what is lost.',
  })

class Copy {
  readonly #store: Directory
  readonly #to: string
  readonly #options: BackupOptions
  readonly #done = new Map<string, { readonly bytes: number; readonly sha256: string }>()
  readonly #damage = new Set<string>()
  readonly #lost = new Set<string>()

  constructor(store: Directory, to: string, options: BackupOptions) {
    this.#store = store
    this.#to = to
    this.#options = options
  }

  /** Notes damage of the state for the loss. Throws `damaged` unless what is left is wanted. */
  #note(code: string, message: string): void {
    if (this.#options.salvage !== true) throw refused(code, message)
    this.#damage.add(code)
  }

  #noteHealth(): void {
    const { damage } = this.#store.health()
    if (damage !== null) this.#note(damage.code, damage.message)
  }

  #noteArtifact(name: string): void {
    this.#note('artifact_damaged', 'A stored artifact is missing or does not match its name.')
    this.#lost.add(name)
  }

  /** Immutable files, as they are now; one that vanishes meanwhile is no longer needed. */
  bulk(): void {
    const { files } = this.#store
    files.mkdir(this.#to)
    this.#store.read()
    this.#noteHealth()
    for (const name of this.#immutable()) {
      try {
        this.#copy(name)
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT') throw error
      }
    }
  }

  /** Under the lock: what is new, what is gone, the log, and everything else. */
  finish(): BackupFacts {
    const { files, clock, generation } = this.#store
    this.#noteHealth()
    const wanted = new Set(this.#immutable())
    for (const name of [...this.#done.keys()]) {
      if (wanted.has(name)) continue
      removeFile(files, join(this.#to, name))
      this.#done.delete(name)
    }
    for (const name of wanted) if (!this.#done.has(name)) this.#copyOrNote(name)
    for (let epoch = generation.manifest.epoch + 1; epoch <= generation.epoch; epoch += 1) {
      const log = `wal/${this.#store.places.log(epoch).slice(-16)}`
      if (generation.log === undefined) continue
      this.#copy(log, epoch === generation.epoch ? generation.end : undefined)
    }
    for (const name of this.#others()) this.#copyIfThere(name)
    if (this.#lacksWitness()) this.#note('witness_missing', 'The witness log is missing.')
    this.#compare(generation.manifest)
    this.#compareReferences()
    if (this.#damage.size > 0) this.#copyRaw()
    this.#copyFormers()
    this.#syncFolders()
    const loss = { damage: [...this.#damage].sort(), artifacts: [...this.#lost].sort() }
    return {
      ...(this.#damage.size > 0 ? { loss } : {}),
      schema: 'sallyport.backup.v1',
      store_id: this.#store.storeId,
      created_at: isoFromMs(clock.wallMs()),
      epoch: generation.epoch,
      sequence: generation.sequence,
      chain: generation.chain,
      files: [...this.#done]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { bytes, sha256 }]) => [name, bytes, sha256]),
    }
  }

  #immutable(): string[] {
    const { files, places, generation } = this.#store
    const { manifest } = generation
    const names = segmentsIn(manifest).map(({ name }) => `collections/${name}`)
    names.push(places.manifest(manifest.number).slice(this.#store.dir.length + 1))
    for (const name of filesBelow(files, places.artifacts)) {
      if (!isTemporary(basename(name))) names.push(`artifacts/${name}`)
    }
    return names
  }

  /** STATE, the witness log, and folders that other layers keep. */
  #others(): string[] {
    const { files, dir } = this.#store
    const names: string[] = []
    for (const name of files.list(dir)) {
      if (leftOut.has(name) || ['wal', 'collections', 'artifacts'].includes(name)) continue
      const kind = files.stat(join(dir, name))?.kind
      if (kind === 'file') names.push(name)
      if (kind === 'dir') {
        names.push(...filesBelow(files, join(dir, name)).map((path) => `${name}/${path}`))
      }
    }
    return names.filter((name) => !isTemporary(basename(name)))
  }

  #copy(name: string, size?: number, as = name): void {
    const { files, dir } = this.#store
    const to = join(this.#to, as)
    ensureDirs(files, dirname(to))
    const copied = copyFile(files, join(dir, name), to, size)
    const [folder, , stored] = name.split('/')
    // An artifact's name is what its bytes must be; one that is not itself is no copy of it.
    if (folder === 'artifacts' && stored !== undefined && stored !== copied.sha256) {
      removeFile(files, to)
      this.#noteArtifact(stored)
      return
    }
    this.#done.set(as, copied)
  }

  /** Of a folder that others clear without the lock a file may be gone: it is needed no more. */
  #copyIfThere(name: string): void {
    try {
      this.#copy(name)
    } catch (error) {
      const isCleared = clearedUnlocked.has(name.split('/')[0] ?? '')
      if (!isCleared || errnoOf(error) !== 'ENOENT') throw error
    }
  }

  /**
   * A file that is gone although nobody could have removed it: the lock is held. An artifact whose
   * record was refused goes without the lock; one that is needed is missed by its reference.
   */
  #copyOrNote(name: string): void {
    try {
      this.#copy(name)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
      if (name.startsWith('artifacts/')) return
      this.#note('collection_missing', 'A file of the snapshot is missing.')
    }
  }

  /** Logs and snapshots as they lie there, as a former state that a restore looks through. */
  #copyRaw(): void {
    const to = `aside/${asideName('salvage', this.#store.clock)}`
    for (const folder of ['wal', 'collections']) this.#copyFolder(folder, `${to}/${folder}`)
  }

  /** The files of one folder, without what else lies there. */
  #copyFolder(from: string, to: string): void {
    const { files, dir } = this.#store
    for (const name of namesIn(files, join(dir, from))) {
      const isFile = files.stat(join(dir, from, name))?.kind === 'file'
      if (isFile && !isTemporary(name)) this.#copy(`${from}/${name}`, undefined, `${to}/${name}`)
    }
  }

  /**
   * Former states that a repair or a restore which was cut off has not carried over: a restore of
   * the backup does, or nobody would know there what they owed and which keys were spent.
   */
  #copyFormers(): void {
    const { files, dir } = this.#store
    if (this.#store.anchor().status === 'ok') return
    for (const path of unsettledFolders(dir, files)) {
      const at = `aside/${basename(path)}`
      for (const folder of [at, `${at}/wal`, `${at}/collections`]) this.#copyFolder(folder, folder)
    }
  }

  #referenced(): ReadonlySet<string> {
    try {
      return this.#options.referenced?.(this.#store.viewLocked()) ?? new Set()
    } catch (error) {
      if (!(error instanceof SallyportError) || error.kind !== 'damaged') throw error
      this.#note(error.code, error.message)
      return new Set()
    }
  }

  #lacksWitness(): boolean {
    const { witness } = this.#store
    if (!this.#done.has('witness.log')) return true
    // What the documents say counts only where they can be read.
    return this.#damage.size === 0
      && this.#options.lacksWitness?.(this.#store.viewLocked(), witness) === true
  }

  #compareReferences(): void {
    for (const name of this.#referenced()) {
      const isThere = this.#done.has(`artifacts/${name.slice(0, 2)}/${name}`)
      if (!isThere && !this.#lost.has(name)) this.#noteArtifact(name)
    }
  }

  #syncFolders(): void {
    const folders = new Set([...this.#done.keys()].map((name) => dirname(join(this.#to, name))))
    for (const folder of [...folders, this.#to]) syncDir(this.#store.files, folder)
  }

  /** The copied snapshot files must be the ones that the manifest names. */
  #compare(manifest: Manifest): void {
    const name = `collections/${this.#store.places.manifest(manifest.number).slice(-26)}`
    const same = this.#done.get(name)?.sha256 === manifestDigest(manifest)
    const whole = segmentsIn(manifest).every((facts) =>
      this.#done.get(`collections/${facts.name}`)?.sha256 === facts.sha256)
    if (!same || !whole) {
      this.#note('collection_damaged', 'A collection file does not match its hash.')
    }
  }
}

/** What `backup.json` says, and which files are not of the length and hash that it names. */
export const untrueInBackup = (
  files: Files, dir: string,
): { readonly facts: BackupFacts; readonly untrue: readonly string[] } => {
  const facts = readBackupFacts(files, dir)
  const untrue = facts.files.filter(([name, bytes, sha256]) => {
    const path = join(dir, 'state', name)
    if (!inner(path, join(dir, 'state')) || files.stat(path)?.kind !== 'file') return true
    const found = digestFile(files, path)
    return found.bytes !== bytes || found.sha256 !== sha256
  })
  return { facts, untrue: untrue.map(([name]) => name) }
}

/** Compares every file of a backup with its recorded length and hash. */
export const verifyBackup = (files: Files, dir: string): BackupFacts => {
  const { facts, untrue } = untrueInBackup(files, dir)
  if (untrue.length > 0) throw invalidBackup()
  return facts
}
