/**
 * One scan of an image folder: walk, sort out what is known, read the rest once, decide and write
 * in batches, write a receipt. It only ever reads the folder, opens no socket and calls no model
 * (S-146, S-194). A tick that finds nothing new writes no durable byte.
 */
import { isoFromMs } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { afterEarlierCall } from '../analysis/earlier-call.js'
import type { ShotsContext } from '../context.js'
import { currentFacts } from '../observations/as-of-now.js'
import { folderRow } from '../observations/observation-store.js'
import { transactCounted } from '../locked.js'
import { appendReceipt } from '../receipts/append.js'
import type { ShotReceipt } from '../receipts/rows.js'
import type { ScanFacts, ScanReceipt, SmallChangesTold } from '../receipts/scan.js'
import { folderFailure, folderProblem, locateFolder, type ResolvedFolder }
  from '../source/folder.js'
import { shotCollections as c, type ShotFolder } from '../observations/rows.js'
import { ignorableOf, toldOf } from '../observations/small-changes.js'
import { ignoredOf } from '../source/ignored.js'
import { resolveSettings, savedSettings, type ShotSettings } from '../source/settings.js'
import { writeBatch, type BatchRules } from './commit.js'
import { Confirmer } from './confirm.js'
import { makeExaminer } from './examiner.js'
import { Intake, settleMs, type IntakeEnd, type IntakeWorld } from './intake.js'
import { bindingOf, loadKnownIndex, marks, writeKnownIndex } from './known-index.js'
import { writeLastTick } from './last-tick.js'
import { fileNameOf } from './names.js'
import { newImageStatus } from './new-status.js'
import { sortFiles, type SortedFiles } from './sort-files.js'
import {
  emptyTally, scannedOf, tallyDeferred, tallyFiles, tallyKnown, type Tally,
} from './tally.js'
import type { Examiner, TakenFile } from './types.js'
import { Unconfirmed } from './unconfirmed.js'
import { walkImageFolder, type Listing } from './walk.js'

const job = 'screenshot_folder_ingest'

