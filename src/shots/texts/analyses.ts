/** Stored analyses, opened for reports and prompts. */
import { parseStrictJson } from '../../base/strict-json.js'
import { readArtifact } from '../../governance/artifacts.js'
import type { View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import type { ShotsContext } from '../context.js'
import type { Observation, PayloadRef } from '../observations/rows.js'

/** Members of a stored analysis. */
export type StoredAnalysis = Readonly<Record<string, unknown>>

/** Opens the analysis of a row. Throws what the store throws. */
export const readAnalysis = (
  ctx: ShotsContext, view: View, row: Observation & { readonly payload: PayloadRef },
): StoredAnalysis => {
  const bytes = readArtifact(ctx.gov, view, row.payload.artifact_id, shotLabels.payload)
  return parseStrictJson(bytes, { bytesMax: 1_048_576, depthMax: 16 }) as StoredAnalysis
}

/** The one-sentence summary of a stored analysis. */
export const readSummary = (
  ctx: ShotsContext, view: View, row: Observation & { readonly payload: PayloadRef },
): string => {
  const { summary } = readAnalysis(ctx, view, row)
  return typeof summary === 'string' ? summary : ''
}
