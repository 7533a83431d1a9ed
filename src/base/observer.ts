/**
 * A use case announces each of its steps by name and waits for the answer. The shipped program
 * draws progress from it; tests stop, crash or race the process there. It can change nothing else.
 */
export interface Observer {
  /** `step` is dotted, for example `ask.reserved`; see the list in docs/architecture.md. */
  at(step: string): void | Promise<void>
}

/** An observer that looks at nothing. */
export const silentObserver: Observer = { at: () => undefined }
