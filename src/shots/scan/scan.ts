/**
 * One scan of an image folder: walk, sort out what is known, read the rest once, decide and write
 * in batches, write a receipt. Several scans may work off one walk (`Pass`). It only ever reads the
 * folder, opens no socket and calls no model (S-146, S-194). A tick that finds nothing new writes
 * no durable byte.
 */
import { isoWithin } from '../../base/calendar.js'
import { isoFromMs } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { afterEarlierCall } from '../analysis/earlier-call.js'
import type { ShotsContext } from '../context.js'
import { currentFacts } from '../observations/as-of-now.js'
import { folderRow } from '../observations/observation-store.js'
import { transactCounted } from '../locked.js'
import { appendReceipt } from '../receipts/append.js'
import type { ShotReceipt } from '../receipts/receipt-rows.js'
import type { ScanFacts, ScanReceipt, SmallChangesTold } from '../receipts/scan.js'
import type { ResolvedFolder } from '../source/folder.js'
import { takeFolder } from '../source/folder-machine.js'
import { shotCollections as c, type ShotFolder } from '../observations/observation-rows.js'
import { ignorableOf, toldOf } from '../observations/small-changes.js'
import { ignoredOf } from '../source/ignored.js'
import { ingestSettings, savedSettings, type IngestSettings } from '../source/settings.js'
import { writeBatch, type BatchRules } from './commit.js'
import { Confirmer } from './confirm.js'
import { Intake, settleMs, type IntakeEnd, type IntakeWorld, type Waiting } from './intake.js'
import { bindingOf, dropKnownIndex, hidesOthers, writeKnownIndex } from './known-index.js'
import { writeLastTick } from './last-tick.js'
import { fileNameOf } from './names.js'
import { newImageStatus } from './new-status.js'
import { openPass, type OpenPass, type ScanOptions } from './open-pass.js'
import type { Pass } from './pass.js'
import {
  emptyTally, scannedOf, tallyDeferred, tallyFiles, tallyKnown, type Tally,
} from './tally.js'
import type { Examiner, TakenFile } from './types.js'
import { mountOf } from './unmounted.js'
import { Unconfirmed } from './unconfirmed.js'

const job = 'screenshot_folder_ingest'

/** Codes of failures after which a batch is degraded and the rest is left for a later pass. */
const degrades = (error: unknown): error is SallyportError =>
  error instanceof SallyportError && (error.kind === 'locked' || error.kind === 'failed')

/** What a record left. */
interface Written {
  readonly tally: Tally
  readonly receipt: ShotReceipt | null
  /** Where images changed little; null where none did. */
  readonly small: SmallChangesTold | null
  /** For after the record is durable. */
  readonly after: () => void
}

/** One scan under way. */
class Scan {
  readonly #startedMs: number
  #tally: Tally = emptyTally
  #receipt: ShotReceipt | null = null
  #small: SmallChangesTold | null = null
  #confirmer: Confirmer | null = null
  /** Why no more can be written. */
  #failure: SallyportError | null = null
  #read = 0
  /** Files that it will read, as far as that is known at its beginning. */
  #of = 0
  readonly limit: number
  readonly view: View

