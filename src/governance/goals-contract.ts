/** What goes in and comes out of the operations on goals. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { pageFields } from '../base/page.js'
import { closedObject } from '../base/schema.js'
import type { Goal } from './rows.js'

const id = v.string()
const revision = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1)))

/** A goal; without its owner, because nobody else sees it. */
const goalShape = v.strictObject({
  id: v.string(),
  title: v.string(),
  state: v.picklist(['open', 'closed']),
  revision: v.number(),
  is_default: v.boolean(),
  created_at: v.string(),
  updated_at: v.string(),
})
export type GoalDocument = v.InferOutput<typeof goalShape>

const goalDocument = (goal: Goal): GoalDocument => ({
  id: goal.goal_id,
  title: goal.title,
  state: goal.state,
  revision: goal.revision,
  is_default: goal.is_default,
  created_at: goal.created_at,
  updated_at: goal.updated_at,
})

const oneGoal = { document: 'goal', output: goalShape, toDocument: goalDocument } as const

/** Adding a goal; the rules of a title are the use case's. */
export const goalAdd = contract({
  ...oneGoal, name: 'goal.add', input: closedObject({ title: v.string() }),
})

export const goalShow = contract({
  ...oneGoal, name: 'goal.show', input: closedObject({ goal: id }),
})

/** Another title; `expected_revision` refuses a goal that has changed meanwhile. */
export const goalUpdate = contract({
  ...oneGoal,
  name: 'goal.update',
  input: closedObject({ goal: id, title: v.string(), expected_revision: revision }),
})

export const goalClose = contract({
  ...oneGoal, name: 'goal.close', input: closedObject({ goal: id, expected_revision: revision }),
})

/** The owner's goals, oldest first. */
export const goalList = contract({
  name: 'goal.list',
  input: closedObject({ open: v.optional(v.boolean()), ...pageFields('goal') }),
  output: v.array(goalShape),
  toDocument: (goals: readonly Goal[]) => goals.map(goalDocument),
})
