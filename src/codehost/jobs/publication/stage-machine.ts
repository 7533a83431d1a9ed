/**
 * Which machine the local work of a publication lies on, where several share a state: the one that
 * approved it made its stage, and there alone that is started, proved and closed. What was proved
 * to be made is a matter of rows and sealed content, and goes on anywhere.
 */
import { bindToHere, isHere, requireHere } from '../../../governance/machine-bound.js'
import type { Store, Tx, View } from '../../../state/types.js'
import { isIdle } from '../change.js'
import type { Job } from '../job-rows.js'
import { ledgerOf } from '../ledger.js'

const kind = 'codehost_job'

type Where = Pick<Store, 'machine'>

const next = (job: Job): string => (isIdle(job)
  ? 'Do this on that machine. What was never begun can be given up here, and prepared anew: '
    + `\`sallyport codehost cancel ${job.job_id}\`.`
  : 'Do this on that machine.')

/** Whether a job has a stage: no issue or comment has one, and no publication before approval. */
const hasStage = ({ approval }: Job): boolean => (approval?.producer ?? null) !== null

/** Notes in the record of an approval that its stage lies here. */
export const bindStage = (store: Where, tx: Tx, { job_id: id }: Job): void =>
  bindToHere(store, tx, kind, id)

/** Whether the stage of a job, where it has one, lies here. */
export const isStageHere = (store: Where, view: Pick<View, 'get'>, job: Job): boolean =>
  !hasStage(job) || isHere(store, view, kind, job.job_id)

/** Throws `rejected` `of_other_machine` where the stage of a job lies elsewhere. */
export const requireStageHere = (store: Where, view: Pick<View, 'get'>, job: Job): void => {
  if (hasStage(job)) requireHere(store, view, kind, job.job_id, next(job))
}

const isMade = (view: Pick<View, 'get' | 'range'>, { job_id: id }: Job): boolean =>
  ledgerOf(view, id).producer?.standing === 'complete'

/** Whether a run of a job can go on here. */
export const canRunHere = (
  store: Where, view: Pick<View, 'get' | 'range'>, job: Job,
): boolean => isStageHere(store, view, job) || isMade(view, job)

/** Throws `rejected` `of_other_machine` where a run would need a stage that lies elsewhere. */
export const requireRunHere = (store: Where, view: Pick<View, 'get' | 'range'>, job: Job): void => {
  if (!canRunHere(store, view, job)) requireStageHere(store, view, job)
}
