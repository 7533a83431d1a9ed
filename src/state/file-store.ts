/**
 * The state directory as one process uses it: reading, sealing, closing. Writing is `commit.ts`.
 * Readers never take the lock; they see whole, chained records only.
 */
import { resolve } from 'node:path'
import { systemClock, type Clock } from '../base/clock.js'
import { fail } from '../base/errors.js'
import { anchorAt, compareAnchor, sameMark, type Anchor } from './anchor.js'
import type { Reading } from './anchor-slots.js'
import type { Mark } from './snapshot/manifest.js'
import { artifactsAt } from './artifacts.js'
import { Committer, type Proposal, type TakenRecord } from './commit.js'
import type { Directory } from './directory.js'
import { ioFailure, nodeFiles, orIoFailure, publish, readWhole, type Files } from './files.js'
import { Follower } from './follow.js'
import { holdsAt, type Holds } from './holds/holds.js'
import { KeyRing, readKey } from './keys.js'
import { fileBytesMax } from './limits.js'
import { kernelStateLock, type LockMaker } from './lock.js'
import type { Place } from './place/place.js'
import { keyPlaces, placesOf, type KeyPlaces, type Places } from './paths.js'
import type { FoldOptions } from './snapshot/fold.js'
import { freezeDeep, type Generation } from './snapshot/generation.js'
import {
  decodeStateFile, encodeStateFile, keptAt, profileSealText, readStateFile, type StateFile,
} from './state-file.js'
import type { StopBoard } from './stop-board.js'
import { stopsAt } from './stop-folder.js'
import type {
  AnchorComparison, Artifacts, FirstRecord, FreshView, Store, StoreHealth, Turn, Tx, View,
  WitnessLog, WriteHookContext,
} from './types.js'
import { StoreTx } from './view.js'
import { witnessAt } from './witness.js'

/** How to open a state directory. */
export interface OpenOptions {
  readonly dir: string
  readonly configDir: string
  /** `read` never takes the lock, changes no byte and loads no lock add-on. */
  readonly mode: 'read' | 'write'
  /** Milliseconds to wait for the lock (default 10,000). */
  readonly waitMs?: number
  /** Its abort ends a wait for the lock (`cancelled`/`lock_wait_stopped`), see `LockWait`. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock
  /**
   * Run under the lock before the first transaction of this process, and again whenever another
   * process may have died between a marked record and its effects. Must be repeatable.
   */
  readonly onOpenForWrite?: readonly ((context: WriteHookContext) => void)[]
  /**
   * What has to be recorded before this process writes anything of its own, asked under the lock
   * before every transaction: null for nothing. It gets a record of its own.
   */
  readonly recordFirst?: (store: Store) => FirstRecord | null
  readonly files?: Files
  readonly lock?: LockMaker
  /**
   * A process that wrote begins a new log and folds the one before when it closes the store and the
   * log is past this many bytes (default 256 KiB), or earlier when it is past 32 times as much: a
   * bulk writer folds seldom, and the next one to open finds a short log.
   */
  readonly logBytesMax?: number
  /** False: this process begins no new log and folds none (default true). */
  readonly folds?: boolean
  /** True: it does so at its close although only others wrote, for a process that keeps house. */
  readonly foldsForOthers?: boolean
  /** Bytes of streams that may lie in memory until they are published (default 16 MiB). */
  readonly heldBytes?: number
  /** Bytes of blocks that are kept in memory; whoever reads everything once needs few. */
  readonly cachedBytes?: number
  /**
   * False: a read never waits for a record that is being written; the last whole one serves, and
   * what the log ends in is told once it has been so for a second (default true: it waits up to
   * 40 ms, so that whoever looks once is told at once).
   */
  readonly readsWait?: boolean
  /**
   * Of a replica: ids of machines that its records say were retired. A server that was put back may
   * have lost that.
   */
  readonly retired?: (view: View) => readonly string[]
  /**
   * Of a replica: run under the lock behind each marked record that another machine has placed,
   * before the anchor moves. Must be repeatable.
   */
  readonly onFollowed?: (context: WriteHookContext) => void
  /** Of a replica: its place, in place of the one that its file names. */
  readonly place?: Place
}

const waitMsDefault = 10_000
const logBytesMaxDefault = 256 * 1024
/** A replica folds seldom: what a server lost is given back out of the records in its log. */
const logBytesMaxOfReplica = 8 * 1024 * 1024

