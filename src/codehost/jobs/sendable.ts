/**
 * Which POST of a job may be sent next. Every one before it was answered as made, none behind it
 * was ever marked, and what was marked is never marked again, unless the run that marked it saw
 * that no byte of it left.
 */
import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import { effectHistory, lastEntry, type EffectEntry } from './histories.js'
import { publicationKind } from './kinds.js'
import { ledgerOf } from './ledger.js'
import type { EffectLedger } from './effects.js'
import type { Job } from './job-rows.js'

type Rows = Pick<View, 'get' | 'range'>

const isPublication = ({ native_kind: kind }: Job): boolean => kind === publicationKind

const contacted = ({ job_id }: Pick<Job, 'job_id'>) =>
  fail.conflict('effect_contacted', 'What this job sends may have been sent already.', {
    next: `Nothing is sent twice. See \`sallyport codehost jobs ${job_id}\`.`, details: { job_id },
  })

const finished = ({ job_id }: Job) =>
  fail.conflict('job_state', 'All of this job was sent: nothing is left to go on with.', {
    next: `Look at it: \`sallyport codehost jobs ${job_id}\`.`, details: { job_id },
  })

/** How many POSTs were answered as made, where none other may have happened; else null. */
const madeInOrder = ({ effects, created }: EffectLedger): number | null => {
  const inOrder = effects.every(({ standing }, at) =>
    standing === (at < created ? 'created' : 'planned'))
  return inOrder && effects.length > 0 ? created : null
}

/**
 * The number of the POST to go on with, from the whole ledger. Throws `conflict`
 * (`effect_contacted`, `job_state`).
 */
export const nextEffect = (view: Rows, job: Job): number => {
  const made = madeInOrder(ledgerOf(view, job.job_id))
  if (made === null || made !== job.created || made !== job.contacted) throw contacted(job)
  if (made === job.plan.effects) throw isPublication(job) ? finished(job) : contacted(job)
  return made + 1
}

const leadsTo = (job: Job, last: EffectEntry | undefined, effect: number): boolean => {
  // Without local work the plan leads to the first.
  if (last?.type === 'plan') return !isPublication(job) && effect === 1
  if (last?.type === 'produced') return last.end === 'complete' && effect === 1
  if (last?.type !== 'outcome') return false
  return (last.outcome === 'unsent' && last.effect === effect)
    || (last.outcome === 'created' && last.effect === effect - 1)
}

/**
 * The same just before a mark, from the job's counts and the last line of its ledger, however long
 * that is. Throws `conflict` `effect_contacted`.
 */
export const requireNext = (view: Rows, job: Job, effect: number): void => {
  const inOrder = job.contacted === effect - 1 && job.created === effect - 1
  if (inOrder && leadsTo(job, lastEntry(view, effectHistory, job.job_id), effect)) return
  throw contacted(job)
}
