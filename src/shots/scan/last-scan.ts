/**
 * When a folder was last looked at, and what came of it: its row tells the looks that changed it, a
 * small file all others. Everything that tells of a last scan reads it here.
 */
import type { ShotFolder } from '../observations/observation-rows.js'
import { readLastTick } from './last-tick.js'

/** The newest look at a folder. */
interface LastScan {
  readonly at: string
  readonly status: 'ok' | 'degraded' | 'failed'
  readonly reason: string | null
}

/** Reads it, of a folder by its digest; null where it was never looked at. */
export const lastScanOf = (
  runDir: string, folderDigest: string, folder: ShotFolder | undefined,
): LastScan | null => {
  const noted = folder?.last_scan ?? null
  const tick = readLastTick(runDir, folderDigest)
  if (tick !== null && (noted === null || tick.at > noted.at)) {
    const reason = noted?.status === tick.status ? noted.reason : null
    return { at: tick.at, status: tick.status, reason }
  }
  return noted === null ? null : { at: noted.at, status: noted.status, reason: noted.reason }
}
