import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { routeStatusOf, statusForNewImage } from '../gates.js'
import type { NewStatus } from './types.js'

/** How a new image begins: `pending` where every gate is open, else `blocked` with the reason. */
export const newImageStatus = (ctx: ShotsContext, view: View): NewStatus =>
  statusForNewImage(routeStatusOf(ctx, view))
