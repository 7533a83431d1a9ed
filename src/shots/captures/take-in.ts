/**
 * What paired devices stored becomes observations of its owner, one record for each capture. It is
 * judged as a file of a folder is, against the pictures of its own device alone. Its bytes lie
 * sealed already: they are read once, nothing of them is copied, and nothing is held while a
 * picture is looked into. A capture that was cut off is taken in by whoever comes next; one that
 * another process took in meanwhile is found so in the record.
 */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import { defaultPrincipal } from '../../governance/principals.js'
import type { Examined } from '../../images/types.js'
import type { StoredCapture, StoredCaptures } from '../../observations/captures.js'
import type { Tx, View } from '../../state/types.js'
import { afterEarlierCall } from '../analysis/earlier-call.js'
import { captureUnreadable } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { transactCounted } from '../locked.js'
import { currentFacts } from '../observations/as-of-now.js'
import { newCaptureStatus } from './new-status.js'
import { isWithheld, sealedBytes } from './sealed-bytes.js'
import { folderRow } from '../observations/observation-store.js'
import { shotCollections as c, type CaptureOf } from '../observations/observation-rows.js'
import { writeBatch, type BatchRules } from '../scan/commit.js'
import { makeExaminer } from '../scan/examiner.js'
import type { Confirmation, Examiner, FileOutcome, TakenFile } from '../scan/types.js'
import { Unconfirmed } from '../scan/unconfirmed.js'
import { devicePlace } from '../source/folder-digest.js'
import { ignoredOf } from '../source/ignored.js'
import { ingestSettings, savedSettings } from '../source/settings.js'

/** How many captures became what. */
export interface TakenIn {
  readonly taken: Readonly<Record<Exclude<FileOutcome, 'deferred'>, number>>
  /** Captures that wait for the next time. */
  readonly left: number
}

/** Comparisons that a record asks for, before a capture is taken in unconfirmed. */
const triesMax = 3

const nsPerMs = 1_000_000n

const nsOf = (iso: string): string => String(BigInt(msFromIso(iso)) * nsPerMs)

const captureOf = (capture: StoredCapture): CaptureOf => ({
  owner: capture.owner, device_id: capture.deviceId, device_name: capture.deviceName,
  artifact_id: capture.artifactId, sequence: capture.sequence,
  ...(capture.mayLeave ? { may_leave: true } : {}),
})

/** A capture as a file is that was read once and looked into; its name is the id of the upload. */
const takenOf = (
  capture: StoredCapture, examined: Examined | null, nowMs: number,
): TakenFile => {
  const atMs = msFromIso(capture.capturedAt)
  const facts = examined?.facts
  const refused = facts === undefined ? captureUnreadable
    : facts.reason ?? (facts.format === null ? 'not_an_image' : null)
  return {
    file: 0, name: { text: capture.artifactId, bytes_base64: null },
    stamp: { size: capture.bytes, mtimeMs: atMs, ctimeMs: atMs, ino: capture.sequence },
    bytes: capture.bytes, modifiedNs: nsOf(capture.capturedAt),
    changedNs: nsOf(capture.receivedAt), inode: String(capture.sequence),
    capturedAt: capture.capturedAt, inFuture: atMs > nowMs,
    sha256: examined?.sha256 ?? null, format: facts?.format ?? null,
    width: facts?.width ?? null, height: facts?.height ?? null,
    fingerprint: examined?.fingerprint ?? null, refused, flaw: examined?.reason ?? null,
    confirmed: null,
  }
}

/** Highest number of a device up to which everything was looked at. */
const takenUpTo = (view: View, folderDigest: string): number =>
  view.get(c.folders, folderDigest)?.taken_sequence ?? 0

/** Captures of a device that wait. */
interface Waiting {
  readonly deviceId: string
  /** Oldest first. */
  readonly captures: readonly StoredCapture[]
  /** The device's highest number as these were found. */
  readonly lastSequence: number
}

