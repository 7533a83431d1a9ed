/**
 * Artifacts of a shared state. A stored file is sealed already; it goes to the place before the
 * record that names it, and comes here before that record is followed, so that whatever rows name
 * can be read on every machine, also while the place is away.
 */
import { createHash } from 'node:crypto'
import { fail } from '../../base/errors.js'
import { isTrueFile } from '../care/copy.js'
import { FileDraft, requireShard, storedPath, type ArtifactFolder } from '../artifact-folder.js'
import { orIoFailure, readRange, readWhole, removeFile, type Files } from '../files.js'
import type { Artifacts } from '../types.js'
import { noteClosing } from './closings.js'
import type { Place } from './place.js'

/** Bytes of a piece of a blob. */
const pieceBytes = 1024 * 1024

/** Bytes that stay free on the disk whatever a server sends. */
const reserveBytes = 64 * 1024 * 1024

/** Names that are told or taken away in one trip. */
const namesAtOnce = 1_000

const digestForm = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g

/** Every text in a record that may name a stored file. */
const namesIn = (payload: string): readonly string[] =>
  [...new Set(payload.match(digestForm) ?? [])]

const untrueThere = (): Error =>
  fail.damaged('artifact_damaged', 'A stored artifact does not match its digest.', {
    next: 'The place holds other bytes than were put there. Run `sallyport state repair` on a '
      + 'machine that has them: it gives them back.',
  })

/** Where artifacts lie here and at the place. */
interface ArtifactParts {
  readonly files: Files
  /** The folder of artifacts of this replica. */
  readonly dir: string
  readonly place: () => Place
}

/** Bytes of a file, in pieces of a blob; up to `end` where it goes on growing. */
export function* piecesOf(
  files: Files, path: string, end = Number.POSITIVE_INFINITY,
): Generator<Buffer> {
  const fd = files.open(path, 'read')
  try {
    const size = Math.min(files.fstat(fd).size, end)
    for (let at = 0; at < size; at += pieceBytes) {
      yield readRange(files, fd, at, Math.min(pieceBytes, size - at))
    }
  } finally {
    files.close(fd)
  }
}

/** Brings stored files to the place and from there. */
export class BlobTraffic {
  readonly #at: ArtifactParts
  readonly #folder: ArtifactFolder
  /** Names that were written by this process and are not at the place yet. */
  readonly #written = new Set<string>()
  /** Names that are known to lie at the place, and texts that are known to be no blob. */
  readonly #there = new Set<string>()
  readonly #noBlobs = new Set<string>()

  constructor(parts: ArtifactParts) {
    this.#at = parts
    const { files, dir } = parts
    this.#folder = { files, dir, durable: new Set() }
  }

  /** Remembers a file that this process has stored. */
  wrote(stored: string): void {
    this.#written.add(stored)
    this.#noBlobs.delete(stored)
  }

