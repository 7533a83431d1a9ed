/** Reads that somebody looks on at: each is told when it has come, and is otherwise the same. */
import { SallyportError } from '../../base/errors.js'
import type { CodehostContext, EvidenceSeen } from '../context.js'
import type { ReadBudget } from './budget.js'
import type { ClosureGet } from './get.js'
import type { ReadLimits } from './closure-limits.js'

/** What is counted while they look. */
interface WatchedParts {
  readonly budget: Pick<ReadBudget, 'gets'>
  readonly limits: Pick<ReadLimits, 'getsMax'>
  readonly deadline: { remainingMs(): number }
}

const missingOf = (error: unknown): string =>
  (error instanceof SallyportError ? error.reason ?? error.code : 'unexpected')

/** As `get`; a reply that is judged to be no evidence is told by who judges it. */
export const watchedGet = (
  { watchEvidence: tell }: Pick<CodehostContext, 'watchEvidence'>,
  { budget, limits, deadline }: WatchedParts, get: ClosureGet,
): ClosureGet => {
  if (tell === undefined) return get
  const told = (path: string, missing: string | null, edited = false): void => {
    const seen: EvidenceSeen = {
      path, missing, edited, gets: budget.gets, getsMax: limits.getsMax,
      leftMs: deadline.remainingMs(),
    }
    tell(seen)
  }
  return async (path, judge, ...how) => {
    try {
      const value = await get(path, judge, ...how)
      const reason = reasonOf(value)
      told(path, reason, reason === null && isEdited(value))
      return value
    } catch (error) {
      told(path, missingOf(error))
      throw error
    }
  }
}

const isEdited = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'edited' in value && value.edited === true

/** Why a judged reply is no evidence, by what judges give; null for one that is. */
const reasonOf = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null) return null
  const { kind, reason, code } = value as Readonly<Record<string, unknown>>
  const none = kind === 'no_evidence' || kind === 'refused' || kind === 'blocked'
  return none ? String(reason ?? code) : null
}