/**
 * What waits of each device. Numbers of a device only grow, so that no more captures wait than
 * numbers lie above the last one that was looked at; they need not be the newest by their ids,
 * because clocks can be set back.
 */
const waitingOf = (shelf: StoredCaptures, view: View): Waiting[] => {
  const { principal_id: owner } = defaultPrincipal(view)
  return shelf.devicesOf(view, owner).flatMap(({ deviceId, lastSequence }) => {
    const before = takenUpTo(view, devicePlace(deviceId).folderDigest)
    const captures: StoredCapture[] = []
    if (lastSequence <= before) return []
    for (const one of shelf.newestFirst(view, deviceId)) {
      if (one.sequence > before) captures.push(one)
      if (captures.length === lastSequence - before) break
    }
    return [{
      deviceId, captures: captures.sort((a, b) => a.sequence - b.sequence), lastSequence,
    }]
  })
}

/** Taking in the captures of one device. */
class Intake {
  /** The picture that the next one is compared with: nothing is read twice. */
  #held: { readonly artifactId: string; readonly bytes: Uint8Array } | null = null

  constructor(
    readonly ctx: ShotsContext, readonly shelf: StoredCaptures, readonly examiner: Examiner,
    readonly deviceId: string,
  ) {}

  /** Takes one in; answers what became of it, null where another process was before. */
  async take(capture: StoredCapture): Promise<FileOutcome | null> {
    const { gov } = this.ctx
    await gov.observer.at('capture.read')
    const bytes = this.#read(capture.artifactId)
    const examined = bytes === null ? null : await this.examiner.examine(bytes)
    await gov.observer.at('capture.writing')
    let taken = takenOf(capture, examined, gov.clock.wallMs())
    for (let tries = 0; ; tries += 1) {
      try {
        const outcome = await this.#write(capture, taken)
        if (outcome === 'ingested' && bytes !== null) {
          this.#held = { artifactId: capture.artifactId, bytes }
        }
        await gov.observer.at('capture.written')
        return outcome
      } catch (error) {
        if (!(error instanceof Unconfirmed) || bytes === null) throw error
        const confirmed = await this.#compare(error, bytes, tries)
        taken = { ...taken, confirmed }
      }
    }
  }

  /** Everything up to a number was looked at, where nothing of it is left to be taken in. */
  async upTo(sequence: number): Promise<void> {
    await transactCounted(this.ctx.gov, 'edge observe', (tx) => this.#lookedAt(tx, sequence))
  }

  #read(artifactId: string): Uint8Array | null {
    const { store } = this.ctx.gov
    if (this.#held?.artifactId === artifactId) return this.#held.bytes
    return sealedBytes(store, this.shelf, artifactId)
  }

  async #compare(
    { representative: row, ignored }: Unconfirmed, bytes: Uint8Array, tries: number,
  ): Promise<Confirmation> {
    const about = { difference: null, ignoredSha256: ignored?.sha256 ?? null }
    // Whoever takes the same device in beside this must not keep it from coming to its end.
    if (tries >= triesMax) {
      return { ...about, representativeSha256: null, verdict: 'not_compared' }
    }
    const { sha256 } = row
    const standing = row.edge === undefined ? null : this.#read(row.edge.artifact_id)
    if (standing === null) {
      return { ...about, representativeSha256: sha256, verdict: 'representative_gone' }
    }
    if (row.edge !== undefined) this.#held = { artifactId: row.edge.artifact_id, bytes: standing }
    const found = await this.examiner.compare({
      bytes, standing: { sha256, bytes: standing }, ignored: ignored?.rects ?? [],
    })
    return { ...about, representativeSha256: sha256, ...found }
  }

