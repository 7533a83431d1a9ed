/** How the verbs that need no session work on the state: cron and unit files have nobody to ask. */
import type { Gov } from '../../../governance/context.js'
import type { ShotsContext } from '../../../shots/context.js'
import { countingLock } from '../../../shots/locked.js'
import type { VerbDeps } from '../../bound.js'
import { recoverFirst } from '../../mutate.js'
import { shotsContext } from './context.js'

/** The state, open for writing and recovered; the waits for its lock are counted. */
export const openForJobs = async (deps: VerbDeps): Promise<Gov> => {
  const gov = await deps.gov('write')
  await countingLock(gov, () => recoverFirst(deps, gov))
  return gov
}

/** Runs `use` over the state, open for writing and recovered. */
export const withJobs = async <T>(
  deps: VerbDeps, use: (ctx: ShotsContext) => Promise<T>,
): Promise<T> => use(shotsContext(deps, await openForJobs(deps)))
