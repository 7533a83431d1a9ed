/**
 * What an answer to a device says for good, by its code: of one capture, or of the pairing. What
 * else refuses a request says how the service stands at this moment, and passes.
 */
import type { StrictJsonCode } from '../base/strict-json.js'

type Codes = ReadonlySet<string>

const unreadable: readonly StrictJsonCode[] = [
  'json_too_large', 'json_not_utf8', 'json_has_bom', 'json_too_deep', 'json_duplicate_key',
  'json_lone_surrogate', 'not_json',
]

/** The capture, or what is declared of it, will never be taken as it is (S-037). */
export const captureVerdicts: Codes = new Set([
  'request_id_conflict', 'size_differs', 'sha256_differs', 'mime_differs', 'edge_upload_too_large',
  'edge_head_invalid', 'request_invalid', 'edge_egress_not_allowed', 'edge_owner_differs',
  'http_media_type', ...unreadable,
])

/** The credential opens nothing any more (S-198). */
export const pairingVerdicts: Codes = new Set([
  'edge_credential_required', 'edge_credential_invalid', 'edge_credential_revoked',
  'principal_disabled',
])

/** Conflicts that a device knows how to go on from, and that of a code. */
const known: Codes = new Set(['upload_under_way', 'sequence_not_greater', 'edge_devices_full'])

/** Whether a conflict, or a request that was refused, is what it says for whoever is a device. */
export const isSaidOfRequest = (code: string): boolean =>
  captureVerdicts.has(code) || known.has(code)