  #isHere(name: string): boolean {
    const { files, dir } = this.#at
    return orIoFailure('artifact', () => files.stat(storedPath(dir, name))) !== undefined
  }

  /** Whether a stored file lies here with the bytes that its name says. */
  isTrue(name: string): boolean {
    const { files, dir } = this.#at
    return orIoFailure('artifact', () => isTrueFile(files, storedPath(dir, name)))
  }

  /** Puts every stored file that a record names to the place, where it is not yet. */
  async bring(payload: string): Promise<void> {
    const names = namesIn(payload).filter((name) => !this.#there.has(name) && this.#isHere(name))
    const unsure = names.filter((name) => !this.#written.has(name))
    const there = new Set(unsure.length === 0 ? [] : await this.#at.place().hasBlobs(unsure))
    for (const name of names) {
      // What is damaged here is no reason to lose the record: a look at it says so on each machine.
      if (there.has(name) || await this.put(name)) this.#there.add(name)
      this.#written.delete(name)
    }
  }

  /** The same of many records at a place that may have lost what was known to lie there. */
  async bringAnew(payloads: readonly string[]): Promise<void> {
    this.#there.clear()
    this.#noBlobs.clear()
    await this.bring([...new Set(payloads.flatMap(namesIn))].join(' '))
  }

  /** Puts one stored file to the place; false where its bytes are not what its name says. */
  async put(name: string): Promise<boolean> {
    const { files, dir, place } = this.#at
    if (!this.isTrue(name)) return false
    const path = storedPath(dir, name)
    const isShort = (files.stat(path)?.size ?? 0) <= pieceBytes
    const bytes = isShort ? readWhole(files, path, pieceBytes) : undefined
    await place().putBlob(name, bytes ?? piecesOf(files, path))
    return true
  }

  /** Fetches every stored file that records name and that is missing here. */
  async fetch(payloads: readonly string[]): Promise<void> {
    await this.fetchNamed([...new Set(payloads.flatMap(namesIn))])
  }

  /** The same of stored files by their names. Whether all of them are here behind that. */
  fetchNamed(names: readonly string[]): Promise<boolean> {
    return this.#fetchEach(names.filter((name) => !this.#isHere(name)))
  }

  /** The same, and what lies here with other bytes than its name says gives way to what comes. */
  fetchTrue(names: readonly string[]): Promise<boolean> {
    for (const name of names) this.#noBlobs.delete(name)
    return this.#fetchEach(names.filter((name) => !this.isTrue(name)))
  }

  async #fetchEach(missing: readonly string[]): Promise<boolean> {
    const wanted = missing.filter((name) => !this.#noBlobs.has(name))
    if (wanted.length === 0) return missing.length === 0
    const there = new Set(await this.#at.place().hasBlobs(wanted))
    for (const name of wanted) {
      if (!there.has(name)) {
        this.#noBlobs.add(name)
        continue
      }
      await this.#fetchOne(name)
      this.#there.add(name)
    }
    return missing.every((name) => !this.#noBlobs.has(name))
  }

  /** What lies here stays until all of what comes was compared with the name. */
  async #fetchOne(name: string): Promise<void> {
    const { files, dir, place } = this.#at
    const draft = new FileDraft(this.#folder, { kind: 'named', stored: name })
    const digest = createHash('sha256')
    try {
      for await (const piece of place().getBlob(name)) {
        // A file of one piece is no more than a record: what only stops must go on following.
        if (draft.bytes > 0) this.#requireRoom()
        digest.update(piece)
        draft.append(piece)
      }
      if (draft.bytes === 0) return
      if (digest.digest('hex') !== name) throw untrueThere()
      orIoFailure('artifact', () => requireShard(files, dir, name))
      if (!this.isTrue(name)) {
        orIoFailure('artifact', () => removeFile(files, storedPath(dir, name)))
      }
      draft.publish()
    } finally {
      draft.abandon()
    }
  }

  /** How long a blob is the server alone says: it must not take what this machine writes with. */
  #requireRoom(): void {
    const { files, dir } = this.#at
    const free = orIoFailure('artifact', () => files.freeBytes(dir))
    if (free >= reserveBytes) return
    throw fail.failed('disk_full', 'The disk has too little room for content of the server.', {
      next: 'Free some space and run the command again.',
      details: { bytes_needed: reserveBytes, bytes_free: free },
    })
  }

  /** Takes stored files away from the place. Throws what `Place` does: they are swept later. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#there.delete(name)
      this.#written.delete(name)
    }
    await this.#at.place().removeBlobs(names)
  }

  /**
   * Takes away what has lain at the place for a day and is not `named`, which is asked behind the
   * look: a record that names a file is placed just behind the file. Answers how many went.
   */
  async sweep(named: () => Promise<ReadonlySet<string>>): Promise<number> {
    const old: string[] = []
    for (let after = ''; ;) {
      const page = await this.#at.place().oldBlobs(after, namesAtOnce)
      const last = page.at(-1) ?? ''
      // A server that tells the same names again would be asked for ever.
      if (last <= after) break
      old.push(...page)
      after = last
    }
    const kept = old.length === 0 ? new Set() : await named()
    const gone = old.filter((name) => !kept.has(name))
    for (let at = 0; at < gone.length; at += namesAtOnce) {
      await this.remove(gone.slice(at, at + namesAtOnce))
    }
    return gone.length
  }
}

/** Artifacts as the layers above use them: those of this replica, and what is written is noted. */
export const placedArtifacts = (local: Artifacts, traffic: BlobTraffic): Artifacts => ({
  ...local,
  write: (label, plaintext, options) => {
    const ref = local.write(label, plaintext, options)
    traffic.wrote(ref.stored_sha256)
    return ref
  },
  writeStream: (label, options) => noting(local.writeStream(label, options), traffic),
  writePack: (label) => noting(local.writePack(label), traffic),
  remove: (stored) => {
    local.remove(stored)
    noteClosing(traffic.remove([stored]))
  },
})

type Finishing = ReturnType<Artifacts['writeStream']> | ReturnType<Artifacts['writePack']>

/** A writer whose end is noted. */
const noting = <W extends Finishing>(writer: W, traffic: BlobTraffic): W =>
  new Proxy(writer, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'finish') return value.bind(target) as unknown
      return (...given: readonly unknown[]) => {
        const ref = Reflect.apply(value, target, given) as ReturnType<W['finish']>
        traffic.wrote(ref.stored_sha256)
        return ref
      }
    },
  })