  constructor(
    readonly ctx: ShotsContext, readonly resolved: ResolvedFolder,
    readonly settings: IngestSettings, readonly options: ScanOptions, readonly pass: Pass,
  ) {
    this.#startedMs = ctx.gov.clock.monotonicMs()
    this.view = ctx.gov.store.read()
    this.limit = options.limit ?? settings.ingestLimit.value
    this.#tally = tallyKnown(this.#tally, pass.knownCount)
    this.#tally = tallyFiles(this.#tally, Array.from(pass.listing.unreadable, (name) => ({
      name: fileNameOf(name), outcome: 'deferred', reason: 'file_unreadable', isProblem: true,
    })))
  }

  async run(): Promise<ScanReceipt> {
    if (this.pass.waiting > 0) await this.#takeIn()
    else if (!this.#isSettled()) await this.#write([])
    await this.ctx.gov.observer.at('scan.written')
    this.#keepForNextTick()
    await this.ctx.gov.observer.at('scan.done')
    return this.#receiptOf()
  }

  /** Nothing was found and the folder's row already says that its last scan was good. */
  #isSettled(): boolean {
    return this.view.get(c.folders, this.resolved.folderDigest)?.last_scan?.status === 'ok'
  }

  async #takeIn(): Promise<void> {
    const { gov } = this.ctx
    const { folder, folderDigest } = this.resolved
    const { examiner } = this.pass
    this.pass.begin()
    this.#confirmer = new Confirmer({
      folder, folderDigest, refreshMs: this.#refreshMs(), view: this.view, store: gov.store,
      ignored: ignoredOf(this.settings.saved.ignore), examiner, nowMs: () => gov.clock.wallMs(),
    })
    const world = this.#intakeWorld(examiner, this.#confirmer)
    await this.#finish(await new Intake(world, this.limit).run(this.#waiting()))
  }

  /** What waits, with what is noticed while this scan goes on. */
  #waiting(): Waiting {
    const { pass, options } = this
    this.#of = Math.min(this.limit, pass.waiting)
    return {
      get waiting() {
        return pass.waiting
      },
      next: () => {
        pass.urge(options.hints?.() ?? [])
        return pass.next()
      },
      postpone: (candidate) => pass.postpone(candidate),
      nextPostponed: () => pass.nextPostponed(),
    }
  }

  async #finish(end: IntakeEnd): Promise<void> {
    this.#tally = tallyFiles(this.#tally, end.deferred)
    this.#tally = tallyDeferred(this.#tally, end.overLimit, 'over_limit')
    this.#tally = tallyDeferred(this.#tally, end.cutOff, this.#cutReason())
    if (end.last.length > 0 || this.#changed() || !this.#isSettled()) await this.#write(end.last)
    this.pass.end(end.unfinished)
  }

  /** Files that are read one after the other, of those that this scan may read. */
  #counts(): void {
    this.#read += 1
    const of = Math.max(this.#of, this.#read)
    this.ctx.gov.observer.counts?.({ what: 'intake', done: this.#read, of })
  }

  #refreshMs(): number {
    return this.settings.refreshMinutes.value * 60_000
  }

  #cutReason(): string {
    return this.#failure?.code ?? 'cancelled'
  }

  #changed(): boolean {
    const { ingested, suppressed, rejected, duplicate, known } = this.#tally
    return ingested + suppressed + rejected + duplicate - known > 0
  }

  #intakeWorld(examiner: Examiner, confirmer: Confirmer): IntakeWorld {
    const { gov, signal } = this.ctx
    return {
      folder: this.resolved.folder,
      examiner,
      confirm: (taken, bytes) => confirmer.foresee(taken, bytes),
      nowMs: () => gov.clock.wallMs(),
      at: (step) => gov.observer.at(step),
      read: () => this.#counts(),
      settle: () => gov.clock.sleep(settleMs, signal),
      stopped: () => signal.aborted,
      commit: (files) => this.#commit(files, false),
    }
  }

  /** The last batch together with the receipt: one record. */
  async #write(files: readonly TakenFile[]): Promise<void> {
    if (this.#failure !== null) return
    const done = await this.#commit(files, true)
    if (!done) this.#tally = tallyDeferred(this.#tally, files.length, this.#cutReason())
  }

  async #commit(files: readonly TakenFile[], last: boolean): Promise<boolean> {
    const { gov } = this.ctx
    await gov.observer.at('scan.writing')
    try {
      const { tally, receipt, small, after } = await this.#transact(files, last)
      this.#tally = tally
      this.#receipt = receipt
      this.#small = small
      after()
      this.#markKnown(files)
    } catch (error) {
      if (!degrades(error)) throw error
      this.#failure = error
      return false
    }
    await gov.observer.at('scan.batch')
    return true
  }

  /** Writes as soon as all that the record asks was compared; the lock is not held meanwhile. */
  async #transact(files: readonly TakenFile[], last: boolean): Promise<Written> {
    let batch = files
    for (;;) {
      try {
        return await transactCounted(this.ctx.gov, 'shots scan', (tx) =>
          this.#inTransaction(tx, batch, last))
      } catch (error) {
        if (!(error instanceof Unconfirmed) || this.#confirmer === null) throw error
        const found = await this.#confirmer.again(error)
        batch = batch.map((file) => file === error.file ? found : file)
      }
    }
  }

  #inTransaction(tx: Tx, files: readonly TakenFile[], last: boolean): Written {
    const { store } = this.ctx.gov
    const now = isoFromMs(this.ctx.gov.clock.wallMs())
    takeFolder(store, tx, this.resolved)
    const { counted, after } = writeBatch(tx, store, now, this.#rules(), files)
    const tally = tallyFiles(this.#tally, counted)
    if (!last) return { tally, receipt: null, small: null, after }
    const small = this.#smallChanges(tx, tally)
    const facts = this.#factsOf(tally, small)
    const receipt = appendReceipt(tx, now, job, facts)
    const row: ShotFolder = {
      ...folderRow(tx, this.resolved.folder, now),
      last_scan: {
        at: now, status: facts.status, reason: facts.reason, receipt_id: receipt.receipt_id,
      },
    }
    tx.put(c.folders, this.resolved.folderDigest, row)
    return { tally, receipt, small, after }
  }

  #smallChanges(tx: Tx, { changedLittle }: Tally): SmallChangesTold | null {
    if (changedLittle === 0) return null
    const changes = tx.get(c.folders, this.resolved.folderDigest)?.small_changes
    return toldOf(changedLittle, ignorableOf(changes, savedSettings(tx).ignore))
  }

  #rules(): BatchRules {
    const { ctx } = this
    return {
      folder: this.resolved.folder,
      folderDigest: this.resolved.folderDigest,
      refreshMs: this.#refreshMs(),
      facts: (tx) => currentFacts(ctx, tx),
      ignored: (tx) => ignoredOf(savedSettings(tx).ignore),
      newStatus: (tx) => newImageStatus(ctx, tx),
      takeOver: (tx, row, now) => afterEarlierCall(ctx, tx, row, now),
    }
  }

  #markKnown(files: readonly TakenFile[]): void {
    for (const { file, stamp } of files) this.pass.markKnown(file, stamp)
  }

  #degraded(): string | null {
    if (this.#failure !== null) return this.#failure.code
    return this.ctx.signal.aborted ? 'cancelled' : null
  }

  #factsOf({ changedLittle: _, ...tally }: Tally, small: SmallChangesTold | null): ScanFacts {
    const reason = this.#degraded()
    return {
      root: this.resolved.folder,
      source: this.resolved.source,
      status: reason === null ? 'ok' : 'degraded',
      reason,
      limit: this.limit,
      scanned: scannedOf(tally),
      ...tally,
      ...(small === null ? {} : { small_changes: small }),
      duration_ms: Math.round(this.ctx.gov.clock.monotonicMs() - this.#startedMs),
    }
  }

  /** What makes the next tick cheap, and when this one was; both may be lost. */
  #keepForNextTick(): void {
    const { store, clock } = this.ctx.gov
    const { folder, folderDigest } = this.resolved
    const { known, missedByIndex, listing, hidden } = this.pass
    const isNew = missedByIndex > 0 || this.#receipt !== null
    // An index is bound to how many rows hide. One of before what this scan found would fit again
    // once as many others hide, and call those known.
    if (hidesOthers(store.read(), folderDigest, hidden)) {
      dropKnownIndex(store.runDir, folderDigest)
    } else if (isNew && this.pass.isIndexDue(clock.monotonicMs())) {
      const binding = bindingOf(store.read(), store.storeId, folderDigest, hidden)
      if (binding !== null) writeKnownIndex(store.runDir, binding, listing, known)
    }
    const status = this.#degraded() === null ? 'ok' : 'degraded'
    const at = isoFromMs(clock.wallMs())
    const { count: images, newestMs } = listing
    const mount = images === 0 ? null : mountOf(folder)
    writeLastTick(store.runDir, folderDigest, {
      ...(mount === null ? {} : { mount }), at, status, scanned: scannedOf(this.#tally), images,
      newest_at: newestMs === null ? null : isoWithin(Math.floor(newestMs)),
    })
  }

  #receiptOf(): ScanReceipt {
    const receipt = this.#receipt
    const facts = this.#factsOf(this.#tally, this.#small)
    return {
      receipt_id: receipt?.receipt_id ?? null,
      number: receipt?.number ?? null,
      recorded: receipt !== null,
      job,
      at: receipt?.at ?? isoFromMs(this.ctx.gov.clock.wallMs()),
      ...facts,
    }
  }
}

/**
 * One scan of what a pass still holds, at most as many files as one scan may read. A receipt whose
 * status is `degraded` stands for what was written; the rest was left for a later pass. Throws
 * `damaged` where the state is.
 */
export const scanPass = (
  ctx: ShotsContext, { resolved, pass }: OpenPass, options: ScanOptions = {},
): Promise<ScanReceipt> => {
  const settings = ingestSettings(ctx.gov.store.read(), ctx.env)
  return new Scan(ctx, resolved, settings, options, pass).run()
}

/** Walks a folder and scans it once. Throws as `openPass` and `scanPass` do. */
export const scanFolder = async (
  ctx: ShotsContext, options: ScanOptions = {},
): Promise<ScanReceipt> => {
  const opened = await openPass(ctx, options)
  try {
    return await scanPass(ctx, opened, options)
  } finally {
    await opened.pass.close()
  }
}
