/**
 * Goals: what an owner's tasks are for. A task is bound to a goal at one revision; every change of
 * the goal, closing included, raises the revision, and a task of an earlier revision is then
 * neither contacted, adopted nor read.
 */
import { fail } from '../base/errors.js'
import { newId } from '../base/ids.js'
import { rowsOfEntries, rowsUnder, walkIndex } from '../state/indexes.js'
import type { Tx, View } from '../state/types.js'
import { appendAudit } from './audit.js'
import { nowIso, type Gov, type Session } from './context.js'
import { collections, goalsByOwner, goalsDefault, type Goal } from './rows.js'
import { requireRootRow } from './session/live.js'

/** Longest title of a goal, Unicode code points. */
const goalTitleCharsMax = 200

const requireTitle = (title: string): void => {
  const length = [...title].length
  const plain = !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(title)
  if (length >= 1 && length <= goalTitleCharsMax && plain && title.trim() !== '') return
  throw fail.rejected(
    'goal_title',
    'A title is one line of 1 to 200 characters, without control characters.',
    { details: { chars_max: goalTitleCharsMax } },
  )
}

const notFound = () =>
  fail.notFound('goal_not_found', 'There is no such goal.', { next: 'Run `sallyport goal list`.' })

const put = (tx: Tx, now: string, owner: string, title: string, isDefault: boolean): Goal => {
  const goal: Goal = {
    goal_id: newId('goal'),
    revision: 1,
    owner,
    title,
    state: 'open',
    is_default: isDefault,
    created_at: now,
    updated_at: now,
  }
  tx.put(collections.goals, goal.goal_id, goal)
  return goal
}

export const putDefaultGoal = (tx: Tx, now: string, owner: string): Goal =>
  put(tx, now, owner, 'General', true)

/** The owner's default goal. Throws `not_found` if the owner has none. */
export const defaultGoal = (view: View, owner: string): Goal => {
  const [found] = rowsUnder(view, collections.goals, goalsDefault, { under: [owner], limit: 1 })
  if (found === undefined) throw notFound()
  return found.doc
}

const goalOf = (view: View, owner: string, goalId: string): Goal => {
  const goal = view.get(collections.goals, goalId)
  if (goal === undefined || goal.owner !== owner) throw notFound()
  return goal
}

/** One of the operator's goals; a foreign one is as absent as a missing one. */
export const requireOwnGoal = (view: View, session: Session, goalId: string): Goal =>
  goalOf(view, session.principal.principal_id, goalId)

/** An owner's goal that takes new tasks. Throws `not_found`, `conflict`/`goal_closed`. */
export const requireOpenGoal = (view: View, owner: string, goalId: string): Goal => {
  const goal = goalOf(view, owner, goalId)
  if (goal.state === 'open') return goal
  throw fail.conflict('goal_closed', 'This goal is closed.', { next: 'Run `sallyport goal list`.' })
}

interface GoalFilter {
  /** Only those that are open. */
  readonly open?: boolean | undefined
  /** Only those that were added behind this one, which need not exist. */
  readonly after?: string | undefined
  /** At most so many; left out: all of them. */
  readonly limit?: number | undefined
}

/** The operator's goals, oldest first. */
export const listGoals = (
  view: View, session: Session, { open = false, after, limit }: GoalFilter = {},
): readonly Goal[] => {
  const under = [session.principal.principal_id]
  const entries = walkIndex(view, collections.goals, goalsByOwner, { under, from: after })
  const found: Goal[] = []
  for (const { id, doc } of rowsOfEntries(view, collections.goals, entries, limit)) {
    if (found.length === limit) break
    if (id !== after && (doc.state === 'open' || !open)) found.push(doc)
  }
  return found
}

/** Adds a goal. Throws `rejected`/`goal_title`. */
export const addGoal = (gov: Gov, session: Session, title: string): Promise<Goal> => {
  requireTitle(title)
  return gov.store.transact('goal add', (tx) => {
    const now = nowIso(gov)
    requireRootRow(tx, now, session.root.root_id)
    const goal = put(tx, now, session.principal.principal_id, title, false)
    const { principal_id: principal } = session.principal
    const root = session.root.root_id
    appendAudit(tx, now, { what: 'goal.added', principal, root, subject: goal.goal_id })
    return goal
  })
}

/** How a goal is changed; `expectedRevision` guards against a change in between. */
interface GoalChange {
  readonly goalId: string
  readonly expectedRevision?: number | undefined
}

const change = (
  gov: Gov,
  session: Session,
  request: GoalChange,
  what: 'goal.updated' | 'goal.closed',
  next: (goal: Goal) => Partial<Pick<Goal, 'title' | 'state'>> | null,
): Promise<Goal> =>
  gov.store.transact(what === 'goal.closed' ? 'goal close' : 'goal update', (tx) => {
    const now = nowIso(gov)
    requireRootRow(tx, now, session.root.root_id)
    const goal = requireOwnGoal(tx, session, request.goalId)
    const { expectedRevision } = request
    if (expectedRevision !== undefined && expectedRevision !== goal.revision) {
      throw fail.conflict('stale_goal_revision', 'The goal has another revision by now.', {
        next: `Run \`sallyport goal show ${goal.goal_id}\` and decide again.`,
        details: { revision: goal.revision },
      })
    }
    const patch = next(goal)
    if (patch === null) return goal
    const changed: Goal = { ...goal, ...patch, revision: goal.revision + 1, updated_at: now }
    tx.mark()
    tx.put(collections.goals, goal.goal_id, changed)
    const by = { principal: session.principal.principal_id, root: session.root.root_id }
    const facts = { revision: changed.revision }
    appendAudit(tx, now, { what, ...by, subject: goal.goal_id, facts })
    return changed
  })

/**
 * Gives a goal another title and the next revision; the same title is nothing to do. Throws
 * `not_found`, `conflict`/`stale_goal_revision`, `conflict`/`goal_closed`, `rejected`/`goal_title`.
 */
export const updateGoal = (
  gov: Gov,
  session: Session,
  request: GoalChange & { readonly title: string },
): Promise<Goal> => {
  requireTitle(request.title)
  return change(gov, session, request, 'goal.updated', (goal) => {
    if (goal.state === 'closed') {
      throw fail.conflict('goal_closed', 'A closed goal cannot be changed.')
    }
    return goal.title === request.title ? null : { title: request.title }
  })
}

/**
 * Closes a goal: nothing new is admitted under it, and what is under way is not contacted or
 * adopted any more. Nothing to do for a closed one. Throws `not_found`,
 * `conflict`/`default_goal`.
 */
export const closeGoal = (gov: Gov, session: Session, request: GoalChange): Promise<Goal> =>
  change(gov, session, request, 'goal.closed', (goal) => {
    if (goal.is_default) {
      throw fail.conflict('default_goal', 'The default goal of an owner stays open.')
    }
    return goal.state === 'closed' ? null : { state: 'closed' }
  })
