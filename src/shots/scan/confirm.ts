/**
 * Confirming that two images are repeats, while a scan reads and before anything is written. It
 * foresees which image each file will be compared with; where the record finds another one there,
 * the file is compared again, outside. Pictures are compared in a worker. No copy of one is kept:
 * the representative is read again from a path of its row, and only while a scan goes on its bytes
 * stay in memory.
 */
import { sha256Hex } from '../../base/canonical.js'
import type { Store, View } from '../../state/types.js'
import { shotCollections as c } from '../observations/observation-rows.js'
import type { IgnoredHere, IgnoredOf } from '../source/ignored.js'
import { gate, type StandingRow } from './gate.js'
import { latin1Of } from './names.js'
import { exactStamp, readOnce } from './read-once.js'
import { representativeOf } from './representative.js'
import type { Confirmation, Examiner, Representative, TakenFile } from './types.js'
import type { Unconfirmed } from './unconfirmed.js'

/** What confirming works with. */
interface ConfirmWorld {
  readonly folder: string
  readonly folderDigest: string
  readonly refreshMs: number
  readonly ignored: IgnoredOf
  readonly view: View
  readonly store: Store
  readonly examiner: Examiner
  /** Wall time, milliseconds. */
  nowMs(): number
}

/** Comparisons of one file that a record asked for, before it is taken in unconfirmed. */
const triesMax = 3

const nothing = (
  representativeSha256: string | null, verdict: Confirmation['verdict'],
  ignored: IgnoredHere | null,
): Confirmation =>
  ({ representativeSha256, verdict, difference: null, ignoredSha256: ignored?.sha256 ?? null })

/** The whole file of a path below a folder; null where it is not that content any more. */
const readContent = (
  folder: string, name: TakenFile['name'], sha256: string | null, nowMs: number,
): Uint8Array | null => {
  const read = readOnce(folder, latin1Of(name), nowMs)
  return read.kind === 'read' && sha256Hex(read.bytes) === sha256 ? read.bytes : null
}

/** The row that a file will have, as far as the gate asks. */
const rowOf = (
  folder: string, taken: TakenFile, ignored: IgnoredHere | null,
): StandingRow | null => {
  const { sha256, format, name, capturedAt } = taken
  if (sha256 === null || format === null) return null
  return {
    root: folder, sha256, format, bytes: taken.bytes, width: taken.width, height: taken.height,
    captured_at: capturedAt, paths: [{ name, modified_at: capturedAt }],
    screenshot_visual_run: null, classification: null, archived_at: null, payload: null,
    ...(ignored === null ? {} : { ignored_sha256: ignored.sha256 }),
  }
}

/** Confirms the files of one scan, one after another in the order of their reading. */
export class Confirmer {
  /** What the next file will probably be compared with. */
  #expected: Representative<StandingRow> | null
  #held: { readonly sha256: string; readonly bytes: Uint8Array } | null = null
  readonly #taken = new Set<string>()
  readonly #tries = new Map<number, number>()

  constructor(readonly world: ConfirmWorld) {
    this.#expected = representativeOf(world.view, world.store, world.folderDigest)
  }

  /** The file with what it was found to be, where that will be asked. */
  async foresee(taken: TakenFile, bytes: Uint8Array): Promise<TakenFile> {
    const { refreshMs, folder } = this.world
    const ignored = this.world.ignored(taken.width, taken.height)
    const row = taken.refused === null ? rowOf(folder, taken, ignored) : null
    if (row === null || this.#isKnown(row.sha256)) return taken
    let found = taken
    let decision = gate(found, this.#expected, refreshMs, ignored)
    if (decision.kind === 'unconfirmed') {
      const confirmed = await this.#compare(bytes, decision.representative, ignored)
      found = { ...taken, confirmed }
      decision = gate(found, this.#expected, refreshMs, ignored)
    }
    if (decision.kind === 'ingested') {
      this.#expected = { row, fingerprint: taken.fingerprint }
      this.#held = { sha256: row.sha256, bytes }
    } else if (decision.kind === 'suppressed' && this.#expected !== null) {
      this.#expected = { ...this.#expected, row: decision.changed }
    }
    return found
  }

  /** A file that a record found another image, or other areas, to be compared with for. */
  async again({ file, representative, ignored }: Unconfirmed): Promise<TakenFile> {
    const tries = (this.#tries.get(file.file) ?? 0) + 1
    this.#tries.set(file.file, tries)
    // Whoever takes the folder in beside this scan must not keep it from coming to its end.
    if (tries > triesMax) return { ...file, confirmed: nothing(null, 'not_compared', ignored) }
    const { folder, nowMs } = this.world
    const bytes = readContent(folder, file.name, file.sha256, nowMs())
    const confirmed = bytes === null
      ? nothing(representative.sha256, 'not_compared', ignored)
      : await this.#compare(bytes, representative, ignored)
    return { ...file, confirmed }
  }

  /** Bytes that rows know lead where they led, and stand for nothing new. */
  #isKnown(sha256: string): boolean {
    const known = this.world.view.get(c.contents, sha256)
    const isKnown = known !== undefined || this.#taken.has(sha256)
    this.#taken.add(sha256)
    return isKnown
  }

  async #compare(
    bytes: Uint8Array, row: StandingRow, ignored: IgnoredHere | null,
  ): Promise<Confirmation> {
    const { sha256 } = row
    const standing = this.#bytesOf(row)
    if (standing === null) return nothing(sha256, 'representative_gone', ignored)
    const found = await this.world.examiner.compare({
      bytes, standing: { sha256, bytes: standing }, ignored: ignored?.rects ?? [],
    })
    return { representativeSha256: sha256, ignoredSha256: ignored?.sha256 ?? null, ...found }
  }

  /** The bytes of a row's picture, from memory or from the first path that still holds them. */
  #bytesOf(row: StandingRow): Uint8Array | null {
    if (this.#held?.sha256 === row.sha256) return this.#held.bytes
    for (const { name } of row.paths) {
      if (exactStamp(row.root, latin1Of(name))?.bytes !== row.bytes) continue
      const bytes = readContent(row.root, name, row.sha256, this.world.nowMs())
      if (bytes === null) continue
      this.#held = { sha256: row.sha256, bytes }
      return bytes
    }
    return null
  }
}
