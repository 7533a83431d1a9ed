import type { NewStatus } from '../scan/types.js'

/** Why what a device captured is analysed by nobody. */
export const fromDevice = 'from_device'

/** How the observation of a capture begins, and stays. */
export const unsentCapture: NewStatus = { analysis_status: 'blocked', reason: fromDevice }
