import type { ShotsContext } from '../context.js'
import type { DigestReceipt } from './types.js'

/** One tick of the digest job. */
export const digestTick = (_ctx: ShotsContext): Promise<DigestReceipt> =>
  Promise.resolve({
    job: 'screenshot_observation_digest', receipt_id: null, enabled: true, windows: [],
    written: 0, updated: 0, unchanged: 0, failed: 0, blocked: 0, duration_ms: 0,
  })
