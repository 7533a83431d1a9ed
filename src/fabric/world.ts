/** What use cases take from the process that runs them, whichever face it is. */
import type { Clock } from '../base/clock.js'
import type { ToolPlaces } from '../codehost/producer/tools.js'
import type { HttpsClientDeps } from '../net/types.js'

/** What the one HTTPS client takes from a process. */
export interface ClientWorld {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** Flags of Node itself. */
  readonly execArgv: readonly string[]
  /** One look-up per contact. */
  readonly resolve: HttpsClientDeps['resolve']
}

/** The process, as the use cases that reach out see it. */
export interface World extends ClientWorld {
  /** Home folder of the user. */
  readonly home: string
  /** Folders of the state and of its keys, absolute. */
  readonly places: { readonly stateDir: string; readonly configDir: string }
  /** Aborted when the operation is to stop. */
  readonly stop: AbortSignal
  /** Where the producer of publications is found; empty: where it is installed. */
  readonly producer: ToolPlaces
}
