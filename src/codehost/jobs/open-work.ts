/** Opens the sealed plan of a job by its kind. */
import type { Gov } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { followWork } from './follow-work.js'
import { followThroughKind, publicationKind, type NativeKind } from './kinds.js'
import { publicationWork } from './publication/work.js'
import type { Job } from './rows.js'
import type { Work } from './work.js'

const openers: Readonly<Record<NativeKind, (gov: Gov, view: View, job: Job) => Work>> = {
  [followThroughKind]: followWork, [publicationKind]: publicationWork,
}

/**
 * Opens it; close it when done. Throws `damaged` `plan_altered`, and `not_found` or `blocked` where
 * a sealed file is missing: nothing is sent or settled without it.
 */
export const openWork = (gov: Gov, view: View, job: Job): Work =>
  openers[job.native_kind](gov, view, job)
