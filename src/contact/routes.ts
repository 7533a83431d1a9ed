/**
 * Route rows: what was, or was about to be, contacted under one operation. This is their one owner:
 * every row is made with the decision that it names, marked with the contact, and closed with the
 * operation; nobody else writes one.
 */
import * as v from 'valibot'
import { iso, text } from '../base/schema.js'
import { runtimeShape } from '../governance/rows.js'
import type { CollectionSpec, Tx, View } from '../state/types.js'

const shape = v.strictObject({
  operation_id: text,
  runtime: runtimeShape,
  profile: text,
  provider: text,
  /** Left out where what is contacted is no model. */
  model: v.optional(text),
  url: text,
  /** Null where what is contacted rests on a session and rows of its own, on no decision. */
  decision_id: v.nullable(text),
  policy_revision: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  contacted_at: v.nullable(iso),
  outcome: v.nullable(text),
})
/** One operation's way out. */
export type RouteRecord = v.InferOutput<typeof shape>

export const routeCollection: CollectionSpec<RouteRecord> = {
  name: 'routes', schema: shape, partition: 'hash256',
}

/** What a route row says from its beginning on. */
export type RouteDraft = Omit<RouteRecord, 'operation_id' | 'contacted_at' | 'outcome'>

/** The route of an operation; undefined while nothing was decided for it. */
export const routeOf = (view: View, operationId: string): RouteRecord | undefined =>
  view.get(routeCollection, operationId)

/** Whether the rows say that the operation contacted somebody. */
export const wasContacted = (view: View, operationId: string): boolean =>
  (routeOf(view, operationId)?.contacted_at ?? null) !== null

/** Writes the route that a decision allowed, in the record that stores the decision. */
export const openRoute = (tx: Tx, operationId: string, draft: RouteDraft): void =>
  tx.put(routeCollection, operationId, {
    operation_id: operationId, ...draft, contacted_at: null, outcome: null,
  })

/** Notes the contact, in the record of the contact mark. */
export const markRoute = (tx: Tx, operationId: string, now: string): void => {
  const route = routeOf(tx, operationId)
  if (route === undefined) throw new TypeError('a prepared operation has a route row')
  tx.put(routeCollection, operationId, { ...route, contacted_at: now })
}

/** Notes how the operation ended; nothing where it ended before a decision. */
export const closeRoute = (tx: Tx, operationId: string, outcome: string): void => {
  const route = routeOf(tx, operationId)
  if (route !== undefined) tx.put(routeCollection, operationId, { ...route, outcome })
}

/** Removes the route of an operation whose task a person has had removed. */
export const dropRoute = (tx: Tx, operationId: string): void => {
  if (routeOf(tx, operationId) !== undefined) tx.remove(routeCollection, operationId)
}
