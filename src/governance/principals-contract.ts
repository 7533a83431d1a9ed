/** What goes in and comes out of the operations on owners. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { closedObject } from '../base/schema.js'
import { principalFacts } from './principals.js'
import type { Goal, Principal } from './rows.js'
import type { Recorded } from './stops/act.js'
import { requestsOf, requestsShape } from './stops/requests.js'

/** An owner: of a passphrase only whether there is one. */
const principalShape = v.strictObject({
  id: v.string(),
  name: v.string(),
  has_passphrase: v.boolean(),
  created_at: v.string(),
  disabled_at: v.nullable(v.string()),
  /** False too where a restore or a repair has disabled it: it can be enabled again then. */
  disabled_for_good: v.boolean(),
})
export type PrincipalDocument = v.InferOutput<typeof principalShape>

const addedShape = v.strictObject({ principal: principalShape, goal_id: v.string() })
/** A new owner with its default goal. */
export type PrincipalAddedDocument = v.InferOutput<typeof addedShape>

export const principalAdd = contract({
  name: 'principal.add',
  input: closedObject({ name: v.string(), passphrase: v.string() }),
  output: addedShape,
  toDocument: ({ principal, goal }: { readonly principal: Principal; readonly goal: Goal }) =>
    ({ principal: principalFacts(principal), goal_id: goal.goal_id }),
})

const listedShape = v.strictObject({
  ...principalShape.entries,
  /** Whether it is the owner whom `init` made. */
  is_default: v.boolean(),
})
/** The owners, oldest first. */
export const principalList = contract({
  name: 'principal.list',
  output: v.array(listedShape),
  toDocument: ({ principals, byDefault }: {
    readonly principals: readonly Principal[]; readonly byDefault: Principal
  }) => principals.map((principal) => ({
    ...principalFacts(principal), is_default: principal.principal_id === byDefault.principal_id,
  })),
})

const disabledShape = v.strictObject({
  principal: principalShape, sessions_ended: v.number(),
  /** What had left before of what rested on it. */
  requests: requestsShape,
})
const enabledShape = v.strictObject({ principal: principalShape, enabled: v.boolean() })
/** Enabling an owner that a restore or a repair has disabled, by name or id. */
export const principalEnable = contract({
  name: 'principal.enable',
  input: closedObject({ name: v.string() }),
  output: enabledShape,
  toDocument: ({ principal, enabled }: {
    readonly principal: Principal; readonly enabled: boolean
  }) => ({ principal: principalFacts(principal), enabled }),
})

/** Disabling an owner for good, by name or id. */
export const principalDisable = contract({
  name: 'principal.disable',
  input: closedObject({ name: v.string() }),
  output: disabledShape,
  toDocument: ({ principal, sessions_ended, recorded }: {
    readonly principal: Principal; readonly sessions_ended: number
    readonly recorded: Recorded | null
  }) => ({ principal: principalFacts(principal), sessions_ended, requests: requestsOf(recorded) }),
})
