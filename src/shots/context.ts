import type { GatewayContext } from '../gateway/context.js'
import type { Gov } from '../governance/context.js'
import type { StoredCaptures } from '../observations/captures.js'

/** Environment of a process: names to texts. */
export type Env = Readonly<Record<string, string | undefined>>

/** What the use cases of the screenshot source work with. */
export interface ShotsContext {
  readonly gov: Gov
  readonly env: Env
  /** Absolute path sealed at init; the default folder lies below it. */
  readonly workspace: string
  /** Home folder of the user, for the folders that are too broad. */
  readonly home: string
  /** Folders that may never be an image folder: the state's and the keys'. */
  readonly ownFolders: readonly string[]
  /** The general model route; its client is made at the first contact. */
  readonly gateway: GatewayContext
  /** Loads what tells of captures of paired devices. */
  readonly captures: () => Promise<StoredCaptures>
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
}
