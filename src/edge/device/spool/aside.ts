/**
 * Captures that the service will never take, each with the reason in its name. They keep their
 * bytes, so that a person may look; they count to the limits of the spool and go first.
 * Every function here is called under the lock of the spool.
 */
import { join } from 'node:path'
import { syncDir, type Files } from '../../../state/files.js'

interface AsideEntry {
  readonly cameMs: number
  readonly bytes: number
  readonly requestId: string
  readonly reason: string
  readonly name: string
}

/** Most that are kept. */
export const asideMax = 100

const form = /^(\d{14})\.(\d{16})\.([0-9a-f-]{36})\.([a-z][a-z0-9_]{0,63})$/

const entryOf = (name: string): AsideEntry | null => {
  const [, came, bytes, requestId, reason] = form.exec(name) ?? []
  if (requestId === undefined || reason === undefined) return null
  return { cameMs: Number(came), bytes: Number(bytes), requestId, reason, name }
}

/** The folder of what was put aside. */
export class Aside {
  readonly #files: Files
  readonly #dir: string

  constructor(files: Files, dir: string) {
    this.#files = files
    this.#dir = dir
  }

  /** All of them, oldest first; at most about `asideMax`. */
  all(): readonly AsideEntry[] {
    return this.#files.list(this.#dir).map(entryOf).filter((entry) => entry !== null)
  }

  pathOf({ name }: AsideEntry): string {
    return join(this.#dir, name)
  }

  /** Takes over the file at `from`. */
  take(from: string, entry: Omit<AsideEntry, 'name'>): void {
    const { cameMs, bytes, requestId, reason } = entry
    const stamp = String(cameMs).padStart(14, '0')
    const size = String(bytes).padStart(16, '0')
    this.#files.rename(from, join(this.#dir, `${stamp}.${size}.${requestId}.${reason}`))
    syncDir(this.#files, this.#dir)
  }
}
