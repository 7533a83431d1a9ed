/**
 * Follows an image folder: a notice runs a tick, and a tick takes in whatever is new, so that
 * nothing depends on a notice being exact, single or even there. A finished file is taken within
 * two seconds, also while the ticks work off a walk that found very many: it comes before them.
 */
import { fail, SallyportError } from '../../base/errors.js'
import type { ShotsContext } from '../context.js'
import {
  folderFailure, folderProblem, locateFolder, type ResolvedFolder,
} from '../source/folder.js'
import { locateHere } from '../source/folder-machine.js'
import { openPass, type OpenPass } from '../scan/open-pass.js'
import { scanPass } from '../scan/scan.js'
import type { ScanReceipt } from '../receipts/scan.js'
import { ingestSettings, type IngestSettings } from '../source/settings.js'
import { FolderHints } from './hints.js'

/** Every time of the watcher, milliseconds. */
const watchTimes = {
  /** Notices of one file come in bursts. */
  gatherMs: 100,
  /** A look at which folder is there. */
  checkMs: 1_000,
  /** A tick without any notice, as a net. */
  netMs: 60_000,
  /** The same where notices cannot be had. */
  blindMs: 1_500,
  /** Until a file that was being written is looked at again. */
  againMs: 700,
} as const

/** Who is told what a watcher does. */
interface WatchListener {
  /** The folder is watched: what is finished from now on is taken. */
  ready(folder: ResolvedFolder): void
  /** A tick that changed something, or could not write it all down. */
  tick(receipt: ScanReceipt): void
  /** A tick that could not be: the folder is gone, the state is locked. Told once in a row. */
  trouble(error: SallyportError): void
}

const foundSomething = (receipt: ScanReceipt): boolean =>
  receipt.recorded || receipt.status === 'degraded'

class Watch {
  #hints: FolderHints | null = null
  #folder = ''
  readonly #names = new Set<string>()
  /** Something about the folder itself was noticed since it was walked. */
  #isOther = false
  /** Monotonic time of the next tick, whatever else happens. */
  #dueMs = 0
  #wake = new AbortController()
  #trouble: string | null = null
  /** What the last walk found and no tick has taken in yet, and when it was walked. */
  #rest: { readonly open: OpenPass; readonly walkedMs: number } | null = null

  constructor(readonly ctx: ShotsContext, readonly listener: WatchListener) {}

  async run(): Promise<void> {
    const { ctx } = this
    const resolved = locateHere(ctx, ctx.gov.store.read())
    const problem = folderProblem(resolved.folder)
    if (problem !== null) throw folderFailure(problem, resolved.source)
    if (!this.#isOn()) {
      throw fail.blocked('ingest_off', 'Taking in screenshots is switched off.', {
        next: 'Run `sallyport shots setup --set ingest_enabled=on`.',
      })
    }
    this.#follow(resolved.folder)
    this.listener.ready(resolved)
    try {
      while (!ctx.signal.aborted) await this.#turn()
    } finally {
      this.#hints?.close()
      await this.#drop()
    }
  }

  async #turn(): Promise<void> {
    const { clock } = this.ctx.gov
    const waitMs = this.#dueMs - clock.monotonicMs()
    if (waitMs > 0) {
      await this.#sleep(Math.min(waitMs, watchTimes.checkMs))
      this.#hints?.check()
      if (this.#isElsewhere()) this.#hurry(0)
      return
    }
    this.#dueMs = clock.monotonicMs() + this.#netMs()
    if (this.#isOn()) await this.#tick()
    else await this.#drop()
  }

  /** Until the folder is walked without any notice. */
  #netMs(): number {
    return this.#hints?.isBlind === true ? watchTimes.blindMs : watchTimes.netMs
  }

  async #sleep(ms: number): Promise<void> {
    this.#wake = new AbortController()
    const signal = AbortSignal.any([this.ctx.signal, this.#wake.signal])
    await this.ctx.gov.clock.sleep(ms, signal).catch(() => undefined)
  }

  #settings(): IngestSettings {
    return ingestSettings(this.ctx.gov.store.read(), this.ctx.env)
  }

