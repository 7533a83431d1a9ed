/**
 * Stages of producers: each proves the local work of its job for as long as a connection is
 * occupied by it, or it may still be run; then it goes.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../base/errors.js'
import type { Gov, Problem } from '../../../governance/context.js'
import { errnoOf, nodeFiles } from '../../../state/files.js'
import { requireOwnFolders } from '../../../state/folders.js'
import type { Store, View } from '../../../state/types.js'
import { removeStage } from '../../producer/stage.js'
import { publicationKind } from '../kinds.js'
import { jobCollection, type Job } from '../job-rows.js'
import { isStageHere } from './stage-machine.js'

const stagesIn = (stateDir: string): readonly string[] => {
  requireOwnFolders(nodeFiles, stateDir, ['stages'])
  const dir = join(stateDir, 'stages')
  return nodeFiles.stat(dir) === undefined ? [] : [...nodeFiles.list(dir)].sort()
}

/** Whether a job may still ask for its stage: it was approved, or was run and is not given up. */
const asks = (job: Job): boolean => job.native_kind === publicationKind
  && (job.approval !== null || job.attempt > 0) && job.state !== 'cancelled'

/**
 * Stages of no job, of one that was given up, of one that was never approved, and of one that was
 * approved anew on another machine: an approval that was cut off leaves one, and the next makes it
 * anew. None of them proves anything.
 */
const strayStages = (
  store: Pick<Store, 'dir' | 'machine'>, view: View,
): readonly string[] => stagesIn(store.dir).filter((name) => {
  const job = view.get(jobCollection, name)
  return job === undefined || !asks(job) || !isStageHere(store, view, job)
})

/** What `state check` says of them: nothing that is lost, and nothing that is used. */
export const stageProblems = (
  store: Pick<Store, 'dir' | 'machine'>, view: View,
): readonly Problem[] => {
  try {
    return strayStages(store, view).map((name) => ({
      code: 'codehost_stage_stray', subject: name,
      text: 'A folder of a producer belongs to no publication that was approved.',
    }))
  } catch (error) {
    // A link in the place of the folder is found by its own rule.
    if (error instanceof SallyportError) return []
    throw error
  }
}

const isOver = (job: Job | undefined): boolean =>
  job !== undefined && !job.reserved
    && (job.closed !== null || ['succeeded', 'failed', 'cancelled'].includes(job.state))

/** Removes the stage of a job that needs it no more; after the record that says so. */
export const dropStage = ({ store }: Pick<Gov, 'store'>, job: Job): void => {
  if (isOver(job)) removeStage(store.dir, job.job_id)
}

const namesIn = (dir: string): readonly string[] => {
  try {
    return readdirSync(join(dir, 'stages'))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Removes what a process left that died behind such a record. */
export const sweepStages = ({ store }: Pick<Gov, 'store'>): void => {
  const names = namesIn(store.dir)
  if (names.length === 0) return
  const view = store.read()
  for (const name of names) {
    if (isOver(view.get(jobCollection, name))) removeStage(store.dir, name)
  }
}
