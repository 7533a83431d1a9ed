/**
 * What the state directory offers to the layers above. Everything is synchronous inside a
 * transaction, so that no lock is ever held across waiting; only taking the lock is awaited.
 */
import type { GenericSchema } from 'valibot'
import type { Clock } from '../base/clock.js'
import type { Holds, SendFence } from './holds/holds.js'
import type { StopBoard } from './stop-board.js'

/** What a row is found under beside its id: as many texts as its index has parts. */
export type IndexKey = readonly string[]

/**
 * A way to find the rows of a collection by something else than their ids. It is declared here and
 * nowhere else: transactions keep its entries in the record of the row, `state check` compares them
 * with the rows, and `state repair` makes them again.
 */
export interface Index<T> {
  /** One word; no other index of its collection has it. */
  readonly name: string
  /** How many texts a key has. */
  readonly parts: number
  /** Every key of a row; none where the index leaves it out. Pure. */
  keysOf(doc: T): readonly IndexKey[]
}

/** One collection of documents, keyed by text ids. */
export interface CollectionSpec<T> {
  readonly name: string
  /** Checked just before a document is written and right after it is read. */
  readonly schema: GenericSchema<T>
  /**
   * Gives a document that an earlier program wrote the shape of today, before it is checked; one of
   * today comes back as it is. Pure. On disk a document stays as it is until it is written again.
   */
  readonly upgrade?: (stored: unknown) => unknown
  /**
   * Whether the collection grows (`hash256`) or stays small (`one`). Records say it as 256 or 1;
   * nothing else follows from it.
   */
  readonly partition: 'one' | 'hash256'
  /** Its indexes; see `indexes.ts` for how they are read. */
  readonly indexes?: readonly Index<T>[]
}

/** Which documents of a collection are wanted, and in which order. */
export interface RangeOptions {
  /** Only ids that begin with this text. */
  readonly prefix?: string
  /** Only ids behind this one (before it, with `reverse`), which need not exist. */
  readonly after?: string
  /** At most so many. */
  readonly limit?: number
  /** From the highest id down. */
  readonly reverse?: boolean
}

/** How far a history goes: it changes only by an append. */
export interface HistoryHead {
  readonly entries: number
  /** Of all entries as canonical JSON, each with a line end. */
  readonly bytes: number
  /** Chained over them; lowercase hex. */
  readonly digest: string
}

/** An entry of a history as it is stored. */
export interface EntryRow<T> {
  /** Of this entry and all before it. */
  readonly digest: string
  readonly entry: T
}

/**
 * Append-only entries by key (one history for each key), made by `historySpec`. No transaction
 * replaces or removes one; its two collections are read like others and written by `Tx.append`.
 */
export interface HistorySpec<T> {
  readonly name: string
  readonly entry: GenericSchema<T>
  /** Of one key. */
  readonly entriesMax: number
  readonly bytesMax: number
  /** Ids are `<key>/<number, 6 digits>`, from 1. */
  readonly entries: CollectionSpec<EntryRow<T>>
  /** Ids are `<key>/`. */
  readonly heads: CollectionSpec<HistoryHead>
}

/** A document with its id. */
export interface Entry<T> {
  readonly id: string
  readonly doc: T
}

/**
 * A consistent view: the runs of a manifest plus the committed records of the logs after it. Takes
 * no lock, and never expires: its files are open. Documents are frozen: make a changed copy
 * (`{ ...doc, state: 'done' }`) and `put` it. A view is for one piece of work; take a new one with
 * `store.read()` rather than keeping it.
 */
export interface View {
  /** Sequence number of the last record in the view; 0 for a new store. */
  readonly sequence: number
  /**
   * One object for every view of the very same rows, and another one once anybody has written: for
   * `ofRows`. None in a transaction that has changed any: its own changes are seen too.
   */
  readonly rows?: object | undefined
  get<T>(spec: CollectionSpec<T>, id: string): T | undefined
  /**
   * What `get` gives for each of some ids, in their order. They are read in the order in which they
   * lie in the files, so that what several of them lie in is read once.
   */
  getMany<T>(spec: CollectionSpec<T>, ids: readonly string[]): readonly (T | undefined)[]
  /** Every document of the collection, ids ascending. */
  all<T>(spec: CollectionSpec<T>): readonly Entry<T>[]
  /** Some documents of the collection, by their ids; reads no more than it gives. */
  range<T>(spec: CollectionSpec<T>, options: RangeOptions): readonly Entry<T>[]
}

