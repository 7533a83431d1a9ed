import * as v from 'valibot'
import { closedObject, parseClosed, text } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { readArtifact } from '../../governance/artifacts.js'
import type { Gov } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import type { MadeConclusion } from './report-rows.js'

const payloadShape = closedObject({
  schema: v.literal(shotLabels.conclusion),
  source_digest: text,
  source_observation_ids: v.array(text),
  digest_ids: v.array(text),
  content: text,
})

/** The sealed text of a conclusion. Throws what the store throws; `damaged` for another shape. */
export const readConclusion = (
  gov: Pick<Gov, 'store'>, view: View, made: MadeConclusion,
): string => {
  const bytes = readArtifact(gov, view, made.artifact_id, shotLabels.conclusion)
  const value = parseStrictJson(bytes, { bytesMax: 4_194_304, depthMax: 4 })
  return parseClosed(payloadShape, value, {
    code: 'conclusion_invalid', what: 'the stored conclusion',
  }).content
}
