/** How the verbs that need no session work on the state: cron and unit files have nobody to ask. */
import type { Face, Gov } from '../../../governance/context.js'
import type { ShotsContext } from '../../../shots/context.js'
import { countingLock } from '../../../shots/locked.js'
import type { VerbDeps } from '../../verb.js'
import { recoverFirst } from '../../work.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'

/**
 * The state, open for writing and recovered; the waits for its lock are counted. `face` is `job`
 * for verbs that give the orders by themselves, on a schedule, and `cli` for one order of a person.
 */
const openForJobs = async (deps: VerbDeps, face: Face): Promise<Gov> => {
  const gov = await deps.gov('write', face)
  await countingLock(gov, () => recoverFirst(deps, gov))
  return gov
}

/** Runs `use` over the state, open for writing and recovered; see `openForJobs`. */
export const withJobs = async <T>(
  deps: VerbDeps, use: (ctx: ShotsContext) => Promise<T>, face: Face = 'cli',
): Promise<T> => use(shotsContext(deps, await openForJobs(deps, face)))
