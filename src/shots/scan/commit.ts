/**
 * Writing down one batch: every file of it is decided again from the rows as they are under the
 * lock, in one transaction, so that two scans of one folder give each image once. What was read and
 * decoded was read and decoded before; under the lock there are only rows and one sealed
 * fingerprint.
 */
import { encodeFingerprint } from '../../images/fingerprint.js'
import type { Fingerprint, PixelRect } from '../../images/types.js'
import { newId } from '../../base/ids.js'
import { discardStored, dropArtifact, registerArtifact } from '../../governance/artifacts.js'
import { policyHead } from '../../governance/policy/head.js'
import type { ArtifactRef, Store, Tx } from '../../state/types.js'
import { edgeSource, screenshotSource, shotLabels } from '../constants.js'
import type { CurrentFacts } from '../observations/as-of-now.js'
import {
  fileIdOf, folderRow, noteSuppressed, putObservation,
} from '../observations/observation-store.js'
import {
  contentIdOf, shotCollections as c, type CaptureOf, type Observation, type SeenFile,
} from '../observations/observation-rows.js'
import type { IgnoredHere, IgnoredOf } from '../source/ignored.js'
import { decide, runLeft, type Decision, type Loaded } from './decide.js'
import { fingerprintArtifactId, representativeOf } from './representative.js'
import { stampOf } from './same-file.js'
import type { Counted } from './tally.js'
import type { NewStatus, Representative, TakenFile } from './types.js'
import { Unconfirmed } from './unconfirmed.js'

/** What a batch is written with. */
export interface BatchRules {
  readonly folder: string
  readonly folderDigest: string
  /** The stored capture that all of it is about; left out for the files of a folder. */
  readonly edge?: CaptureOf
  readonly refreshMs: number
  /** What rows are compared with, as of the transaction. */
  readonly facts: (tx: Tx) => CurrentFacts
  /** What does not count of images, as of the transaction. */
  readonly ignored: (tx: Tx) => IgnoredOf
  readonly newStatus: (tx: Tx) => NewStatus
  /** A new row of bytes that were sent before is what that request made of them (S-168). */
  readonly takeOver: (tx: Tx, row: Observation, now: string) => Observation
}

/** Owner that a representative's fingerprint is registered under: no person's. */
const fingerprintOwner = 'screenshot_folder_ingest'

/** Decisions that can be written down. */
type Made = Exclude<Decision, { kind: 'unconfirmed' }>
/** Decisions by which a file's row is written anew. */
type Written = Exclude<Made, { kind: 'seen' | 'again' }>

/** One batch inside its transaction. */
class Batch {
  readonly counted: Counted[] = []
  #representative: Representative | null
  #newest: TakenFile | null = null
  #duplicates = 0
  #rejected = 0
  readonly #status: NewStatus
  readonly #facts: CurrentFacts
  readonly #ignored: IgnoredOf

  constructor(
    readonly tx: Tx, readonly store: Store, readonly now: string, readonly rules: BatchRules,
  ) {
    this.#representative = representativeOf(tx, store, rules.folderDigest)
    this.#status = rules.newStatus(tx)
    this.#facts = rules.facts(tx)
    this.#ignored = rules.ignored(tx)
  }

