/** What goes into the lists of observations and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { behindRow } from '../../base/page.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import { analysisStatuses, shotLimits } from '../constants.js'
import { listedShape, observationFactsShape, type Listed, type ObservationFacts } from './facts.js'

/** Observations of every folder, newest capture first. */
export const shotsList = contract({
  name: 'shots.list',
  input: closedObject({
    status: v.optional(v.picklist(analysisStatuses)),
    /** ISO text: captured at or after. */
    since: v.optional(v.string()),
    limit: v.optional(strictInteger(1, shotLimits.listItemsMax)),
    archived: v.optional(v.boolean()),
    /** Only those behind this one. */
    after: behindRow('obs'),
  }),
  output: v.array(listedShape),
  toDocument: (rows: readonly Listed[]) => [...rows],
})

const shownShape = v.strictObject({
  ...observationFactsShape.entries,
  /** The semantic analysis, as the model wrote it; only where it was asked for. */
  payload: v.optional(v.record(v.string(), v.unknown())),
})
/** One observation. */
export type ObservationDocument = v.InferOutput<typeof shownShape>

/** Local facts of one observation, and what the model wrote when it is asked for. */
export interface ShownObservation {
  readonly facts: ObservationFacts
  /** Null where it was not asked for. */
  readonly payload: Readonly<Record<string, unknown>> | null
}

/** Local facts of one observation. */
export const shotsShow = contract({
  name: 'shots.show',
  input: closedObject({ id: v.string(), analysis: v.optional(v.boolean()) }),
  output: shownShape,
  toDocument: ({ facts, payload }: ShownObservation) =>
    ({ ...facts, ...(payload === null ? {} : { payload: { ...payload } }) }),
})
