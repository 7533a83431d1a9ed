/**
 * The sealed journals of one closure: its receipts in their order, cut where the next one would
 * make a journal larger than one may be; the last one also has the pages of changed paths. They
 * hold digests and no byte of a reply (C-228).
 */
import { canonicalJson } from '../../base/canonical.js'
import type { Gov } from '../../governance/context.js'
import { discardStored } from '../../governance/artifacts.js'
import { sealedExtraBytes } from '../../state/keys.js'
import type { ArtifactRef } from '../../state/types.js'
import { journalLabel } from '../constants.js'
import { keptLimits } from '../plan/plan-limits.js'
import type { ReadReceipt } from '../jobs/receipt.js'
import { closureBlocked } from './blockers.js'
import type { Evidence } from './evidence.js'

/** Most bytes of journals, as they are stored. */
interface JournalLimits {
  readonly journalBytesMax: number
  readonly journalsBytesMax: number
}

/** One journal. */
export interface SealedJournal {
  readonly ref: ArtifactRef
  readonly receipts: readonly ReadReceipt[]
}

/** Journals that so many receipts take at most; the pages of changed paths may take one more. */
export const journalsMax = (receipts: number): number => {
  const { journalBytesMax, receiptBytesMax } = keptLimits
  const inOne = Math.floor((journalBytesMax - receiptBytesMax) / receiptBytesMax)
  return Math.ceil(receipts / inOne) + 1
}

const schema = 'svc.codehost.reads.v1'
const frameBytes = Buffer.byteLength(canonicalJson({ schema, receipts: [] }))

/** Receipts of each journal. Pure. */
const cut = (
  receipts: readonly ReadReceipt[], bytesMax: number,
): readonly (readonly ReadReceipt[])[] => {
  const journals: ReadReceipt[][] = []
  let bytes = 0
  for (const receipt of receipts) {
    const more = Buffer.byteLength(canonicalJson(receipt)) + 1
    const last = journals.at(-1)
    if (last === undefined || bytes + more > bytesMax) {
      journals.push([receipt])
      bytes = frameBytes + more
    } else {
      last.push(receipt)
      bytes += more
    }
  }
  return journals
}

const bytesOf = (receipts: readonly ReadReceipt[], more: object = {}): Buffer =>
  Buffer.from(canonicalJson({ schema, receipts, ...more }))

type Contents = readonly (readonly [Buffer, readonly ReadReceipt[]])[]

const contentsOf = (
  { receipts, changedPaths }: Pick<Evidence, 'receipts' | 'changedPaths'>, bytesMax: number,
): Contents => {
  const parts = cut(receipts, bytesMax)
  const all = parts.map((part) => [bytesOf(part), part] as const)
  if (changedPaths === undefined) return all
  const [more, last] = [{ changed_paths: changedPaths }, parts.at(-1) ?? []]
  const whole = bytesOf(last, more)
  return whole.length <= bytesMax
    ? [...all.slice(0, -1), [whole, last]] : [...all, [bytesOf([], more), []]]
}

/**
 * Seals them, none where nothing was read. Throws `blocked` `closure_blocked` `journals_exceeded`
 * before any is written; what was written for nothing is let go.
 */
export const sealJournals = (
  { store }: Pick<Gov, 'store'>, jobId: string, evidence: Evidence, limits: JournalLimits,
): readonly SealedJournal[] => {
  const contents = contentsOf(evidence, limits.journalBytesMax - sealedExtraBytes)
  const stored = contents.map(([bytes]) => bytes.length + sealedExtraBytes)
  const fits = stored.every((bytes) => bytes <= limits.journalBytesMax)
    && stored.reduce((sum, bytes) => sum + bytes, 0) <= limits.journalsBytesMax
  if (!fits) throw closureBlocked('journals_exceeded', jobId)
  const sealed: SealedJournal[] = []
  try {
    for (const [bytes, receipts] of contents) {
      sealed.push({ ref: store.artifacts.write(journalLabel, bytes), receipts })
    }
  } catch (error) {
    for (const { ref } of sealed) discardStored(store, ref.stored_sha256)
    throw error
  }
  return sealed
}

/**
 * The receipts that get a row of their own: the last of each action, by which what the host has
 * numbered is found again. All of them lie in the journals.
 */
export const rowedReceipts = (receipts: readonly ReadReceipt[]): readonly ReadReceipt[] =>
  [...new Map(receipts.map((receipt) => [receipt.effect.action, receipt])).values()]