  take(taken: TakenFile): void {
    const loaded = this.#load(taken)
    const decision = decide(taken, loaded)
    // Two pictures are not looked at under the lock: this transaction comes to nothing.
    if (decision.kind === 'unconfirmed') {
      throw new Unconfirmed(taken, decision.representative, loaded.ignored)
    }
    this.counted.push(countedOf(taken, decision))
    if (decision.kind === 'seen') return
    if (decision.kind === 'again') return this.#again(taken, loaded, decision.changed)
    const left = runLeft(taken, loaded, decision)
    if (left !== null) this.#put(left)
    const observation = this.#apply(taken, decision, loaded.ignored)
    this.tx.put(c.files, this.#fileId(taken), seenOf(taken, decision, {
      folderDigest: this.rules.folderDigest, observation, ignored: loaded.ignored, now: this.now,
    }))
  }

  /** The row stays what it was, about the file as it is now. */
  #again(taken: TakenFile, { seen }: Loaded, changed: Observation | null): void {
    if (changed !== null) this.#put(changed)
    if (seen === undefined) return
    this.tx.put(c.files, this.#fileId(taken), { ...seen, ...stampOf(taken) })
  }

  #contentId(sha256: string): string {
    const { folderDigest, edge } = this.rules
    return contentIdOf({ sha256, root_digest: folderDigest, edge })
  }

  #fileId(taken: TakenFile): string {
    return fileIdOf(this.rules.folderDigest, taken.name)
  }

  #load(taken: TakenFile): Loaded {
    const { tx } = this
    const seen = tx.get(c.files, this.#fileId(taken))
    const observation = (id: string | null | undefined): Observation | undefined =>
      id === null || id === undefined ? undefined : tx.get(c.observations, id)
    const known = taken.sha256 === null
      ? undefined : tx.get(c.contents, this.#contentId(taken.sha256))
    const twins = (known?.observations ?? []).map((twin) => observation(twin.observation_id))
    const standIns = (known?.suppressed_for ?? []).map(observation)
    return {
      folderDigest: this.rules.folderDigest,
      seen,
      seenObservation: observation(seen?.observation_id),
      twins: twins.filter((row) => row !== undefined),
      standIns: standIns.filter((row) => row !== undefined),
      representative: this.#representative,
      now: this.#facts,
      refreshMs: this.rules.refreshMs,
      ignored: this.#ignored(taken.width, taken.height),
    }
  }

  /** Writes what a decision changes; gives the id of the observation that the file led to. */
  #apply(taken: TakenFile, decision: Written, ignored: IgnoredHere | null): string | null {
    if (decision.kind === 'rejected') {
      this.#rejected += 1
      return null
    }
    if (decision.kind === 'duplicate') {
      this.#duplicates += 1
      if (decision.changed !== null) this.#put(decision.changed)
      return decision.observation.observation_id
    }
    if (decision.kind === 'suppressed') {
      this.#put(decision.changed)
      const { observation_id: id } = decision.changed
      if (taken.sha256 !== null) noteSuppressed(this.tx, this.#contentId(taken.sha256), id)
      return id
    }
    const fresh = this.#fresh(taken, decision.region, ignored)
    // Bytes that no row knows yet are looked up when they would be sent.
    const isKnown = (this.tx.get(c.contents, contentIdOf(fresh))?.observations ?? []).length > 0
    const row = isKnown ? this.rules.takeOver(this.tx, fresh, this.now) : fresh
    this.#put(row)
    this.#representative = { row, fingerprint: taken.fingerprint }
    this.#newest = taken
    return row.observation_id
  }

  #put(row: Observation): void {
    putObservation(this.tx, this.now, row)
    const current = this.#representative
    if (current?.row.observation_id === row.observation_id) {
      this.#representative = { ...current, row }
    }
  }

  #fresh(
    taken: TakenFile, region: PixelRect | null, ignored: IgnoredHere | null,
  ): Observation {
    const { folder, folderDigest, edge } = this.rules
    if (taken.sha256 === null || taken.format === null) {
      throw new TypeError('only an image that was read becomes an observation')
    }
    return {
      observation_id: newId('obs'),
      source: edge === undefined ? screenshotSource : edgeSource,
      root: folder,
      root_digest: folderDigest,
      sha256: taken.sha256,
      bytes: taken.bytes,
      format: taken.format,
      width: taken.width,
      height: taken.height,
      captured_at: taken.capturedAt,
      captured_in_future: taken.inFuture,
      observed_at: this.now,
      observed_revision: policyHead(this.tx).revision,
      paths: [{ name: taken.name, modified_at: taken.capturedAt }],
      screenshot_visual_run: null,
      ...(ignored === null ? {} : { ignored_sha256: ignored.sha256 }),
      ...(region === null ? {} : { changed_region: region }),
      analysis_status: this.#status.analysis_status,
      classification: null,
      archived_at: null,
      analyzer: {
        reason: this.#status.reason, detail: null, attempts: 0, input_digest: null,
        operation_id: null, contact: 'none', reanalyze_reason: null, updated_at: null,
      },
      payload: null,
      ...(edge === undefined ? {} : { edge }),
    }
  }

  /** The folder's own row, and the new representative's fingerprint in place of the old one's. */
  finish(): string | null {
    const { tx, now, rules } = this
    const before = folderRow(tx, rules.folder, now)
    const row = {
      ...before,
      duplicates: before.duplicates + this.#duplicates,
      rejected: before.rejected + this.#rejected,
    }
    const current = this.#representative
    if (this.#newest === null || current === null) {
      if (this.#duplicates + this.#rejected > 0) tx.put(c.folders, rules.folderDigest, row)
      return null
    }
    const { old, fingerprint } = this.#keep(current.fingerprint)
    const { observation_id, format, width, height } = current.row
    tx.put(c.folders, rules.folderDigest, {
      ...row,
      representative: {
        observation_id, format, width: width ?? 0, height: height ?? 0, fingerprint,
      },
    })
    return old
  }

  #keep(
    fingerprint: Fingerprint | null,
  ): { readonly old: string | null; readonly fingerprint: ArtifactRef | null } {
    const { tx, now, rules } = this
    const artifactId = fingerprintArtifactId(rules.folderDigest)
    const old = dropArtifact(tx, artifactId)
    if (fingerprint === null) return { old, fingerprint: null }
    const ref = this.store.artifacts.write(shotLabels.fingerprint, encodeFingerprint(fingerprint))
    registerArtifact(tx, now, {
      artifactId, label: shotLabels.fingerprint, ref, owner: fingerprintOwner, taskId: null,
      adopted: false,
    })
    const { stored_sha256, sha256, bytes } = ref
    return { old, fingerprint: { stored_sha256, sha256, bytes } }
  }
}

