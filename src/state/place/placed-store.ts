/**
 * A state whose truth lies at a place. This machine keeps a replica, the directory with all its
 * files, and every record goes to the place before it comes to be here:
 *
 * - a transaction runs over the rows that are known here, its record is placed by compare-and-set
 *   behind the last one, and where another machine was first it is followed and the function runs
 *   again; a refusal, or no change, counts only over rows that were followed first;
 * - reading asks nobody: `read` gives what is known here; `fresh` follows first;
 * - nothing is held while the place is asked: the lock of the replica is taken to write what the
 *   place already has.
 */
import { fail, SallyportError } from '../../base/errors.js'
import { replicaForked, type Proposal, type TakenRecord } from '../commit.js'
import type { FileStore, OpenOptions } from '../file-store.js'
import { orIoFailure } from '../files.js'
import { firstMachine } from '../first-machine.js'
import { lockWaits, stoppedError } from '../lock.js'
import { requireOwnKey } from '../own-key.js'
import type { SendFence } from '../holds/holds.js'
import type {
  AnchorComparison, ArtifactRef, Artifacts, FreshView, Store, StoreHealth, Turn, Tx, View,
  WitnessLog,
} from '../types.js'
import { parsePlaceAddress } from './address.js'
import { artifactsOfBase, baseOf, takeBase } from './base.js'
import {
  endForked, isBehind, isForked, requireNotBehind, stopBehind, stopForked, stoppedBehind,
} from './behind.js'
import { noteEnd, noteSaying } from './closings.js'
import { leaseLost, notHereYet, otherHistory } from './errors.js'
import type { HeadStart } from './head-start-shape.js'
import { heardApartMs, heardAtMs, noteHeard } from './heard.js'
import { holderOf } from './holder.js'
import type { KnownRun } from './known-run.js'
import { lazyPlace } from './lazy-place.js'
import { Leases } from './leases.js'
import { placeTimes, type Followed, type LeaseRow, type Place, type PlacedRecord } from './place.js'
import { PlaceClock } from './place-clock.js'
import { PlacedFence } from './placed-fence.js'
import { placeFileStamp, readPlaceFile, writePlaceFile, type PlaceSettings } from './place-file.js'
import { BlobTraffic, placedArtifacts } from './placed-artifacts.js'
import { PlacedHolds } from './placed-holds.js'
import { PlacedStops } from './placed-stops.js'
import { RecordSeal, type LogEnd } from './record-seal.js'
import { writesVersion } from './writes.js'

/** Records that one look brings at most. */
const followLimit = 2_000
/** Whether another process of this machine has the lock of the directory. */
const isWait = (error: unknown): boolean =>
  error instanceof SallyportError && lockWaits.includes(error.code)

/** A machine is noted to have been there no oftener, ms. */
const seenEveryMs = 60_000

/** Longest pause before a transaction is tried again that another machine was faster than, ms. */
const retryPauseMs = 20

const restless = (): Error =>
  fail.locked('place_restless', 'Other machines write faster than this one gets its turn.', {
    next: 'Nothing was written. Try again, or wait longer with --wait SECONDS.',
  })

const clockApart = (): Error =>
  fail.rejected('clock_apart', 'The clock of the server cannot be compared from here.', {
    next: 'Nothing was sent: its answers take too long. Try again when the way there is faster.',
    details: { told_within_ms_max: placeTimes.clockWithinMs },
  })

/** So often the clock of the place is asked for: the first answer may wait for a connection. */
const clockLooks = 3

/** A look at leases: what it saw, and up to which record it covers. */
interface Known {
  readonly sequence: number
  readonly leases: readonly LeaseRow[]
}

/** See above. */
export class PlacedStore implements Store {
  readonly keptIn = 'place'
  readonly replica: FileStore
  readonly artifacts: Artifacts
  readonly stops: PlacedStops
  readonly holds: PlacedHolds
  /** What rows call this machine. */
  readonly machine: string
  readonly seal: RecordSeal
  readonly blobs: BlobTraffic
  readonly clock: PlaceClock
  readonly #options: OpenOptions
  readonly #leases: Leases
  #settings: PlaceSettings | undefined
  #place: Place | undefined
  #known: Known | undefined
  /** Ends when everything that was begun before has ended: transactions go one by one. */
  #line: Promise<unknown> = Promise.resolve()
  #hasCarried = false
  readonly #openedMs: number
  /** Whether it is time to have it noted that this machine was there. */
  #isUnseen = false
  #closed = false

