/**
 * Whether another job sent the same text to the same place by the same account within the moments
 * of one: time and author tell them apart then no more, and a number that a person found may be of
 * either. A mark does. Pure, out of rows of one view.
 */
import { digestOf } from '../../base/canonical.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import type { Contact, HostWindow } from '../adapter/host-time.js'
import type { LedgerEffect } from '../jobs/effects.js'
import { ledgerOf, provenanceOf } from '../jobs/ledger.js'
import { closureBlocked } from './blockers.js'
import { followThroughKind } from '../jobs/kinds.js'
import { jobCollection, jobsByState, type Job, type JobState } from '../jobs/job-rows.js'
import { provesAnother } from '../jobs/receipt.js'

/** States in which an effect that may have happened has no number and no proof. */
const openStates: readonly JobState[] = ['running', 'unknown_external_effect', 'blocked', 'failed']

const saysTheSame = (one: Job, other: Job): boolean => one.job_id !== other.job_id
  && other.closed === null && other.contacted > 0 && one.repository_id === other.repository_id
  && one.native_kind === other.native_kind && one.input_sha256 === other.input_sha256
  && digestOf(one.author ?? null) === digestOf(other.author ?? null)

/** Of it nobody knows whether it happened, nor under which number. */
const isOpen = ({ standing, remoteId }: LedgerEffect): boolean =>
  remoteId === null && (standing === 'unknown' || standing === 'contacted')

const overlap = (one: HostWindow | null, other: HostWindow | null): boolean =>
  one === null || other === null || (one.fromMs <= other.toMs && other.fromMs <= one.toMs)

/** The number that a person gives of what a follow-through job made in a contact. */
interface Given {
  readonly contact: Contact | null
  readonly remoteId: number
}

const besideOthers = (
  view: View, job: Job, { contact, remoteId }: Given,
): 'remote_taken' | 'effect_repeated' | null => {
  const { window } = provenanceOf(job, contact)
  const effects = openStates.flatMap((state) =>
    rowsUnder(view, jobCollection, jobsByState, { under: [state] }))
    .filter(({ doc }) => saysTheSame(job, doc))
    .flatMap(({ doc }) => ledgerOf(view, doc.job_id).effects.map((effect) => ({ doc, effect })))
  // The host itself said so, in answer to that other one.
  if (effects.some(({ effect }) => effect.remoteId === remoteId)) return 'remote_taken'
  return effects.some(({ doc, effect }) => isOpen(effect)
    && overlap(window, provenanceOf(doc, effect.contact).window)) ? 'effect_repeated' : null
}

/** An effect with the number that the host is asked for; null where it has an id by its content. */
interface Numbered {
  readonly number: number
  readonly action: string
  readonly remote_id: number | null
}

const notItsOwn = (
  view: View, job: Job, effects: readonly Numbered[],
): 'remote_taken' | 'effect_repeated' | null => {
  if (provesAnother(view, job, effects)) return 'remote_taken'
  // One that was closed has its number by its proof.
  if (job.native_kind !== followThroughKind || job.mark !== undefined || job.closed !== null) {
    return null
  }
  const own = ledgerOf(view, job.job_id).effects
  for (const { number, remote_id: remoteId } of effects) {
    const { contact = null, remoteId: recorded = null } =
      own.find((one) => one.number === number) ?? {}
    const found = recorded !== null || remoteId === null
      ? null : besideOthers(view, job, { contact, remoteId })
    if (found !== null) return found
  }
  return null
}

/**
 * Throws `blocked` `closure_blocked` where what is read proves nothing of a job: it proves another
 * one (`remote_taken`), or the number is a person's word and a job that says the same has it by the
 * host's own answer (`remote_taken`) or has none (`effect_repeated`). Asked before anything is read
 * and again in the record. A mark in the text tells jobs apart, and so does the host's answer to
 * the job itself (C-021, C-192).
 */
export const requireItsOwn = (view: View, job: Job, effects: readonly Numbered[]): void => {
  const blocker = notItsOwn(view, job, effects)
  if (blocker !== null) throw closureBlocked(blocker, job.job_id)
}
