/** Time and chance as dependencies, so that a test drives expiry by hand. */

/** Two clocks: wall time for records, monotonic time for deadlines inside one process. */
export interface Clock {
  /** Milliseconds since 1970 UTC; may step back. */
  wallMs(): number
  /** Milliseconds since some fixed moment of this process; never steps back. */
  monotonicMs(): number
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The machine's own clocks. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  // What `performance.now` counts, without loading all of Node's performance hooks.
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

/** ISO 8601 UTC text with milliseconds: the form of every `*_at` field. */
export const isoFromMs = (ms: number): string => new Date(ms).toISOString()

/** Milliseconds since 1970 UTC of an `*_at` field. */
export const msFromIso = (iso: string): number => Date.parse(iso)
