import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import type { Observation } from '../rows.js'

/** The one-sentence summary of a stored analysis. */
export const readSummary = (_ctx: ShotsContext, _view: View, _row: Observation): string => ''
