/**
 * Where the truth of a state that several machines share lies: a log of sealed records that grows
 * by compare-and-set, and beside it leases, fences, stops and blobs. A place is blind: every body
 * that it gets is sealed by the machine that gives it, and it learns sizes, times and names.
 *
 * Leases are rows with an end by the place's own clock, not locks of a connection: a pooled
 * connection, a restart and a lost link free nothing that may still be in use, and a machine that
 * died is waited for until its lease ends.
 */

/** The last record that a machine knows. */
export interface Position {
  readonly sequence: number
  /** HMAC over the chain behind that record: names a history without telling it; 32 bytes. */
  readonly link: Buffer
}

/** A record as the place keeps it. */
export interface PlacedRecord extends Position {
  /** Sealed payload; empty for the base record that a shared directory began at. */
  readonly body: Buffer
}

/** A live lease, as of one look. */
export interface LeaseRow {
  readonly name: string
  /** Id of the machine that has it; with more behind it where that is another holder of that id. */
  readonly machine: string
  /** Of this machine's own; null of those of others. */
  readonly token: string | null
}

/** A stop as it lies at the place. */
export interface StopRow {
  /** `stp_…`. */
  readonly id: string
  readonly body: Buffer
}

/** What one look at the place gives; records, leases and stops are of one and the same moment. */
export interface Followed {
  readonly records: readonly PlacedRecord[]
  /** Link of the very record that was looked behind; null where the place begins later. */
  readonly link: Buffer | null
  /** Whether there are more records behind those. */
  readonly more: boolean
  readonly leases: readonly LeaseRow[]
  readonly stops: readonly StopRow[]
  /** Wall clock of the place, ms since 1970. */
  readonly nowMs: number
  /** So long ago this machine was noted to be there (`noteSeen`), ms. */
  readonly seenAgoMs: number
}

/**
 * `placed`: record n+1 is this one; `moved`: another one is; `lease_lost`: one of the leases that
 * it was to be placed under is not ours any more, and nothing was placed.
 */
export type Appended = 'placed' | 'moved' | 'lease_lost'

/** How the fence of an operation is known to the place. */
export interface FenceRow {
  readonly operation: string
  /** As of a lease. */
  readonly machine: string
  /** True while a piece of its request may leave. */
  readonly taken: boolean
  /** Whether its operation has ended. */
  readonly closed: boolean
  /** Sealed facts as of the last time it was given back. */
  readonly facts: Buffer
}

/** What a fence is taken by. */
export interface FenceTaking {
  readonly operation: string
  readonly facts: Buffer
  /** A new UUID each time that it is taken. */
  readonly turn: string
  /** Tokens of leases without which nothing may leave. */
  readonly under: readonly string[]
}

/** What is known of a machine. */
export interface MachineRow {
  /** UUID, made when it joined. */
  readonly machine: string
  readonly name: string
  /** ISO moments by the place's clock. */
  readonly joined: string
  readonly seen: string
  readonly retired: string | null
  /** The last record that it was known to have. */
  readonly sequence: number
}

/** What a machine that was retired still has, and nobody can take from it. */
export interface LeftUnderWay {
  /** Names of guards that it has, or whose request it may be sending; sorted. */
  readonly operations: readonly string[]
  /** By the place's clock (ISO), when the last of its leases ends; null where it has none. */
  readonly until: string | null
}

/** What a machine says of itself whenever it connects. */
export interface Introduction {
  readonly machine: string
  /** See `writes.ts`: a program that writes less than the store has seen is refused. */
  readonly writes: number
  /**
   * Names the very directory, so that a copy of it elsewhere does not take what is held for that of
   * a dead process of its own; at most 32 letters and digits, none where there is but one.
   */
  readonly holder?: string
  /** The last record that it has; left out: none. */
  readonly known?: () => number
}