  constructor(replica: FileStore, options: OpenOptions) {
    this.replica = replica
    this.#options = options
    this.#place = options.place
    this.#openedMs = replica.clock.monotonicMs()
    this.machine = replica.state.machine ?? firstMachine
    this.clock = new PlaceClock(replica.clock, heardApartMs(replica.runDir))
    this.seal = new RecordSeal(replica.keys, replica.storeId)
    const place = (): Place => this.place
    this.blobs = new BlobTraffic({ files: replica.files, dir: replica.places.artifacts, place })
    this.artifacts = placedArtifacts(replica.artifacts, this.blobs)
    this.stops = new PlacedStops(replica.stops, this.seal, place)
    this.#leases = new Leases(place)
    this.holds = new PlacedHolds({
      dir: replica.dir, local: replica.holds, leases: this.#leases, seal: this.seal,
      stops: this.stops, place, machine: () => this.settings.machine,
      known: () => this.#leasesNow(),
      taking: (taking) => this.#follow((...from) => this.place.takeFence(taking, ...from)),
    })
  }

  /** Takes stored files away from the place, whose rows are durably gone. */
  dropStored(names: readonly string[]): Promise<void> {
    return this.blobs.remove(names)
  }

  /** The same of whatever lies there and nothing names: an earlier try was cut off, or failed. */
  sweepStored(referenced: (view: View) => ReadonlySet<string>): Promise<number> {
    return this.blobs.sweep(async () =>
      new Set([...referenced(await this.fresh()), ...await this.#baseNames()]))
  }

  /** The pack that a shared directory began with there, by the first record: no row names it. */
  async #baseNames(): Promise<readonly string[]> {
    const { records: [first] } = await this.place.follow(0, 1)
    const opened = first === undefined
      ? undefined : this.seal.openFor('base', this.storeId, first.body)
    return opened === undefined ? [] : [baseOf(opened).stored_sha256]
  }

  /** How the place is reached. Throws as `readPlaceFile` does. */
  get settings(): PlaceSettings {
    const { files, keyPlaces, keys, storeId } = this.replica
    this.#settings ??= readPlaceFile(files, keyPlaces.dir, keys, storeId)
    return this.#settings
  }

  /** The place; nothing is connected before it is asked. */
  get place(): Place {
    if (this.#place === undefined) {
      const { address, ca, password, machine } = this.settings
      this.#place = lazyPlace({
        address: parsePlaceAddress(address, ca), ca, password, storeId: this.storeId,
        clock: this.replica.clock,
        machine: {
          machine, writes: writesVersion, holder: this.#holder(),
          known: () => this.replica.end.sequence,
        },
        run: this.#knownRun(),
      })
    }
    return this.#place
  }