  #isOn(): boolean {
    return this.#settings().ingestEnabled.value
  }

  #resolve(): ResolvedFolder {
    return locateFolder(this.ctx, this.#settings().saved)
  }

  /** Whether another folder is configured now; one that cannot be used is told by the next tick. */
  #isElsewhere(): boolean {
    try {
      return this.#resolve().folder !== this.#folder
    } catch {
      return false
    }
  }

  /** A tick comes after so many milliseconds, or earlier when one is due earlier. */
  #hurry(ms: number): void {
    const atMs = this.ctx.gov.clock.monotonicMs() + ms
    if (atMs >= this.#dueMs) return
    this.#dueMs = atMs
    this.#wake.abort()
  }

  #follow(folder: string): void {
    if (folder === this.#folder) return
    this.#hints?.close()
    this.#folder = folder
    this.#hints = new FolderHints(folder, {
      hint: (name) => {
        if (name === null) this.#isOther = true
        else this.#names.add(name)
        this.#hurry(watchTimes.gatherMs)
      },
      blind: () => this.#hurry(watchTimes.blindMs),
    })
  }

  /** Names that were noticed since this was last asked. */
  #noticed(): readonly string[] {
    if (this.#names.size === 0) return []
    const names = [...this.#names]
    this.#names.clear()
    return names
  }

  async #tick(): Promise<void> {
    try {
      const open = await this.#walked()
      const receipt = await scanPass(this.ctx, open, { hints: () => this.#noticed() })
      this.#trouble = null
      if (receipt.status !== 'ok' || open.pass.waiting === 0) await this.#drop()
      this.#after(receipt)
    } catch (error) {
      await this.#drop()
      this.#failed(error)
    }
  }

  /** The walk that this tick goes on with: the last one, or one of its own. */
  async #walked(): Promise<OpenPass> {
    const { folder } = this.#resolve()
    const nowMs = this.ctx.gov.clock.monotonicMs()
    const rest = this.#rest
    // Tick follows tick while much is left, and no notice comes through in between.
    if (rest !== null) this.#hints?.check()
    const goesOn = rest !== null && !this.#isOther && rest.open.resolved.folder === folder
      && rest.open.recursive === this.#settings().recursive
      && nowMs - rest.walkedMs < this.#netMs()
    if (goesOn) return rest.open
    await this.#drop()
    this.#follow(folder)
    this.#isOther = false
    const open = await openPass(this.ctx, {
      hints: () => this.#noticed(), onFolders: (folders) => this.#hints?.follow(folders),
    })
    this.#rest = { open, walkedMs: nowMs }
    return open
  }

  /** The next tick walks. */
  async #drop(): Promise<void> {
    const rest = this.#rest
    this.#rest = null
    await rest?.open.pass.close()
  }

  #after(receipt: ScanReceipt): void {
    if (foundSomething(receipt)) this.listener.tick(receipt)
    if (this.ctx.gov.store.health().poisoned) {
      throw fail.failed('store_poisoned', 'A write failed; this process writes no more.', {
        next: 'Look at the disk of the state directory, then start it again.',
      })
    }
    if (receipt.status === 'degraded') return this.#hurry(watchTimes.checkMs)
    if ((receipt.reasons['over_limit'] ?? 0) > 0) return this.#hurry(0)
    if ((receipt.reasons['still_being_written'] ?? 0) > 0) this.#hurry(watchTimes.againMs)
  }

  #failed(error: unknown): void {
    // A stop while the state was locked is how a watcher ends, not a failure of it.
    const stopped = error instanceof SallyportError && error.kind === 'cancelled'
    if (stopped && this.ctx.signal.aborted) return
    const known = error instanceof SallyportError && error.kind !== 'damaged'
      && error.kind !== 'cancelled' && !this.ctx.gov.store.health().poisoned
    if (!known) throw error
    if (this.#trouble !== error.code) this.listener.trouble(error)
    this.#trouble = error.code
  }
}

/**
 * Watches the configured folder until the context's signal. Throws `rejected` where there is no
 * such folder of this machine at the start, `blocked` `ingest_off` where ticks are switched off,
 * and what makes every later tick useless: a damaged state, a disk that failed.
 */
export const watchFolder = (ctx: ShotsContext, listener: WatchListener): Promise<void> =>
  new Watch(ctx, listener).run()
