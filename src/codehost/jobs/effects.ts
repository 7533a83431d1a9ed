/** How the effects of a job stand, folded out of its ledger. Pure. */
import { msFromIso } from '../../base/clock.js'
import type { Contact } from '../adapter/host-time.js'
import type { EffectEntry, EffectOutcome } from './histories.js'

/**
 * How one effect stands: `planned`: no byte of it ever left; `contacted`: it may have happened and
 * nobody wrote down what came of it.
 */
type EffectStatus = 'planned' | 'contacted' | Exclude<EffectOutcome, 'unsent'>

/** One effect as the ledger tells it. */
export interface LedgerEffect {
  readonly number: number
  readonly standing: EffectStatus
  readonly remoteId: number | null
  readonly reason: string | null
  readonly status: number | null
  readonly bodySha256: string | null
  /** The contact that it may have happened in; null where there was none. */
  readonly contact: Contact | null
}

/** What is known of the local work of a publication; it is begun once. */
export interface LedgerProducer {
  readonly producerId: string
  readonly bindingSha256: string
  /** `spawned`: it may have been started, and nothing proves that nothing of it is left. */
  readonly standing: 'spawned' | 'complete' | 'prefix'
  /** Why it ended before it had made everything. */
  readonly reason: string | null
  /** SHA-256 of the marker that proves its end; null where none was recorded. */
  readonly markerSha256: string | null
}

/** What the ledger of a job comes to. */
export interface EffectLedger {
  /** The line that registered the plan; undefined where there is none. */
  readonly plan: Extract<EffectEntry, { type: 'plan' }> | undefined
  /** Null where nothing was ever started. */
  readonly producer: LedgerProducer | null
  readonly effects: readonly LedgerEffect[]
  /** How many may have happened. */
  readonly contacted: number
  /** How many the host answered as made. */
  readonly created: number
}

const standingOf = (
  before: LedgerEffect, entry: Extract<EffectEntry, { type: 'contacted' | 'outcome' }>,
): LedgerEffect => {
  if (entry.type === 'contacted') {
    return {
      ...before, standing: 'contacted', bodySha256: entry.body_sha256,
      contact: { markedMs: msFromIso(entry.at), endedMs: null, ahead: entry.host_ahead ?? null },
    }
  }
  const { outcome, remote_id: remoteId, reason, status } = entry
  const standing = outcome === 'unsent' ? 'planned' : outcome
  // What was found later says nothing of when the contact ended.
  const contact = before.contact === null || before.contact.endedMs !== null ? before.contact
    : { ...before.contact, endedMs: msFromIso(entry.at) }
  return { ...before, standing, remoteId, reason, status, contact }
}

const producerAfter = (
  before: LedgerProducer | null, entry: Extract<EffectEntry, { type: 'spawn' | 'produced' }>,
): LedgerProducer | null => {
  if (entry.type === 'spawn') {
    const { producer_id: producerId, binding_sha256: bindingSha256 } = entry
    return { producerId, bindingSha256, standing: 'spawned', reason: null, markerSha256: null }
  }
  const isOwn = before?.producerId === entry.producer_id
  return isOwn ? {
    ...before, standing: entry.end, reason: entry.reason, markerSha256: entry.marker_sha256,
  } : before
}

const plannedEffect = (number: number): LedgerEffect => ({
  number, standing: 'planned', remoteId: null, reason: null, status: null, bodySha256: null,
  contact: null,
})

/** Folds the lines of a ledger, oldest first. */
export const effectLedger = (entries: readonly EffectEntry[]): EffectLedger => {
  let plan: EffectLedger['plan']
  let producer: LedgerProducer | null = null
  const effects = new Map<number, LedgerEffect>()
  for (const entry of entries) {
    if (entry.type === 'plan') {
      plan ??= entry
      for (let number = 1; number <= entry.effects; number += 1) {
        effects.set(number, plannedEffect(number))
      }
    } else if (entry.type === 'spawn' || entry.type === 'produced') {
      producer = producerAfter(producer, entry)
    } else {
      const before = effects.get(entry.effect)
      if (before !== undefined) effects.set(entry.effect, standingOf(before, entry))
    }
  }
  const all = [...effects.values()]
  return {
    plan, producer, effects: all,
    contacted: all.filter(({ standing }) => standing !== 'planned').length,
    created: all.filter(({ standing }) => standing === 'created').length,
  }
}