  /** A copy of a directory has another file there, and a copy of a machine is another run of it. */
  #holder(): string {
    const { files, places } = this.replica
    const facts = orIoFailure('finding the lock', () => files.stat(places.lock))
    return facts === undefined ? '' : holderOf(facts)
  }

  /**
   * Kept beside the key, and read anew where another process of this machine has gone on elsewhere;
   * who only reads remembers it no longer than this.
   */
  #knownRun(): KnownRun {
    const { replica: { files, keyPlaces, keys, storeId } } = this
    let read = placeFileStamp(files, keyPlaces.dir, storeId)
    const settings = (): PlaceSettings => {
      const stamp = placeFileStamp(files, keyPlaces.dir, storeId)
      // Without one the state was taken back: its place says so.
      if (stamp !== null && stamp !== read) {
        this.#settings = readPlaceFile(files, keyPlaces.dir, keys, storeId)
        read = stamp
      }
      return this.settings
    }
    return {
      known: () => settings().run ?? null,
      note: (run) => {
        this.#settings = { ...settings(), run }
        if (this.#options.mode === 'read') return
        writePlaceFile(files, keyPlaces.dir, keys, storeId, this.#settings)
        read = placeFileStamp(files, keyPlaces.dir, storeId)
      },
    }
  }

  get dir(): string {
    return this.replica.dir
  }

  get storeId(): string {
    return this.replica.storeId
  }

  get profile(): unknown {
    return this.replica.profile
  }

  get createdAt(): string {
    return this.replica.createdAt
  }

  get runDir(): string {
    return this.replica.runDir
  }

  get witness(): WitnessLog {
    return this.replica.witness
  }

  /** When the place was heard last, ms since 1970 by our clock; null where it never was. */
  get heardAtMs(): number | null {
    return heardAtMs(this.runDir)
  }

  read(): View {
    return this.replica.read()
  }

  rehearse(): Tx {
    return this.replica.rehearse()
  }

  keyedDigest(label: string, data: Uint8Array): string {
    return this.replica.keyedDigest(label, data)
  }

  anchor(): AnchorComparison {
    return this.replica.anchor()
  }

  health(): StoreHealth {
    return this.replica.health()
  }

  async fresh(fence: SendFence | null = null): Promise<FreshView> {
    if (fence instanceof PlacedFence && fence.isHere) await fence.lookAgain()
    else await this.#follow()
    return this.replica.read() as FreshView
  }

  /** Leases of a look behind which no record has come to be known here; null otherwise. */
  #leasesNow(): readonly LeaseRow[] | null {
    const known = this.#known
    return known !== undefined && known.sequence >= this.replica.end.sequence ? known.leases : null
  }

  /** Takes in everything that was placed before this call; `first`: what brings the first look. */
  async #follow(first?: Place['follow']): Promise<void> {
    const { clock } = this.replica
    this.replica.read()
    let look = first
    for (let looks = 0; ;) {
      const end = this.replica.end
      const [wallMs, beganMs] = [clock.wallMs(), clock.monotonicMs()]
      const seen = await this.#heeded(() => this.#look(end, look))
      look = undefined
      this.clock.hear(seen.nowMs, wallMs, wallMs + clock.monotonicMs() - beganMs)
      this.stops.heard(seen.stops)
      const last = seen.records.at(-1)
      // A long answer tells little of the time: it is asked for anew, with nothing to bring.
      if (last === undefined) looks += 1
      if (last !== undefined && await this.#takeBase(seen.records[0], end.sequence)) continue
      if (last !== undefined) {
        const opened = await this.#heeded(async () =>
          this.seal.open(seen.records, end, this.replica.generation.binding))
        await this.blobs.fetch(opened.map(({ payload }) => payload))
        await this.replica.takeIn('follow', opened)
      }
      if (seen.more || (!this.clock.isTold && looks < clockLooks)) continue
      if (!this.clock.isTold) throw clockApart()
      this.#known = { sequence: last?.sequence ?? end.sequence, leases: seen.leases }
      await this.#noticeLost()
      noteHeard(this.runDir, clock.wallMs(), this.clock.apartMs)
      this.#isUnseen = seen.seenAgoMs >= seenEveryMs
      // Whoever is soon done says it then, when nobody waits for the answer of anything.
      if (clock.monotonicMs() - this.#openedMs >= seenEveryMs) this.#saySeen()
      break
    }
    await this.#carry()
  }

  /** Has it noted that this machine was there, and how far it has come, where it is time. */
  async noteSeen(): Promise<void> {
    if (!this.#isUnseen) return
    await this.place.noteSeen(this.replica.end.sequence)
    this.#isUnseen = false
  }

  #saySeen(): void {
    if (this.#isUnseen) void noteSaying(this.place, () => this.noteSeen())
  }

  /**
   * Throws `server_changed` `other_history` where the last record known here is another there, and
   * `damaged` `replica_forked` where it has more that it does not give.
   */
  async #look({ sequence, chain }: LogEnd, how = this.place.follow): Promise<Followed> {
    const seen = await how(sequence, followLimit).catch(async (error: unknown) => {
      if (!isBehind(error)) throw error
      // A server that was put back may have lost that this machine joined, and that alone.
      const { machine, machineName: name } = this.settings
      await this.place.join({ machine, name })
      return how(sequence, followLimit)
    })
    if (seen.link?.equals(this.seal.link(chain)) === false) {
      // Under another key no link is the expected one, and nobody has to be stopped for that.
      requireOwnKey(this)
      throw otherHistory()
    }
    // Asked again it would say the same: nobody would ever come to an end.
    if (seen.more && seen.records.length === 0) throw replicaForked()
    return seen
  }

  /** Asks the place; where it lacks what is known here everything is stopped for all. */
  async #heeded<T>(work: () => Promise<T>): Promise<T> {
    const { sequence } = this.replica.end
    try {
      return await work()
    } catch (error) {
      if (isBehind(error) || isForked(error)) await this.#stopLacking(sequence, isForked(error))
      throw error
    }
  }

  async #stopLacking(sequence: number, isOther: boolean): Promise<void> {
    const { clock, stops, settings: { machine } } = this
    const isSaid = stoppedBehind(stops, machine)
    if (isOther) await stopForked(stops, machine, clock.wallMs())
    else await stopBehind(stops, { sequence, machine }, clock.wallMs())
    if (isSaid) return
    try {
      await this.retireAnew()
    } catch (error) {
      // It is done once more where the server is accepted.
      if (!(error instanceof SallyportError)) throw error
    }
  }

  /** Ids of machines that records known here say were retired. */
  get retired(): readonly string[] {
    return this.#options.retired?.(this.replica.read()) ?? []
  }

  /** Retires whom records say were retired: a server that was put back may have lost that. */
  async retireAnew(): Promise<void> {
    const known = new Set(this.retired)
    if (known.size === 0) return
    for (const { machine, retired } of await this.place.machines()) {
      if (retired === null && known.has(machine)) await this.place.retire(machine)
    }
  }

  /**
   * An anchor that seals a later mark than there is at the place had seen what is lost there;
   * perhaps others have gone on without.
   */
  async #noticeLost(): Promise<void> {
    const { replica, clock, settings: { machine } } = this
    const { mark, status } = replica.anchor()
    const last = replica.generation.marks.at(-1)?.number ?? 0
    if (status === 'forked') return stopForked(this.stops, machine, clock.wallMs())
    if (mark === null || mark.number <= last) {
      const { sequence } = replica.end
      return endForked(this.stops, { sequence, machine }, clock.wallMs())
    }
    const sequence = Math.max(mark.sequence, replica.end.sequence + 1)
    await stopBehind(this.stops, { sequence, machine }, clock.wallMs())
  }

  /**
   * A state that was a directory before begins at the place with all that it had: a replica that
   * has nothing takes that over. Whether it did.
   */
  async #takeBase(first: PlacedRecord | undefined, end: number): Promise<boolean> {
    const opened = end > 0 || first === undefined
      ? undefined : this.seal.openFor('base', this.storeId, first.body)
    if (opened === undefined) return false
    const ref = baseOf(opened)
    await this.blobs.fetchNamed([ref.stored_sha256])
    await this.#beginWith(ref)
    return true
  }

  async #beginWith(ref: ArtifactRef): Promise<void> {
    await this.blobs.fetchNamed(artifactsOfBase(this.replica, ref))
    await takeBase(this.replica, ref)
  }

  /**
   * Begins a replica that holds nothing with the files of another one. Where the place has no such
   * record, or not those files, nothing is begun: every record is followed then.
   */
  async beginAt({ sequence, link, ...ref }: HeadStart): Promise<void> {
    const { artifacts } = this.replica
    const { records: [record] } = await this.place.follow(sequence - 1, 1)
    if (record?.sequence !== sequence || record.link.toString('hex') !== link) return
    if (!await this.blobs.fetchNamed([ref.stored_sha256])) return
    try {
      await this.#beginWith(ref)
    } finally {
      artifacts.remove(ref.stored_sha256)
    }
  }

  /**
   * What was stopped here while nobody could be reached is in force everywhere from now on, and
   * what a process of this machine was sending when it died is not under way any more.
   */
  async #carry(): Promise<void> {
    if (this.#hasCarried && this.stops.isInReach()) return
    await this.stops.carryAll()
    await this.holds.endDead()
    this.#hasCarried = true
  }

  /** Whether this process's knowledge of leases covers every record that it may judge. */
  get #covers(): boolean {
    this.replica.read()
    return this.#leasesNow() !== null
  }

  async transact<T>(verb: string, fn: (tx: Tx) => T, turn: Turn = {}): Promise<T> {
    return this.#inLine(async () => {
      if (!this.#covers) await this.#follow()
      requireNotBehind(this.stops, this.replica.end.sequence)
      await this.#recordFirst()
      return this.#placed(verb, fn, turn)
    })
  }

  transactLoaded<T>(verb: string, fn: (tx: Tx) => T, turn: Turn = {}): Promise<T> {
    // No lock is held while the function runs, so nothing has to be read before.
    return this.transact(verb, fn, turn)
  }

  async #inLine<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(work, work)
    this.#line = turn.catch(() => undefined)
    return turn
  }

  /** What waits to be recorded, in a record before the caller's. */
  async #recordFirst(): Promise<void> {
    const first = this.#options.recordFirst?.(this) ?? null
    if (first === null) return
    await this.#placed('stops', (tx) => first.write(tx), {})
    first.done()
  }

  async #placed<T>(verb: string, fn: (tx: Tx) => T, { under = [] }: Turn): Promise<T> {
    const { clock } = this.replica
    const { signal: stop, waitMs = placeTimes.patienceMs } = this.#options
    // A stop that was asked for before ends no wait, as with the lock of a directory: what is
    // recorded behind it is what came of something that may have left.
    const signal = stop?.aborted === true ? undefined : stop
    const until = clock.monotonicMs() + waitMs
    let isFresh = false
    for (let tries = 1; ; tries += 1) {
      const proposal = await this.#proposed(verb, fn, isFresh)
      const done = proposal !== null && await this.#place1(verb, proposal, under, isFresh)
      if (done) return proposal.result
      if (tries > 1 && clock.monotonicMs() >= until) throw restless()
      if (tries > 2) await this.#pause(signal)
      await this.#follow()
      isFresh = true
    }
  }

  /** Lets others go first. */
  async #pause(signal: AbortSignal | undefined): Promise<void> {
    await this.replica.clock.sleep(Math.random() * retryPauseMs, signal)
      .catch((cause: unknown) => {
        throw signal?.aborted === true ? stoppedError(cause) : cause
      })
  }

  /** What the transaction comes to; null for a refusal over rows that were not followed. */
  async #proposed<T>(
    verb: string, fn: (tx: Tx) => T, isFresh: boolean,
  ): Promise<Proposal<T> | null> {
    try {
      return this.replica.propose(verb, fn)
    } catch (error) {
      if (isFresh) throw error
      return null
    }
  }

  /** Places a record and takes it in; false where it has to be made again over newer rows. */
  async #place1<T>(
    verb: string, { record, effects }: Proposal<T>, under: readonly object[], isFresh: boolean,
  ): Promise<boolean> {
    if (record === null) {
      if (isFresh) await this.replica.takeIn(verb, [], effects)
      return isFresh
    }
    await this.blobs.bring(record.payload)
    const at = { sequence: record.sequence - 1, link: this.seal.link(record.before) }
    const answer = await this.#heeded(() => this.place.append(
      at, this.seal.seal(record, record.before), this.#leases.tokensOf(under)))
    if (answer === 'lease_lost') throw leaseLost()
    if (answer === 'moved') return false
    await this.#takePlaced(verb, record, effects)
    const known = this.#known
    // Nobody placed anything between: what was known of leases still covers every other record.
    if (known?.sequence === record.sequence - 1) {
      this.#known = { ...known, sequence: record.sequence }
    }
    return true
  }

  /**
   * Takes in what was placed by this process. It is in force: whoever said that it could not be
   * written would have it written twice. So the lock of this directory is waited for once more, and
   * what else fails here (a full disk) is told as what is not known yet.
   */
  async #takePlaced(
    verb: string, record: TakenRecord, effects: Proposal<unknown>['effects'],
  ): Promise<void> {
    const { clock } = this.replica
    const until = clock.monotonicMs() + placeTimes.patienceMs
    for (;;) {
      try {
        return await this.replica.takeIn(verb, [record], effects)
      } catch (error) {
        if (!isWait(error) || clock.monotonicMs() >= until) throw notHereYet(error)
      }
      await clock.sleep(Math.random() * retryPauseMs)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.replica.close()
    if (this.#place === undefined) return
    this.#leases.close()
    this.#saySeen()
    noteEnd(this.#place)
  }
}
