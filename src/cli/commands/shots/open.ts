import type { Gov } from '../../../governance/gov.js'
import { countingLock } from '../../../shots/locked.js'
import type { VerbDeps } from '../../bound.js'
import { recoverFirst } from '../../mutate.js'

/** The state, open for writing and recovered, for verbs that need no session; the lock counts. */
export const openForJobs = async (deps: VerbDeps): Promise<Gov> => {
  const gov = await deps.gov('write')
  await countingLock(gov, () => recoverFirst(deps, gov))
  return gov
}