/** Marks a view of this moment, for the compiler alone. */
export declare const ofNow: unique symbol

/**
 * A view of this moment: whatever was recorded before it was asked for is in it. What lets
 * something leave is judged on such a view or in a transaction, which is one by itself, and on no
 * view that was read for something else before: between the two a revoke may have been recorded.
 */
export interface FreshView extends View { readonly [ofNow]: true }

/** A transaction under the lock. Reads see its own writes. */
export interface Tx extends FreshView {
  put<T>(spec: CollectionSpec<T>, id: string, doc: T): void
  remove<T>(spec: CollectionSpec<T>, id: string): void
  /**
   * Appends to the history of a key, which must still end at `expected` (compare-and-set); answers
   * how far it goes then. Refuses before it compares or writes: `blocked` `history_full` above a
   * limit. `conflict` `history_moved`; `blocked` `history_incomplete` where entries were lost.
   */
  append<T>(
    spec: HistorySpec<T>, key: string, expected: HistoryHead, entries: readonly T[],
  ): HistoryHead
  /**
   * Marks the record as one that an old copy of the store must not be able to forget (policy
   * publication, contact, whatever narrows or decides; never one that changes nothing): the
   * sealed anchor outside the store is moved to it and synced before `transact` answers.
   * `policyRevision` is kept in the anchor when given.
   */
  mark(facts?: { readonly policyRevision?: number }): void
  /**
   * Runs under the lock after the record is synced and before the anchor moves, for the witness
   * log. It must be repeatable: a crash before it is mended by `onOpenForWrite` hooks.
   */
  afterSync(effect: () => void): void
}

/** How the anchor outside the store compares with the store. */
export type AnchorStatus = 'ok' | 'behind' | 'forked' | 'missing' | 'forged'

/** One reading of the anchor. */
export interface AnchorComparison {
  readonly status: AnchorStatus
  /** Last policy revision that it knows of; 0 when it is missing or forged. */
  readonly policyRevision: number
  /** Where it stands; null when it is missing or forged. */
  readonly mark: AnchoredMark | null
  /** Whether the newest mark was being written into it; the next transaction writes it again. */
  readonly torn: boolean
  /** Whether the record of that mark is in this store's own history. */
  readonly isOwn: boolean
  /** The rows that it was compared with. */
  readonly view: View
}

/** The marked record that an anchor remembers. */
export interface AnchoredMark {
  readonly number: number
  readonly sequence: number
  readonly chain: string
}

/** What is known of a stored artifact; the bytes are sealed at rest. */
export interface ArtifactRef {
  /** SHA-256 of the stored (sealed) bytes: the file's name. */
  readonly stored_sha256: string
  /** SHA-256 of the plaintext. */
  readonly sha256: string
  readonly bytes: number
}

/** Names of a file that is being published: `temporary` until it is whole, `stored` behind that. */
export interface PublishedNames {
  readonly temporary: string
  readonly stored: string
}

/** Writes one content piece by piece. After an error, or its end, it can do nothing more. */
export interface StreamWriter {
  /** Bytes taken so far. */
  readonly bytes: number
  /** `rejected` `content_too_long` above the limit. */
  write(chunk: Uint8Array): void
  /**
   * Publishes; durable when it returns. `rejected` `content_differs` where length or digest are not
   * those `expected`: nothing is published then.
   */
  finish(expected?: { readonly sha256: string; readonly bytes: number }): ArtifactRef
  abandon(): void
}

