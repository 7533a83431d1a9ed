/**
 * Stages of producers: each proves the local work of its job for as long as a connection is
 * occupied by it, or it may still be run; then it goes.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Gov } from '../../../governance/context.js'
import { errnoOf } from '../../../state/files.js'
import { removeStage } from '../../producer/stage.js'
import { jobCollection, type Job } from '../rows.js'

const isOver = (job: Job | undefined): boolean =>
  job !== undefined && !job.reserved
    && (job.closed !== null || ['succeeded', 'failed', 'cancelled'].includes(job.state))

/** Removes the stage of a job that needs it no more; after the record that says so. */
export const dropStage = ({ store }: Pick<Gov, 'store'>, job: Job): void => {
  if (isOver(job)) removeStage(store.dir, job.job_id)
}

const stagesIn = (dir: string): readonly string[] => {
  try {
    return readdirSync(join(dir, 'stages'))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Removes what a process left that died behind such a record. */
export const sweepStages = ({ store }: Pick<Gov, 'store'>): void => {
  const names = stagesIn(store.dir)
  if (names.length === 0) return
  const view = store.read()
  for (const name of names) {
    if (isOver(view.get(jobCollection, name))) removeStage(store.dir, name)
  }
}