/** A store whose truth is the directory that it was opened from. */
export class FileStore implements Directory {
  readonly keptIn = 'directory'
  readonly machine = null
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
  readonly stops: StopBoard
  readonly holds: Holds
  readonly #mode: 'read' | 'write'
  readonly #anchor: Anchor
  readonly #follower: Follower
  readonly #committer: Committer
  /** Once its seal was compared; it was read when the store was opened. */
  #profile: Readonly<Record<string, unknown>> | undefined
  #closed = false
  #keptIn: StateFile['kept_in']

  constructor(options: OpenOptions) {
    this.#mode = options.mode
    this.dir = resolve(options.dir)
    this.places = placesOf(this.dir)
    this.files = options.files ?? nodeFiles
    this.clock = options.clock ?? systemClock
    const { dir, places, files, clock } = this
    try {
      this.state = readStateFile(files, places.state)
      this.#keptIn = this.state.kept_in
      this.keyPlaces = keyPlaces(resolve(options.configDir), this.storeId)
      this.keys = new KeyRing(this.storeId, () => readKey(files, this.keyPlaces.key))
      this.#follower = new Follower({
        files, clock, dir, places, storeId: this.storeId, cachedBytes: options.cachedBytes,
        readsWait: options.readsWait, onReload: () => this.#requireKept(),
      })
    } catch (error) {
      throw ioFailure(error, 'opening the state')
    }
    this.artifacts = artifactsAt(files, places.artifacts, this.storeId, this.keys, {
      mayWrite: options.mode === 'write', heldBytes: options.heldBytes,
    })
    this.witness = witnessAt(files, places.witness)
    this.runDir = places.run
    this.holds = holdsAt(dir)
    this.stops = stopsAt(this.keyPlaces.stops)
    this.#anchor = anchorAt(files, this.keyPlaces.anchor, this.keys, this.storeId)
    this.#committer = new Committer({
      dir, places, keyPlaces: this.keyPlaces, files, clock,
      follower: this.#follower,
      anchor: this.#anchor,
      witness: this.witness,
      lock: options.lock ?? kernelStateLock,
      waitMs: options.waitMs ?? waitMsDefault,
      signal: options.signal,
      logBytesMax: options.logBytesMax
        ?? (this.state.kept_in === 'place' ? logBytesMaxOfReplica : logBytesMaxDefault),
      folds: options.folds ?? true,
      foldsForOthers: options.foldsForOthers ?? false,
      hooks: options.onOpenForWrite ?? [],
      first: () => options.recordFirst?.(this) ?? null,
      onFollowed: options.onFollowed ?? (() => undefined),
    })
  }

  get storeId(): string {
    return this.state.store_id
  }

  get createdAt(): string {
    return this.state.created_at
  }

  get profile(): Readonly<Record<string, unknown>> {
    this.#profile ??= this.#openProfile()
    return this.#profile
  }

  #openProfile(): Readonly<Record<string, unknown>> {
    const { profile, profile_seal: seal } = this.state
    if (this.keys.hmac('profile', profileSealText(this.storeId, profile)) !== seal) {
      throw fail.damaged('profile_damaged', 'The sealed profile does not match its seal.', {
        next: 'Restore the state directory from a backup.',
      })
    }
    freezeDeep(profile)
    return profile
  }

  /** The generation this process stands on; for the use cases of this folder. */
  get generation(): Generation {
    return this.#follower.generation
  }

  get rebasing(): boolean {
    return this.#committer.rebasing
  }

  set rebasing(rebasing: boolean) {
    this.#committer.rebasing = rebasing
  }

  read(): View {
    this.#follower.catchUp(false)
    return this.#follower.view()
  }

  fresh(): Promise<FreshView> {
    // One directory has one log, and whatever was acknowledged can be read in it.
    return Promise.resolve(this.read() as FreshView)
  }

  rehearse(): Tx {
    this.#follower.catchUp(false)
    return new StoreTx(this.#follower.view())
  }

  /** A view of this very moment, for callers that hold the lock. */
  viewLocked(): View {
    return this.#follower.view()
  }

  async transact<T>(verb: string, fn: (tx: Tx) => T, turn?: Turn): Promise<T> {
    this.#refuseReading()
    return this.#committer.transact(verb, fn, turn)
  }

  async transactLoaded<T>(verb: string, fn: (tx: Tx) => T, turn?: Turn): Promise<T> {
    this.#refuseReading()
    return this.#committer.transactLoaded(verb, fn, turn)
  }

  /**
   * Decides where the truth lies. STATE says it first, then a new log begins, at which every
   * process that has the directory open reads STATE anew. The lock must be held.
   */
  keepIn(keptIn: StateFile['kept_in']): void {
    orIoFailure('writing the state file', () =>
      publish(this.files, this.places.state, encodeStateFile(keptAt(this.state, keptIn))))
    this.#keptIn = keptIn
    this.#committer.rotate()
  }

  /** A process that opened the directory before it was shared, or taken back, writes no more. */
  #requireKept(): void {
    const bytes = readWhole(this.files, this.places.state, fileBytesMax.state)
    const now = bytes === undefined ? undefined : decodeStateFile(bytes)
    if (now === undefined || now.kept_in === this.#keptIn) return
    throw fail.conflict('state_moved', 'This state was shared, or taken back, meanwhile.', {
      next: 'Run it again: it is opened where the state is kept now.',
    })
  }

  /** Reads the newest generation anew, whose files were replaced. The lock must be held. */
  reload(): void {
    this.#follower.reload()
  }

  /** Where the log ends that this process has read. */
  get end(): { readonly sequence: number; readonly chain: string } {
    const { sequence, chain } = this.#follower.generation
    return { sequence, chain }
  }

  propose<T>(verb: string, fn: (tx: Tx) => T): Proposal<T> {
    this.#refuseReading()
    return this.#committer.propose(verb, fn)
  }

  async takeIn(
    verb: string, records: readonly TakenRecord[], effects: readonly (() => void)[] = [],
  ): Promise<void> {
    this.#refuseReading()
    await this.#committer.takeIn(verb, records, effects)
  }

  /** Keeps at most so many bytes of blocks in memory from now on. */
  keepAtMost(bytes: number): void {
    this.#follower.keepAtMost(bytes)
  }

  /** Runs `fn` under the lock, caught up with the log. For the use cases of this folder. */
  async exclusive<T>(verb: string, fn: () => T): Promise<T> {
    this.#refuseReading()
    return this.#committer.exclusive(verb, fn)
  }

  /** Runs `fn` while nobody folds. For the use cases of this folder. */
  async withoutFolding<T>(verb: string, fn: () => Promise<T>): Promise<T> {
    this.#refuseReading()
    return this.#committer.withoutFolding(verb, fn)
  }

  #refuseReading(): void {
    if (this.#mode !== 'write') throw new TypeError('the store is open for reading only')
  }

  /** Begins a new log and folds the one before. The lock must be held, see `exclusive`. */
  checkpoint(): void {
    this.#committer.checkpoint()
  }

  /** Begins a new log. The lock must be held, see `exclusive`. */
  rotate(): void {
    this.#committer.rotate()
  }

  /** Folds all sealed logs and merges every run into one, once nobody else folds. */
  async mergeAll(verb: string): Promise<void> {
    await this.#committer.mergeAll(verb)
  }

  /** Folds sealed logs and merges; no lock is needed. True when nothing is left to do. */
  fold(options: FoldOptions): boolean {
    return this.#committer.fold(options)
  }

  keyedDigest(label: string, data: Uint8Array): string {
    return this.keys.hmac(`digest/${label}`, data)
  }

  anchor(): AnchorComparison {
    // The anchor is read before the log: it never runs ahead of the log, so what is read of it
    // cannot be newer than what the log then shows. It may be older: while others write marks, only
    // an anchor that nobody has moved since says that the two went on apart, and two slots that
    // were read while one and then the other was written may both be in pieces.
    let anchored = this.#anchor.read()
    for (;;) {
      const view = this.read()
      const { marks, manifest } = this.generation
      const { status } = compareAnchor(anchored, marks, manifest.mark_floor)
      const before = anchored
      if (status === 'forked' || status === 'forged') anchored = this.#anchor.read()
      if (!sameMark(before, anchored)) continue
      return { status, ...standingOf(status === 'forged' ? status : anchored, marks), view }
    }
  }

  health(): StoreHealth {
    const { poisoned, notices } = this.#committer
    const { damage, notice } = this.#follower
    return { damage, poisoned, notices: notice === null ? [...notices] : [...notices, notice] }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#committer.close()
    this.#anchor.close()
    this.#follower.close()
  }
}

const standingOf = (
  anchored: Reading, marks: readonly Mark[],
): Omit<AnchorComparison, 'status' | 'view'> => {
  if (typeof anchored === 'string') {
    return { policyRevision: 0, mark: null, isOwn: false, torn: false }
  }
  // It is one of the newest, if any.
  const isOwn = marks.findLast(({ number, chain }) =>
    number === anchored.number && chain === anchored.chain) !== undefined
  const { torn, ...mark } = anchored
  return { policyRevision: mark.policy_revision ?? 0, mark, isOwn, torn }
}
