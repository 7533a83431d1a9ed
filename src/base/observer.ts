/** What an operation waits for between its claim and its closing record. */
export type WaitsFor = 'lane' | 'connection' | 'reply' | 'bill' | 'record'

/**
 * Where an operation that may contact somebody stands, for a face that was asked to stop: what is
 * being waited for, how long at most, and what stopping would leave.
 */
export interface Waiting {
  /** First word of the announced steps, for example `ask` or `prove`. */
  readonly step: string
  readonly operationId: string
  /** Id of the task that it works on; null where it has none. */
  readonly taskId: string | null
  readonly for: WaitsFor
  /**
   * Whether a request byte may have left. While false, a stop ends the operation by itself at once
   * and leaves nothing held: a face that gives it that moment costs nobody anything. While true,
   * ending the process now leaves its charge unknown.
   */
  readonly sent: boolean
  /** Monotonic milliseconds of the clock in use, by which the wait ends by itself. */
  readonly untilMs: number
}

/** How far a long work has come. */
export interface Work {
  /** One word that people know: `intake`. */
  readonly what: string
  readonly done: number
  /** How many there are in all; null where nobody knows yet. */
  readonly of: number | null
}

/**
 * A use case announces each of its steps by name and waits for the answer. The shipped program
 * draws progress from it; tests stop, crash or race the process there. It can change nothing else.
 */
export interface Observer {
  /** `step` is dotted, for example `ask.reserved`; see the list in docs/dev/architecture.md. */
  at(step: string): void | Promise<void>
  /** Told of every change of what an operation waits for; null when it has ended. Never throws. */
  waits?(now: Waiting | null): void
  /** Told how far a long work has come. Never throws. */
  counts?(work: Work): void
}

/** An observer that looks at nothing. */
export const silentObserver: Observer = { at: () => undefined }