/** How the place can be reached, for people. */
export interface PlaceFacts {
  /** For example `PostgreSQL 18.4`. */
  readonly server: string
  /** For example `TLSv1.3`; null on loopback without TLS. */
  readonly tls: string | null
  /** Round trip, ms. */
  readonly awayMs: number
  /** Wall clock of the place minus ours, ms. */
  readonly clockApartMs: number
  /** Standbys that are connected: whether a commit waits for one. */
  readonly standby: 'none' | 'asynchronous' | 'synchronous' | 'unknown'
  readonly sequence: number
  /** As of `Standing`. */
  readonly link: Buffer | null
}

/** What a new store begins with at the place. */
export interface Founding {
  readonly format: number
  readonly writes: number
  readonly machine: { readonly machine: string; readonly name: string }
  /** The record that the directory stands at; its body names what lies before it. */
  readonly at: PlacedRecord
}

/** How far a machine had come when it heard of a server that it does not know. */
export interface Voucher extends Position {
  readonly machine: string
  /** Whether the server has another record of that number. */
  readonly isOther: boolean
}

/** What is asked of a server that may be another one than the store rests on. */
export interface Standing {
  /** Whether it is another run: a promoted standby, or a copy that was started. */
  readonly isChanged: boolean
  readonly last: PlacedRecord
  /** Link of the record of the number that was asked for; null where there is none. */
  readonly link: Buffer | null
  /** Of this run of the server. */
  readonly vouchers: readonly Voucher[]
  readonly machines: readonly MachineRow[]
}

/**
 * The contract. Every function may throw `locked` `place_unreachable` (nothing is known to have
 * come to be, unless said), `blocked` `machine_retired`, `conflict` `server_changed` (another run
 * of the server than the one that the store rests on: a promotion or a restored image) and
 * `blocked` `state_too_new`. One connection a process, made at first use and made anew when lost.
 */
