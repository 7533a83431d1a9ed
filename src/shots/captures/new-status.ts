import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { routeStatusOf, statusForNewImage } from '../gates.js'
import type { CaptureOf } from '../observations/observation-rows.js'
import type { NewStatus } from '../scan/types.js'
import { captureReason } from './gate.js'

/** How a capture begins: as a new image of a folder does, where nothing keeps it here. */
export const newCaptureStatus = (
  ctx: ShotsContext, view: View, edge: CaptureOf,
): NewStatus => {
  const standing = routeStatusOf(ctx, view)
  const reason = captureReason(view, edge, standing.consentId)
  return reason === null
    ? statusForNewImage(standing) : { analysis_status: 'blocked', reason }
}
