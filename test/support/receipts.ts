/** Receipts of jobs as they are when there was nothing to do; tests change what they are about. */
import type { ScanFacts } from '../../src/shots/receipts/scan.js'
import type { DigestReceipt } from '../../src/shots/digest/types.js'

/** Facts of a scan. */
export const scanFactsOf = (changes: Partial<ScanFacts> = {}): ScanFacts => ({
  root: '/pictures', source: 'settings', status: 'ok', reason: null, limit: 20, scanned: 0,
  ingested: 0, duplicate: 0, suppressed: 0, rejected: 0, deferred: 0, known: 0, reasons: {},
  problems: [], problems_left_out: 0, duration_ms: 1, ...changes,
})

/** A tick of the digest job. */
export const digestReceiptOf = (): DigestReceipt => ({
  job: 'screenshot_observation_digest', receipt_id: null, status: 'ok', reason: null, windows: [],
  written: 0, updated: 0, unchanged: 0, not_repeated: 0, blocked: 0, failed: 0, held_microusd: 0,
  proof_renewal: null, paused_until: null,
  duration_ms: 1,
})