const countedOf = (taken: TakenFile, decision: Made): Counted => {
  const { name } = taken
  if (decision.kind === 'seen') {
    return { name, outcome: 'duplicate', reason: 'taken_by_another_scan', isProblem: false }
  }
  if (decision.kind === 'ingested') {
    return {
      name, outcome: 'ingested', reason: taken.flaw, isProblem: taken.flaw !== null,
      changedLittle: decision.region !== null,
    }
  }
  const { kind, reason } = decision
  if (kind === 'again') return { name, outcome: 'duplicate', reason, isProblem: false }
  return { name, outcome: kind, reason, isProblem: kind === 'rejected' }
}

const seenOf = (
  taken: TakenFile, decision: Written,
  { folderDigest, observation, ignored, now }: {
    readonly folderDigest: string
    readonly observation: string | null
    readonly ignored: IgnoredHere | null
    readonly now: string
  },
): SeenFile => ({
  root_digest: folderDigest,
  name: taken.name,
  ...stampOf(taken),
  outcome: decision.kind,
  reason: decision.reason,
  measure: 'measure' in decision ? decision.measure : null,
  ...('cell' in decision && decision.cell !== null ? { cell: decision.cell } : {}),
  ...('compared' in decision && decision.compared !== null ? { compared: decision.compared } : {}),
  ...('measure' in decision && ignored !== null ? { ignored_sha256: ignored.sha256 } : {}),
  ...(decision.kind === 'ingested' && taken.flaw !== null ? { flaw: taken.flaw } : {}),
  observation_id: observation,
  sha256: taken.sha256,
  seen_at: now,
})

/**
 * Writes a batch in the caller's transaction. Throws `Unconfirmed` where a file looks like the
 * representative as it is now and was not compared with it. Gives how each file is counted, and a
 * clean-up for after the record is durable.
 */
export const writeBatch = (
  tx: Tx, store: Store, now: string, rules: BatchRules, files: readonly TakenFile[],
): { readonly counted: readonly Counted[]; readonly after: () => void } => {
  const batch = new Batch(tx, store, now, rules)
  for (const taken of files) batch.take(taken)
  const old = batch.finish()
  return { counted: batch.counted, after: () => discardStored(store, old) }
}
