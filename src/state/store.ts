/**
 * The state directory as one process uses it.
 *
 * Invariants:
 * - A transaction is synchronous from the moment the lock is taken to the moment it is given back:
 *   catch up, run the caller's function, append a record, sync, effects, anchor, maybe checkpoint.
 * - Nothing is answered before its record is synced. After one failed write or sync this process
 *   writes no more (a second sync may report success for lost bytes); the next process replays.
 * - Readers never take the lock; they see whole, chained records only.
 */
import { resolve } from 'node:path'
import type { Clock } from '../base/clock.js'
import { isoFromMs, systemClock } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import { compareAnchor, readAnchor, writeAnchor } from './anchor.js'
import { artifactsAt } from './artifacts.js'
import { checkpoint, collectGarbage } from './snapshot/checkpoint.js'
import { createState } from './create.js'
import type { FileFacts, Files } from './files.js'
import { ioFailure, nodeFiles, publish, readRange, syncDir, writeAll } from './files.js'
import { requireOwnFolders } from './folders.js'
import type { Generation, PartCache } from './snapshot/generation.js'
import { KeyRing, openWith, readKey, sealWith } from './keys.js'
import { loadNewest } from './snapshot/load.js'
import type { LockMaker, StateLock } from './lock.js'
import { kernelStateLock, takeLock } from './lock.js'
import { encodeRecord, payloadBytesMax } from './log/format.js'
import type { KeyPlaces, Places } from './paths.js'
import { epochText, formatVersion, keyPlaces, placesOf } from './paths.js'
import { encodePayload } from './log/record.js'
import { PartMissing, missingPart, partNamesOf } from './snapshot/snapshot.js'
import type { Mark } from './snapshot/snapshot.js'
import type { StateFile } from './state-file.js'
import { profileSealText, readStateFile, tooNew } from './state-file.js'
import type {
  AnchorStatus, Artifacts, Problem, Store, StoreHealth, Tx, View, WitnessLog, WriteHookContext,
} from './types.js'
import { StoreTx, StoreView } from './view.js'
import { witnessAt } from './witness.js'
import { join } from 'node:path'

/** How to open a state directory. */
export interface OpenOptions {
  readonly dir: string
  readonly configDir: string
  /** `read` never takes the lock, changes no byte and loads no lock add-on. */
  readonly mode: 'read' | 'write'
  /** Milliseconds to wait for the lock (default 10,000). */
  readonly waitMs?: number
  readonly clock?: Clock
  /**
   * Run under the lock before the first transaction of this process, and again whenever another
   * process may have died between a marked record and its effects. Must be repeatable.
   */
  readonly onOpenForWrite?: readonly ((context: WriteHookContext) => void)[]
  readonly files?: Files
  readonly lock?: LockMaker
  /**
   * A process that wrote folds the log into snapshots when it closes the store and the log is past
   * this many bytes (default 1 MiB), or earlier when the log is past 32 times as much: a bulk
   * writer folds seldom, and the next one to open finds a short log.
   */
  readonly logBytesMax?: number
}

/** How to make a state directory. */
export interface CreateOptions extends Omit<OpenOptions, 'mode'> {
  /** Sealed for the life of the state directory. */
  readonly profile: Readonly<Record<string, unknown>>
}

const waitMsDefault = 10_000
const logBytesMaxDefault = 1024 * 1024
const bulkFactor = 32
const sealMagic = 'SPS1'
const tailTriesMax = 20
const tailPauseMs = 2
/** A log that nobody has touched for so long is not being written. */
const quietMsMin = 1000

/** Blocks this thread for some milliseconds: a reader met a record that is being written. */
const pause = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

const damageOf = (code: string, message: string): Problem => ({ code, severity: 'damage', message })

const refusedWrites = (damage: Problem): Error =>
  fail.damaged(damage.code, `${damage.message} Writes are refused.`, {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })

