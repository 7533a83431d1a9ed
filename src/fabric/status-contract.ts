/** What comes out of the one look at everything. */
import * as v from 'valibot'
import { contract, noInput } from '../base/contract.js'

const count = v.number()
const nullableText = v.nullable(v.string())

const routeShape = v.strictObject({ status: v.string(), reason_code: nullableText })
/** Status of one route and, where it is not `configured`, why. */
export type RouteStatus = v.InferOutput<typeof routeShape>

/** States and counts; no names of owners and no content. */
const statusShape = v.strictObject({
  state_dir: v.string(),
  store_id: v.string(),
  profile: v.string(),
  policy: v.strictObject({
    revision: count, state: v.picklist(['active', 'revoked']), usable: v.boolean(),
    block: nullableText,
  }),
  alpha: routeShape,
  gateway: routeShape,
  /** Null before the first set-up of a route. */
  ledger: v.nullable(v.strictObject({
    ceiling_microusd: count, settled_microusd: count, held_microusd: count,
    unknown_microusd: count, available_microusd: count,
  })),
  /** Charges that wait for a person. */
  attention: v.strictObject({ unknown_charges: count, overrun_reviews: count }),
  /** Unfinished tasks by state. */
  tasks: v.record(v.string(), count),
})
/** The one look at everything. */
export type StatusDocument = v.InferOutput<typeof statusShape>

/** Looking at everything at once. */
export const statusShow = contract({
  name: 'status',
  version: 1,
  input: noInput,
  output: statusShape,
  toDocument: (status: StatusDocument) => status,
})
