/** What goes in and comes out of taking an owner's documents along. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { closedObject, count } from '../base/schema.js'

const beginShape = v.strictObject({
  line: v.literal('begin'),
  store_id: v.string(),
  /** Principal id of whose documents these are. */
  owner: v.string(),
  /** The last record that they include. */
  sequence: count,
  /** Version of the format of the state directory. */
  format_version: count,
})

const documentShape = v.strictObject({
  line: v.literal('document'),
  collection: v.string(),
  id: v.string(),
  /** As it is stored, without what opens something. */
  document: v.record(v.string(), v.unknown()),
})

const endShape = v.strictObject({
  line: v.literal('end'),
  /** How many lines of documents there are: without this line some may be missing. */
  documents: count,
})

const lineShape = v.union([beginShape, documentShape, endShape])
export type ExportLine = v.InferOutput<typeof lineShape>
/** The last line. */
export type ExportEnd = v.InferOutput<typeof endShape>

/** Taking one's documents along: a line first, one for each document, and one at the end. */
export const stateExport = contract({
  name: 'state.export',
  input: closedObject({}),
  output: lineShape,
  lines: true,
})