/** How one scan is asked for. */
export interface ScanOptions {
  /** A folder instead of the configured one. */
  readonly folder?: string
  /** Files that may be read for the first time. */
  readonly limit?: number
  /** Names below the folder that an event was about, latin1. */
  readonly hints?: Iterable<string>
  /** Told which subfolders were entered, latin1; null: none are, without recursion. */
  readonly onFolders?: (folders: readonly string[] | null) => void
}

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
  #listing: Listing
  #sorted: SortedFiles
  #receipt: ShotReceipt | null = null
  #small: SmallChangesTold | null = null
  #confirmer: Confirmer | null = null
  /** Why no more can be written. */
  #failure: SallyportError | null = null
  #read = 0
  readonly limit: number

  constructor(
    readonly ctx: ShotsContext, readonly resolved: ResolvedFolder, readonly settings: ShotSettings,
    readonly options: ScanOptions, readonly view: View, listing: Listing,
  ) {
    const { gov } = ctx
    this.#startedMs = gov.clock.monotonicMs()
    this.limit = options.limit ?? settings.ingestLimit.value
    this.#listing = listing
    const { folder, folderDigest } = resolved
    const index = loadKnownIndex(gov.store.runDir, view, gov.store.storeId, folderDigest)
    this.#sorted = sortFiles(listing, {
      view, folder, folderDigest, index, hints: new Set(options.hints ?? []),
    })
    const { candidates } = this.#sorted
    this.#tally = tallyKnown(this.#tally, listing.count - candidates.length)
    this.#tally = tallyFiles(this.#tally, listing.unreadable.map((name) => ({
      name: fileNameOf(name), outcome: 'deferred', reason: 'file_unreadable', isProblem: true,
    })))
  }

  async run(): Promise<ScanReceipt> {
    const { candidates } = this.#sorted
    if (candidates.length > 0) await this.#takeIn()
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
    const examiner = makeExaminer()
    this.#confirmer = new Confirmer({
      folder, folderDigest, refreshMs: this.#refreshMs(), view: this.view, store: gov.store,
      ignored: ignoredOf(this.settings.saved.ignore), examiner, nowMs: () => gov.clock.wallMs(),
    })
    try {
      const world = this.#intakeWorld(examiner, this.#confirmer)
      const end = await new Intake(world, this.limit).run(this.#sorted.candidates)
      await this.#finish(end)
    } finally {
      await examiner.close()
    }
  }

  async #finish(end: IntakeEnd): Promise<void> {
    this.#tally = tallyFiles(this.#tally, end.deferred)
    this.#tally = tallyDeferred(this.#tally, end.overLimit, 'over_limit')
    this.#tally = tallyDeferred(this.#tally, end.cutOff, this.#cutReason())
    if (end.last.length > 0 || this.#changed() || !this.#isSettled()) await this.#write(end.last)
  }

  /** Files that are read one after the other, of those that this scan may read. */
  #counts(): void {
    const of = Math.min(this.limit, this.#sorted.candidates.length)
    this.#read = Math.min(of, this.#read + 1)
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
    for (const { file, stamp } of files) {
      const walked = this.#listing.stampOf(file)
      const same = walked.size === stamp.size && walked.mtimeMs === stamp.mtimeMs
        && walked.ctimeMs === stamp.ctimeMs && walked.ino === stamp.ino
      if (same) this.#sorted.known[file] = marks.known
    }
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
    const { folderDigest } = this.resolved
    const { known, missedByIndex } = this.#sorted
    if (missedByIndex > 0 || this.#receipt !== null) {
      const binding = bindingOf(store.read(), store.storeId, folderDigest)
      if (binding !== null) writeKnownIndex(store.runDir, binding, this.#listing, known)
    }
    const status = this.#degraded() === null ? 'ok' : 'degraded'
    const at = isoFromMs(clock.wallMs())
    const { count: images, newestMs } = this.#listing
    writeLastTick(store.runDir, folderDigest, {
      at, status, scanned: scannedOf(this.#tally), images,
      newest_at: newestMs === null ? null : isoFromMs(Math.floor(newestMs)),
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

/** A scan that cannot begin is told by `status` too; the same failure is written down once. */
const recordFailure = async (
  { gov }: ShotsContext, { folder, folderDigest }: ResolvedFolder, reason: string,
): Promise<void> => {
  const known = gov.store.read().get(c.folders, folderDigest)?.last_scan
  const now = isoFromMs(gov.clock.wallMs())
  writeLastTick(gov.store.runDir, folderDigest, { at: now, status: 'failed', scanned: 0 })
  if (known?.status === 'failed' && known.reason === reason) return
  await transactCounted(gov, 'shots scan', (tx) =>
    tx.put(c.folders, folderDigest, {
      ...folderRow(tx, folder, now),
      last_scan: { at: now, status: 'failed', reason, receipt_id: null },
    }))
}

const walked = (folder: string, recursive: boolean): Listing | string => {
  const problem = folderProblem(folder)
  if (problem !== null) return problem
  try {
    return walkImageFolder(folder, recursive)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^E[A-Z0-9]+$/.test(code)) throw error
    return folderProblem(folder) ?? 'folder_unreadable'
  }
}

/**
 * Scans a folder. A receipt whose status is `degraded` stands for what was written; the rest was
 * left for a later pass. Throws `rejected` where the folder may not be scanned, is not there or
 * cannot be read, `damaged` where the state is.
 */
export const scanFolder = async (
  ctx: ShotsContext, options: ScanOptions = {},
): Promise<ScanReceipt> => {
  const view = ctx.gov.store.read()
  const settings = resolveSettings(view, ctx.env)
  const input = options.folder === undefined ? {} : { folder: options.folder }
  const resolved = locateFolder(ctx, settings.saved, input)
  const listing = walked(resolved.folder, settings.recursive)
  if (typeof listing === 'string') {
    await recordFailure(ctx, resolved, listing)
    throw folderFailure(listing, resolved.source)
  }
  options.onFolders?.(settings.recursive ? listing.folders : null)
  await ctx.gov.observer.at('scan.walked')
  return new Scan(ctx, resolved, settings, options, view, listing).run()
}
