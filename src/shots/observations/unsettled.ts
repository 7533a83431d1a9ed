/** Images that are held for a later one, because their region went on changing. Pure. */
import type { Observation } from './observation-rows.js'

/**
 * Why they are blocked. No pass takes them up by itself, whatever the settings become: only
 * `shots analyze --include unsettled` and a reanalysis by name do.
 */
export const unsettled = 'unsettled'

/** Whether a picture is held for another one. */
export const isHeld = ({ analysis_status, analyzer }: Observation): boolean =>
  analysis_status === 'blocked' && analyzer.reason === unsettled