/** Reads one content piece by piece; no byte is given before its piece was verified. */
export interface StreamReader {
  readonly bytes: number
  /** Pieces opened so far. */
  readonly opened: number
  /** The whole content; throws behind the last piece where the digest is another. */
  pieces(): Generator<Buffer>
  /** A part of it, clipped to its end; opens only the pieces that hold it. */
  range(from: number, length: number): Generator<Buffer>
  close(): void
}

/** A body of a pack. */
export interface PackBody {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

/** Writes many bodies into one file. After an error it can do nothing more. */
export interface PackWriter {
  /** Bytes of all bodies so far. */
  readonly bytes: number
  /** Adds a body; each name once. */
  add(name: string, body: Uint8Array | Iterable<Uint8Array>): PackBody
  /** Publishes; durable when it returns. `sha256` is the digest of the pack's index. */
  finish(): ArtifactRef
  abandon(): void
}

/** Reads bodies of a pack; each read opens only the piece that holds the body. */
export interface PackReader {
  /** In the order in which they were added. */
  readonly bodies: readonly PackBody[]
  /** Pieces opened so far. */
  readonly opened: number
  /** `not_found` `pack_body_not_found`. */
  read(name: string): Buffer
  /** The same in parts, for a body that is longer than a piece. */
  chunks(name: string): Generator<Buffer>
  /** Reads every body; throws `damaged`. */
  verify(): void
  close(): void
}

/** Sealed private content, addressed by the SHA-256 of its stored bytes. */
export interface Artifacts {
  /** Seals, writes, syncs and publishes without replacing; durable when it returns. `label` binds
   * the record type (HKDF subkey); opening needs the same label. `deterministic` derives nonce
   * and key from the plaintext's digest, so that equal content gives equal stored bytes: where the
   * name is taken, the bytes are compared, and other ones refuse it (`damaged`
   * `artifact_damaged`). No link is followed in any part of the path below the state directory. */
  write(
    label: string, plaintext: Uint8Array, options?: { readonly deterministic?: boolean },
  ): ArtifactRef
  /**
   * Begins a content that is sealed in pieces of 256 KiB while it comes, in memory or in a file
   * that has no name until `finish`: a process that dies leaves nothing. `announce` is told by
   * `finish` which names the file is about to get, before it has one: whoever keeps them can sweep
   * a publication that a dead process did not record.
   */
  writeStream(label: string, options?: {
    readonly bytesMax?: number
    readonly announce?: (names: PublishedNames) => void
  }): StreamWriter
  openStream(label: string, ref: ArtifactRef): StreamReader
  /** Begins a pack: many bodies in one file, in pieces of at most 4 MiB behind one index. */
  writePack(label: string): PackWriter
  openPack(label: string, ref: ArtifactRef): PackReader
  /** Opens all of an artifact of any kind, holding no more than a piece; throws as `read` does. */
  verify(label: string, ref: ArtifactRef): void
  /** Opens and verifies; throws `blocked`/`evidence_missing` or `damaged` errors. */
  read(label: string, ref: ArtifactRef): Buffer
  /** Removes one stored file (after the record that dropped it is durable). */
  remove(storedSha256: string): void
  /** Removes the temporary file that `announce` told, if there is one. */
  removeTemporary(name: string): void
  /** Names of all stored files. */
  list(): readonly string[]
}

/** The hash-chained witness file beside the log; the policy above gives its lines meaning. */
export interface WitnessLog {
  /** Every line, oldest first, without its line end; an absent file gives none. */
  lines(): readonly string[]
  /** Appends one line (no newline inside) and syncs it; call it under the lock (`afterSync`). A
   * torn last line, which was never acknowledged, is cut first. */
  append(line: string): void
  /** Whether the file ends in a line without its line end (not among `lines`). */
  torn(): boolean
}

/** Something that is not as it should be; texts name files, sequences and counts, no content. */
export interface Problem {
  /** Stable snake_case name. */
  readonly code: string
  /**
   * `damage` needs `state repair` or a backup; `blocked` forbids contact until a person acts;
   * `torn` is cut by the next write; `notice` is only worth knowing.
   */
  readonly severity: 'damage' | 'blocked' | 'torn' | 'notice'
  readonly message: string
  readonly subject?: string
}

/** When a transaction has its turn among those who wait for the lock. */
export interface Turn {
  /** Before all others, for what must stop things; else in the order of coming. */
  readonly first?: boolean
  /**
   * Guards and the lane that must still be this process's when the record comes to be. On one
   * machine the kernel sees to that; at a place a lease may have ended (`locked` `lease_lost`).
   */
  readonly under?: readonly object[]
}

/** How this process finds the store. */
export interface StoreHealth {
  /** Set: writes are refused with `damaged` until `state repair`. */
  readonly damage: Problem | null
  /** True after a failed write or sync: this process writes no more. */
  readonly poisoned: boolean
  /** What was mended or noticed, for people: a cut torn tail, a checkpoint that failed. */
  readonly notices: readonly Problem[]
}

/** What an `onOpenForWrite` hook gets; it runs under the lock, before the transaction. */
export interface WriteHookContext {
  readonly view: View
  readonly witness: WitnessLog
}

/** What has to be recorded before a process writes anything of its own. */
export interface FirstRecord {
  /** Its rows, in a record of its own. */
  write(tx: Tx): void
  /** Called under the lock when record and anchor are durable. */
  done(): void
}

/** An open state directory. */
export interface Store {
  /** Where its truth lies: what may be asked of a directory is in `directory.ts`. */
  readonly keptIn: 'directory' | 'place'
  readonly dir: string
  /**
   * Which of the machines that share a state this is: a UUID, or `first` for the one whose
   * directory it began as. Null where it is kept in a directory, and shared with nobody.
   */
  readonly machine: string | null
  readonly storeId: string
  /** By which its rows tell time: this machine's, or where the state is shared the place's. */
  readonly clock: Clock
  /** The deployment profile sealed at creation, plain JSON; upper layers give it its shape. */
  readonly profile: unknown
  readonly witness: WitnessLog
  /** Catches up with the log and returns a view; no lock, no byte changed. */
  read(): View
  /**
   * A view that has every record which was placed before this call, wherever the records lie; for
   * whoever decides by it whether something may leave, go on or be given out. Where they lie in
   * this directory that is what `read` gives. `fence`: one that is held; what was looked at behind
   * its taking, just before, is fresh for what leaves under it.
   */
  fresh(fence?: SendFence | null): Promise<FreshView>
  /**
   * As `read`, and what is put into it is seen in it and nowhere else: it is never written. For
   * whoever shows what a record would leave.
   */
  rehearse(): Tx
  /**
   * Takes the lock (bounded by `waitMs`), catches up, runs `fn`, writes one record, syncs it, runs
   * `afterSync` effects, moves the anchor when marked, then answers. A throwing `fn` writes
   * nothing;
   * an `fn` that puts nothing writes no record. `verb` names the holder for messages.
   */
  transact<T>(verb: string, fn: (tx: Tx) => T, turn?: Turn): Promise<T>
  /**
   * As `transact`, and from the begin of `fn` to its end no file is read: the rows that it asks for
   * are read before, without the lock, by running `fn` and dropping what it gives. It must do
   * nothing but read and change rows. `failed` `store_restless` where others fold all the while.
   */
  transactLoaded<T>(verb: string, fn: (tx: Tx) => T, turn?: Turn): Promise<T>
  readonly artifacts: Artifacts
  /** Keyed digest (HMAC-SHA-256, hex) under an HKDF subkey, for fingerprints of secrets. */
  keyedDigest(label: string, data: Uint8Array): string
  /** Opens the anchor once and compares it with the log as it is then. */
  anchor(): AnchorComparison
  /** When the state directory was made (ISO). */
  readonly createdAt: string
  /** `<state>/run`: session token and last use, lanes, guards; nothing that must survive. */
  readonly runDir: string
  /** What processes of this state hold while they live. */
  readonly holds: Holds
  /** Stops that wait to be recorded. */
  readonly stops: StopBoard
  health(): StoreHealth
  close(): void
}