/** Behind `Store`, for the use cases of this folder (check, repair, compact, backup, restore). */
export class FileStore implements Store {
  readonly dir: string
  readonly places: Places
  readonly keyPlaces: KeyPlaces
  readonly files: Files
  readonly clock: Clock
  readonly state: StateFile
  readonly keys: KeyRing
  readonly artifacts: Artifacts
  readonly witness: WitnessLog
  readonly runDir: string
  readonly #options: OpenOptions
  readonly #cache: PartCache = new Map()
  #lock: StateLock | undefined
  readonly #notices: Problem[] = []
  #generation: Generation
  #loadDamage: Problem | null = null
  #partDamage: { readonly epoch: number; readonly problem: Problem } | undefined
  #poisoned = false
  #wrote = false
  #closed = false
  #hooksDue = true
  #checkpointFailed = false
  #logFd: { readonly fd: number; readonly generation: Generation } | undefined
  /** Set while a restore re-bases the anchor: marks then move it whatever it says. */
  rebasing = false

  constructor(options: OpenOptions) {
    this.#options = options
    this.dir = resolve(options.dir)
    this.places = placesOf(this.dir)
    this.files = options.files ?? nodeFiles
    this.clock = options.clock ?? systemClock
    try {
      this.state = readStateFile(this.files, this.places.state)
      this.keyPlaces = keyPlaces(resolve(options.configDir), this.state.store_id)
      this.keys = new KeyRing(this.storeId, () => readKey(this.files, this.keyPlaces.key))
      this.#generation = this.#load()
    } catch (error) {
      throw ioFailure(error, 'opening the state')
    }
    const writing = options.mode === 'write'
    this.artifacts = artifactsAt(
      this.files, this.places.artifacts, this.storeId, this.keys, writing)
    this.witness = witnessAt(this.files, this.places.witness)
    this.runDir = this.places.run
  }

  get storeId(): string {
    return this.state.store_id
  }

  get createdAt(): string {
    return this.state.created_at
  }

  get profile(): Readonly<Record<string, unknown>> {
    const { profile, profile_seal: seal } = this.state
    if (this.keys.hmac('profile', profileSealText(this.storeId, profile)) !== seal) {
      throw fail.damaged('profile_damaged', 'The sealed profile does not match its seal.', {
        next: 'Restore the state directory from a backup.',
      })
    }
    return profile
  }

  /** The generation this process stands on; for the use cases of this folder. */
  get generation(): Generation {
    return this.#generation
  }

  #load(): Generation {
    requireOwnFolders(this.files, this.dir)
    const { generation, damage } = loadNewest(
      this.files, this.places, this.#cache, this.storeId)
    this.#loadDamage = damage === undefined ? null : damageOf(damage.code, damage.message)
    refuseOtherFormat(generation.manifest.format_version)
    return generation
  }

