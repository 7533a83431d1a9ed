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
import { jobCollection, jobsByState, type Job, type JobState } from '../jobs/job-rows.js'

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

/** Whether a follow-through job that was sent in this contact is one of several of one text. */
export const isRepeated = (
  view: View, job: Job, contact: Contact | null,
): boolean => {
  // One that was closed has its number by its proof.
  if (job.mark !== undefined || job.closed !== null) return false
  const { window } = provenanceOf(job, contact)
  return openStates.flatMap((state) =>
    rowsUnder(view, jobCollection, jobsByState, { under: [state] }))
    .filter(({ doc }) => saysTheSame(job, doc))
    .some(({ doc }) => ledgerOf(view, doc.job_id).effects.some((effect) => isOpen(effect)
      && overlap(window, provenanceOf(doc, effect.contact).window)))
}