export interface Place {
  /** For example `db.example/sallyport`: host and database, for people. */
  readonly name: string
  /** Records behind a position, at most `limit` of them, with everything else of that moment. */
  follow(after: number, limit: number): Promise<Followed>
  /**
   * Puts `record` behind `at` where that is the last one, and renews the leases `under` (their
   * tokens) in the same statement. Gives the same bytes again after a lost answer; `partial`
   * `commit_unknown` where nobody answers then either.
   */
  append(at: Position, record: PlacedRecord, under: readonly string[]): Promise<Appended>
  /**
   * Takes a lease that nobody has, whose time is over or that this machine has left from a process
   * that died; gives its token, or null. `ahead`: not while a lease of such a beginning is live.
   */
  take(name: string, ms: number, ahead?: readonly string[]): Promise<string | null>
  /** Renews leases by their tokens; those that were lost are left out of the answer. */
  renew(tokens: readonly string[], ms: number): Promise<readonly string[]>
  /** Gives leases back. One that is not ours any more is left alone. */
  release(tokens: readonly string[]): Promise<void>
  /**
   * Notes that a piece of a request is about to leave, renews the leases that it is taken under,
   * and follows behind that: two statements, the first committed before the second begins to look.
   * Taken once more it stays taken, by the later turn. `locked` `lease_lost` where a lease that it
   * is taken under is not ours any more, and `failed` `fence_lost` where the operation was ended by
   * others.
   */
  takeFence(taking: FenceTaking, after: number, limit: number): Promise<Followed>
  /**
   * Notes what had left, and whether the operation has ended. What was said of an earlier turn and
   * arrives late opens nothing that was taken since.
   */
  giveFence(operation: string, facts: Buffer, turn: string, closed: boolean): Promise<void>
  /**
   * Fences that are taken, that belong to an operation whose guard somebody has now, or that were
   * given or closed since the moment of a stop: since `moment`, where `putStop` told it, because
   * who records a stop takes it away, and it may be carried here again later.
   */
  fencesSince(stop: string, moment?: string): Promise<readonly FenceRow[]>
  /** Gives the moment since which it lies there, by the place's clock. */
  putStop(id: string, body: Buffer): Promise<string>
  dropStop(id: string): Promise<void>
  /** Which of some blobs do not lie there with their bytes, whose SHA-256 is their name. */
  untrueBlobs(names: readonly string[]): Promise<readonly string[]>
  /** Which of some blobs lie there whole. */
  hasBlobs(names: readonly string[]): Promise<readonly string[]>
  /** Puts a blob, in pieces or in one; one that is there whole already stays as it is. */
  putBlob(name: string, pieces: Buffer | AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>
  /** Pieces of a blob in order; none where it is not there whole. */
  getBlob(name: string): AsyncIterable<Buffer>
  removeBlobs(names: readonly string[]): Promise<void>
  /** Names of blobs that have lain there for a day, behind a name, in order; none that is kept. */
  oldBlobs(after: string, limit: number): Promise<readonly string[]>
  /** Has a blob that no row names stay until it is removed by its name: see `oldBlobs`. */
  keepBlob(name: string): Promise<void>
  /** Every machine, retired ones among them, in the order of their joining. */
  machines(): Promise<readonly MachineRow[]>
  /**
   * Whether it was not there before; told so, too, where an answer was lost. `conflict`
   * `machine_name_taken` where a machine that is not retired has the name.
   */
  join(machine: { readonly machine: string; readonly name: string }): Promise<boolean>
  /**
   * Retires a machine: nothing of it is placed from now on and it renews nothing. What it has is
   * not freed, because it may still be sending: its leases run out, and a fence that it had taken
   * stays so for one lease. Tells what that is, also when it is asked again.
   */
  retire(machine: string): Promise<LeftUnderWay>
  /** Notes how far this machine has come and that it was here. */
  noteSeen(sequence: number): Promise<void>
  /** Makes tables, where they are missing, and the store. `conflict` `store_exists`. */
  found(founding: Founding): Promise<void>
  facts(known?: number): Promise<PlaceFacts>
  /**
   * Says how the server stands, also one that is not known; `known`: the number of a record.
   * `server_changed` `left` of one that this machine has left.
   */
  standing(known?: number): Promise<Standing>
  /**
   * Says to a server that is not known how far this machine has come. One that lost the joining of
   * this machine has it again. `conflict` `machine_name_taken` where another one has its name now.
   */
  vouch(at: Position, name: string): Promise<void>
  /**
   * Makes a server known, and gives it back the records behind `last` that it lost. Machines that
   * were `retired` are so from then on, and `stops` lie there for whoever looks first. The lane is
   * kept for one lease, since whoever had it may still have a request open: it is `nobody`'s, and
   * until it ends nobody takes work of another machine for dead, whose leases may be lost there.
   * `moved`: its last record is another one by now. Given twice it counts as accepted.
   */
  accept(
    last: Position, lost: readonly PlacedRecord[], retired?: readonly string[],
    stops?: readonly StopRow[],
  ): Promise<'accepted' | 'moved'>
  /**
   * Ends the store here, where its last record is the one that this machine stands at: nothing is
   * placed any more, by no machine (`blocked` `state_unshared`). `moved`: another one is. The
   * machine that ended it may say it again; any other one is told `state_unshared`. Gives the stops
   * that lie there: none comes behind them.
   */
  end(at: Position): Promise<readonly StopRow[] | 'moved'>
  /** Ends the connection once what was asked has been answered. Further use connects anew. */
  close(): Promise<void>
}

/** Whose the lane is behind an accept. */
export const nobody = '00000000-0000-0000-0000-000000000000'

/** How long a lease is kept without a word of its holder: the longest request and 30 s more. */
const leaseMs = 150_000
/** How long one question to the place may take. */
const patienceMs = 10_000

/** Times of a place, ms; tests of the program shorten them (see `test/entry.ts`). */
export const placeTimes = {
  leaseMs, patienceMs,
  /** Where the place's clock cannot be told that exactly nothing is sent (`clock_apart`). */
  clockWithinMs: 2_000,
}