  #reload(): void {
    const before = this.#generation
    const loaded = this.#load()
    before.close()
    this.#generation = loaded
    this.#hooksDue = true
    this.#forgetParts()
  }

  /** Why writes are refused at this moment, or null. */
  get #damage(): Problem | null {
    const { tail, epoch } = this.#generation
    if (this.#loadDamage !== null) return this.#loadDamage
    if (tail !== 'clean' && tail !== 'torn') return damageOf(`log_${tail}`, tailMessage(tail))
    return this.#partDamage?.epoch === epoch ? this.#partDamage.problem : null
  }

  /** Keeps only partitions that the generation still refers to. */
  #forgetParts(): void {
    const names = partNamesOf(this.#generation.manifest)
    for (const name of this.#cache.keys()) if (!names.has(name)) this.#cache.delete(name)
  }

  /** Reads what other processes have committed since. `locked`: nobody can be writing now. */
  #catchUp(locked: boolean): void {
    try {
      for (let tries = 0; ; tries += 1) {
        let facts = this.files.stat(this.#generation.logPath)
        if (this.#isStale(facts)) {
          this.#reload()
          facts = this.files.stat(this.#generation.logPath)
        }
        const { generation: now } = this
        if (now.readTail(facts?.size ?? now.end)) this.#hooksDue = true
        if (now.tail !== 'ambiguous' || locked || tries >= tailTriesMax) return
        // Without the lock this may be a record that is being written at this very moment.
        const quietMs = this.clock.wallMs() - (facts?.mtimeMs ?? 0)
        if (quietMs > quietMsMin) return
        pause(tailPauseMs)
      }
    } catch (error) {
      throw ioFailure(error, 'reading the log')
    }
  }

  /** Whether another generation has taken over, or the one before it had to stand in. */
  #isStale(facts: FileFacts | undefined): boolean {
    const { inode, end, nextLogPath } = this.#generation
    if (this.#loadDamage !== null || this.files.exists(nextLogPath)) return true
    return facts === undefined || facts.ino !== inode || facts.size < end
  }

  read(): View {
    this.#catchUp(false)
    return this.#view()
  }

  /** A view of this very moment, for callers that hold the lock. */
  viewLocked(): View {
    return this.#view()
  }

  #view(): StoreView {
    return new StoreView(this.#generation, {
      refresh: () => {
        this.#catchUp(false)
        return this.#generation
      },
      met: (error) => this.#met(error),
    })
  }

  async transact<T>(verb: string, fn: (tx: Tx) => T): Promise<T> {
    return this.exclusive(verb, () => {
      this.#refuseDamage()
      this.#runHooks()
      const tx = new StoreTx(this.#view())
      const result = fn(tx)
      if (typeof result === 'object' && result !== null && 'then' in result) {
        throw new TypeError('a transaction must not wait')
      }
      this.#commit(verb, tx)
      this.#maybeCheckpoint(bulkFactor * this.#logBytesMax)
      return result
    })
  }

  /** Runs `fn` under the lock, caught up with the log. For the use cases of this folder. */
  async exclusive<T>(verb: string, fn: () => T): Promise<T> {
    if (this.#options.mode !== 'write') {
      throw new TypeError('the store is open for reading only')
    }
    this.#refusePoisoned()
    try {
      await takeLock(this.#stateLock, verb, this.#options.waitMs ?? waitMsDefault, this.clock)
    } catch (error) {
      throw ioFailure(error, 'taking the lock')
    }
    try {
      this.#refusePoisoned()
      this.#catchUp(true)
      return fn()
    } finally {
      this.#stateLock.give()
    }
  }

  /** Made at the first transaction, so that readers never touch it. */
  get #stateLock(): StateLock {
    this.#lock ??= (this.#options.lock ?? kernelStateLock)(this.places.lock, this.clock)
    return this.#lock
  }

  #refusePoisoned(): void {
    if (!this.#poisoned) return
    throw fail.failed('store_poisoned', 'An earlier write failed; this process writes no more.', {
      next: 'Run the command again; it replays what is durable.',
    })
  }

  #refuseDamage(): void {
    if (this.#damage !== null) throw refusedWrites(this.#damage)
  }

  /** Remembers damage that a collection file turns out to have. */
  #met(error: SallyportError): SallyportError {
    if (['collection_damaged', 'collection_missing'].includes(error.code)) {
      const problem = damageOf(error.code, error.message)
      this.#partDamage = { epoch: this.#generation.epoch, problem }
    }
    return error
  }

  #runHooks(): void {
    if (!this.#hooksDue) return
    this.#completeAnchor()
    const view = this.#view()
    for (const hook of this.#options.onOpenForWrite ?? []) hook({ view, witness: this.witness })
    this.#hooksDue = false
  }

  /** A process died between a marked record and the anchor: move the anchor on. */
  #completeAnchor(): void {
    const { marks } = this.#generation
    const { oneAhead } = this.#compared(this.#anchored())
    const last = marks.at(-1)
    if (oneAhead && last !== undefined) this.#moveAnchor(last)
  }

  #anchored(): Mark | 'missing' | 'forged' {
    try {
      return readAnchor(this.files, this.keyPlaces.anchor, this.keys, this.storeId)
    } catch (error) {
      if (error instanceof SallyportError && error.code === 'key_missing') return 'missing'
      throw ioFailure(error, 'reading the anchor')
    }
  }

  #compared(anchored: Mark | 'missing' | 'forged'): ReturnType<typeof compareAnchor> {
    const { marks, manifest } = this.#generation
    return compareAnchor(anchored, marks, manifest.mark_floor)
  }

  #moveAnchor(mark: Mark): void {
    this.#orPoison('moving the anchor', () =>
      writeAnchor(this.files, this.keyPlaces.anchor, this.keys, this.storeId, mark))
  }

  #commit(verb: string, tx: StoreTx): void {
    const changes = tx.finish()
    const marked = tx.marked
    if (changes.length > 0 || marked !== undefined) {
      // Only an anchor that agreed before may move: a mismatch must not be healed by writing on.
      const moves = marked !== undefined && (this.rebasing || this.#anchorAgrees())
      const mark = marked === undefined ? undefined : this.#nextMark(marked.policyRevision)
      this.#append(verb, changes, mark)
      this.#effects(tx)
      const last = this.#generation.marks.at(-1)
      if (moves && last !== undefined) this.#moveAnchor(last)
    } else {
      this.#effects(tx)
    }
  }

  #effects(tx: StoreTx): void {
    try {
      for (const effect of tx.effects) effect()
    } catch (error) {
      this.#hooksDue = true
      throw error
    }
  }

  #anchorAgrees(): boolean {
    const { status, oneAhead } = this.#compared(this.#anchored())
    return status === 'ok' && !oneAhead
  }

  #nextMark(revision: number | undefined): { number: number; policy_revision: number | null } {
    const last = this.#generation.marks.at(-1)
    const number = Math.max(last?.number ?? 0, this.#generation.manifest.mark_floor) + 1
    return { number, policy_revision: revision ?? last?.policy_revision ?? null }
  }

  #append(
    verb: string, changes: ReturnType<StoreTx['finish']>,
    mark: { number: number; policy_revision: number | null } | undefined,
  ): void {
    const generation = this.#generation
    const at = isoFromMs(this.clock.wallMs())
    const encoded = encodePayload(at, verb, changes, mark)
    if (Buffer.byteLength(encoded.text) > payloadBytesMax) {
      throw fail.rejected('record_too_large', 'One transaction may write 16 MiB at most.', {
        details: { bytes_max: payloadBytesMax },
      })
    }
    const sequence = generation.sequence + 1
    const record = encodeRecord(generation.binding, sequence, generation.chain, encoded.text)
    const fd = this.#openLog()
    this.#cutTornTail(fd)
    this.#orPoison('writing the log', () => {
      writeAll(this.files, fd, record.bytes, generation.end)
      this.files.syncData(fd)
    })
    this.#wrote = true
    generation.applyOwn(sequence, record, changes, encoded, mark)
  }

  #openLog(): number {
    const generation = this.#generation
    if (this.#logFd?.generation === generation) return this.#logFd.fd
    if (this.#logFd !== undefined) this.files.close(this.#logFd.fd)
    this.#logFd = undefined
    try {
      const fd = this.files.open(generation.logPath, 'readwrite')
      this.#logFd = { fd, generation }
      return fd
    } catch (error) {
      throw ioFailure(error, 'opening the log')
    }
  }

  /** The last record was never acknowledged: keep its bytes aside, then cut it. */
  #cutTornTail(fd: number): void {
    const generation = this.#generation
    if (generation.tail !== 'torn') return
    const size = this.files.fstat(fd).size
    const bytes = readRange(this.files, fd, generation.end, size - generation.end)
    this.#orPoison('cutting a torn record', () => {
      if (this.files.stat(this.places.aside) === undefined) {
        this.files.mkdir(this.places.aside)
        syncDir(this.files, this.dir)
      }
      const name = `torn-${epochText(generation.epoch)}-${generation.end}-${this.clock.wallMs()}`
      publish(this.files, join(this.places.aside, name), bytes)
      this.files.truncate(fd, generation.end)
      this.files.sync(fd)
    })
    generation.tail = 'clean'
    this.#notices.push({
      code: 'torn_tail_cut',
      severity: 'notice',
      message: `A torn last record (${bytes.length} bytes, never acknowledged) was cut.`,
    })
  }

  #orPoison(what: string, fn: () => void): void {
    try {
      fn()
    } catch (error) {
      this.#poisoned = true
      throw ioFailure(error, what)
    }
  }

  #maybeCheckpoint(bytesMax: number): void {
    if (this.#checkpointFailed || this.#generation.end <= bytesMax) return
    try {
      this.checkpoint()
    } catch (error) {
      // The caller's record is durable; only the folding failed, and it is not tried again here.
      this.#checkpointFailed = true
      this.#notices.push({
        code: 'checkpoint_failed',
        severity: 'notice',
        message: 'The log could not be folded into snapshots; it goes on growing.',
        ...(error instanceof SallyportError ? { subject: error.code } : {}),
      })
    }
  }

  /** Folds the log into snapshots. The lock must be held, see `exclusive`. */
  checkpoint(): void {
    this.#refuseDamage()
    let committing = false
    try {
      checkpoint(this.files, this.places, this.#generation, this.clock.wallMs(), () => {
        committing = true
      })
      this.#reload()
      collectGarbage(this.files, this.places, this.#generation.epoch)
    } catch (error) {
      // Once the new log may be in place, nobody knows which of the two a crash would leave.
      if (committing) this.#poisoned = true
      if (error instanceof PartMissing) throw this.#met(missingPart())
      throw this.#met(ioFailure(error, 'folding the log'))
    }
  }

  seal(label: string, plaintext: Uint8Array): Buffer {
    const context = `${this.storeId}|${label}`
    return sealWith(this.keys.subkey(`seal/${label}`), sealMagic, context, plaintext)
  }

  unseal(label: string, sealed: Uint8Array): Buffer {
    const context = `${this.storeId}|${label}`
    const opened = openWith(this.keys.subkey(`seal/${label}`), sealMagic, context, sealed)
    if (opened === undefined) {
      throw fail.damaged('seal_broken', 'Sealed bytes do not open with this key and label.', {
        next: 'Run `sallyport state check`.',
      })
    }
    return opened
  }

  keyedDigest(label: string, data: Uint8Array): string {
    return this.keys.hmac(`digest/${label}`, data)
  }

  anchorStatus(): AnchorStatus {
    // The anchor is read before the log: it never runs ahead of the log, so what is read of it
    // cannot be newer than what the log then shows.
    for (let tries = 0; ; tries += 1) {
      const anchored = this.#anchored()
      this.read()
      const { status } = this.#compared(anchored)
      if (status !== 'forked' || tries >= 4) return status
    }
  }

  anchorPolicyRevision(): number {
    const anchored = this.#anchored()
    return typeof anchored === 'string' ? 0 : (anchored.policy_revision ?? 0)
  }

  health(): StoreHealth {
    return { damage: this.#damage, poisoned: this.#poisoned, notices: [...this.#notices] }
  }

  get #logBytesMax(): number {
    return this.#options.logBytesMax ?? logBytesMaxDefault
  }

  /** Folds a long log if the lock is free at once; what fails here is not the caller's concern. */
  #foldAtClose(): void {
    if (!this.#wrote || this.#poisoned || this.#generation.end <= this.#logBytesMax) return
    if (!this.#stateLock.tryTake('fold')) return
    try {
      this.#catchUp(true)
      if (this.#damage === null) this.#maybeCheckpoint(this.#logBytesMax)
    } finally {
      this.#stateLock.give()
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    try {
      this.#foldAtClose()
    } catch {
      // The log stays as it is; the next writer folds it.
    }
    this.#lock?.close()
    if (this.#logFd !== undefined) this.files.close(this.#logFd.fd)
    this.#logFd = undefined
    this.#generation.close()
  }
}

const refuseOtherFormat = (version: number): void => {
  if (version > formatVersion) throw tooNew(version)
  if (version === formatVersion) return
  throw fail.blocked('state_too_old', 'This state has an older format.', {
    next: 'Run `sallyport state repair`, which brings it to the present format.',
    details: { format_version: version, known: formatVersion },
  })
}

const tailMessage = (tail: string): string =>
  tail === 'ambiguous'
    ? 'The last record of the log is whole but untrue.'
    : tail === 'bad_payload'
      ? 'A record of the log holds something that no record may hold.'
      : 'A record in the middle of the log is damaged.'

/**
 * Opens a state directory. Cheap: reads STATE, the newest manifest and the log's tail; partitions,
 * the key and the lock add-on are loaded when first needed.
 * Errors: `no_state`; `damaged` (also `folder_replaced`); `blocked`/`state_too_new`.
 */
export const openStore = (options: OpenOptions): Store => new FileStore(options)

/** Makes a state directory (`conflict`/`state_exists` when something is there) and opens it. */
export const createStore = (options: CreateOptions): Store => {
  const { dir, configDir, profile } = options
  createState({
    dir: resolve(dir), configDir: resolve(configDir), profile,
    files: options.files ?? nodeFiles, nowMs: (options.clock ?? systemClock).wallMs(),
  })
  return new FileStore({ ...options, mode: 'write' })
}