  #write(capture: StoredCapture, taken: TakenFile): Promise<FileOutcome | null> {
    const { gov } = this.ctx
    return transactCounted(gov, 'edge observe', (tx) => {
      const now = isoFromMs(gov.clock.wallMs())
      if (capture.sequence <= takenUpTo(tx, devicePlace(this.deviceId).folderDigest)) {
        return { outcome: null, after: () => undefined }
      }
      const { counted, after } = writeBatch(tx, gov.store, now, this.#rules(capture), [taken])
      this.#lookedAt(tx, capture.sequence)
      return { outcome: counted[0]?.outcome ?? null, after }
    }).then(({ outcome, after }) => {
      after()
      return outcome
    })
  }

  #lookedAt(tx: Tx, sequence: number): void {
    const { folder, folderDigest } = devicePlace(this.deviceId)
    if (sequence <= takenUpTo(tx, folderDigest)) return
    tx.put(c.folders, folderDigest, {
      ...folderRow(tx, folder, isoFromMs(this.ctx.gov.clock.wallMs())), taken_sequence: sequence,
    })
  }

  #rules(capture: StoredCapture): BatchRules {
    const { ctx } = this
    const settings = ingestSettings(ctx.gov.store.read(), ctx.env)
    return {
      ...devicePlace(this.deviceId),
      edge: captureOf(capture),
      refreshMs: settings.refreshMinutes.value * 60_000,
      facts: (tx) => currentFacts(ctx, tx),
      ignored: (tx) => ignoredOf(savedSettings(tx).ignore),
      newStatus: (tx) => newCaptureStatus(ctx, tx, captureOf(capture)),
      takeOver: (tx, row, now) => afterEarlierCall(ctx, tx, row, now),
    }
  }
}

const nothing: TakenIn['taken'] = { ingested: 0, duplicate: 0, suppressed: 0, rejected: 0 }

/**
 * Takes in what waits of the default owner's devices, oldest first, at most as many as one scan may
 * read. No screenshot of another owner is in the lists that everybody at this machine may see.
 * Throws `locked`, `failed` and `damaged`: what is recorded by then stays. What the disk does not
 * give is thrown behind the captures of all other devices.
 */
export const takeInCaptures = async (ctx: ShotsContext): Promise<TakenIn> => {
  const view = ctx.gov.store.read()
  const shelf = await ctx.captures()
  const waiting = waitingOf(shelf, view)
  const taken = { ...nothing }
  let left = waiting.reduce((sum, { captures }) => sum + captures.length, 0)
  if (waiting.length === 0) return { taken, left }
  let room = ingestSettings(view, ctx.env).ingestLimit.value
  const examiner = makeExaminer()
  const takeAll = async ({ deviceId, captures, lastSequence }: Waiting): Promise<void> => {
    const intake = new Intake(ctx, shelf, examiner, deviceId)
    for (const capture of captures.slice(0, room)) {
      if (ctx.signal.aborted) return
      const outcome = await intake.take(capture)
      if (outcome !== null && outcome !== 'deferred') taken[outcome] += 1
      left -= 1
    }
    if (captures.length <= room) await intake.upTo(lastSequence)
  }
  const unread: SallyportError[] = []
  try {
    for (const one of waiting) {
      // Its own wait behind it, those of others do not.
      await takeAll(one).catch((error: unknown) => {
        if (!isWithheld(error)) throw error
        unread.push(error)
      })
      if (ctx.signal.aborted) return { taken, left }
      room -= Math.min(room, one.captures.length)
    }
    const [first] = unread
    if (first !== undefined) throw first
    return { taken, left }
  } finally {
    await examiner.close()
  }
}

/** A scan, behind which captures are taken in: neither keeps the other from its end. */
export const withCaptures = async <T>(ctx: ShotsContext, scan: () => Promise<T>): Promise<T> => {
  try {
    return await scan()
  } finally {
    await takeInCaptures(ctx).catch((error: unknown) => {
      // They wait for the next time; what is wrong with a state is told by who looks after it.
      if (!(error instanceof SallyportError)) throw error
    })
  }
}
