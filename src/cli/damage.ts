/**
 * What a verb does where the state turns out damaged: the one rule for all of them. Every verb
 * has a kind; the frame asks the health of each store that it opens, and nothing else does.
 */
import { SallyportError, fail } from '../base/errors.js'
import type { Problem } from '../state/types.js'

/**
 * - `refuses`: ends before it reads a row. What rests on money, policy, tasks or sessions: rows
 *   that are gone may have spent, closed, revoked or ended something.
 * - `shows`: shows what is left and marks it: `damage` in the result, exit 12.
 * - `decides`: opens the store all the same and says itself what that means.
 * - `unasked`: opens no store, or exists to look at damage and to mend it.
 */
export type DamageRule = 'refuses' | 'shows' | 'decides' | 'unasked'

/** Damage as a result carries it. */
interface ShownDamage {
  readonly code: string
  readonly message: string
}

const next = 'Run `sallyport state check`, then `sallyport state repair`; until then '
  + '`sallyport policy revoke` stops every route.'

/** The refusal of a verb that must not rest on what is left. */
export const refusedForDamage = ({ code, message }: Problem): SallyportError =>
  fail.damaged(code, `${message} This command rests on rows that may be missing.`, { next })

/** The failure that follows a result of what is left, or stands in the place of what went wrong. */
export const markedForDamage = ({ code, message }: Problem, cause?: unknown): SallyportError =>
  fail.damaged(code, `${message} What is shown is only what is left.`, { next, cause })

/** The line of a verb that decides for itself. */
export const damageLine = ({ code, message }: Problem): string => `damaged (${code}): ${message}`

/**
 * What ends the run of a verb that shows what is left: damage is told before anything that may only
 * follow from it (a row that is not found, a session that is unknown). Damage told already stays.
 */
export const endedByDamage = (damage: Problem, thrown: unknown): unknown =>
  thrown instanceof SallyportError && thrown.kind !== 'damaged'
    ? markedForDamage(damage, thrown) : thrown

/**
 * A result with its mark. A list has no room for one, so it is not printed as JSON: throws
 * `damaged` then.
 */
export const markedResult = (result: unknown, damage: Problem): object => {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    throw markedForDamage(damage)
  }
  const { code, message } = damage
  return { ...result, damage: { code, message } satisfies ShownDamage }
}
