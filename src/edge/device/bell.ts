/** Tells when something may have come into the spool; a slow look comes in any case. */
import { watch, type FSWatcher } from 'node:fs'
import type { Clock } from '../../base/clock.js'

/** A look without any notice, milliseconds. */
const lookMs = 2_000

/** Rings when a folder changes. */
export class Bell {
  #watcher: FSWatcher | null = null
  #rung = false
  #wake = new AbortController()

  readonly #signal: AbortSignal
  readonly #onStop = (): void => this.#ring()

  /** A stop rings as well, so that a wait makes no signal of two: those of a long life pile up. */
  constructor(dir: string, signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#onStop, { once: true })
    try {
      this.#watcher = watch(dir, { persistent: false }, () => this.#ring())
      // The system has no more watches, or the folder went: the slow look stays.
      this.#watcher.on('error', () => this.#unwatch())
    } catch {
      this.#unwatch()
    }
  }

  /** Returns when it rang since the last time, after a while, or when stopped. */
  async wait(clock: Clock): Promise<void> {
    if (!this.#rung) await clock.sleep(lookMs, this.#wake.signal).catch(() => undefined)
    this.#rung = false
    this.#wake = new AbortController()
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onStop)
    this.#unwatch()
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = null
  }

  #ring(): void {
    this.#rung = true
    this.#wake.abort()
  }
}
