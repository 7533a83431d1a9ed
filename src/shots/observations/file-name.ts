import type { FileName, Observation } from './observation-rows.js'

/**
 * The one name by which lists, reports, runs and explanations tell of an observation: the one under
 * which its bytes were seen first. A copy or a new name of the same bytes is told beside it, in
 * `paths`, and does not take its place.
 */
export const fileNameOfRow = ({ paths }: Pick<Observation, 'paths'>): FileName =>
  paths[0]?.name ?? { text: '', bytes_base64: null }
