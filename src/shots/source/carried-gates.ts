/** Which gates of the screenshot source were closed in a state that was replaced. */
import { canonicalJson } from '../../base/canonical.js'
import type { Carrier } from '../../governance/carrier.js'
import {
  savedSettings, settingsCollection, settingsId, type SavedShotSettings,
} from './settings.js'

type Saved = SavedShotSettings

/** Whichever of the two lets less happen; `wide` is the only value that lets more happen. */
const closed = <T>(mine: T, theirs: T, wide: T): T => (mine === wide ? theirs : mine)

/** The lower one; null blocks. */
const lowerOrNone = (mine: number | null, theirs: number | null): number | null =>
  mine === null || theirs === null ? null : Math.min(mine, theirs)

/** The lower one; null is the default. */
const lower = (mine: number | null, theirs: number | null): number | null =>
  mine === null || theirs === null ? mine ?? theirs : Math.min(mine, theirs)

/** On unless it was switched off. */
const offOnce = (mine: boolean | null, theirs: boolean | null): boolean | null =>
  theirs === false ? false : mine

/** Devices that were named otherwise since are named no more: who wants them names them again. */
const stillNamed = (mine: Saved, theirs: Saved): Saved['devices'] =>
  (canonicalJson(mine.devices ?? null) === canonicalJson(theirs.devices ?? null)
    ? mine.devices : null)

const narrower = (mine: Saved, theirs: Saved): Saved => ({
  ...mine,
  analysis: closed(mine.analysis, theirs.analysis, 'on'),
  cloud_upload: closed(mine.cloud_upload, theirs.cloud_upload, 'on'),
  fallbacks: closed(mine.fallbacks, theirs.fallbacks, 'allow'),
  data_collection: closed(mine.data_collection, theirs.data_collection, 'allow'),
  zdr: closed(mine.zdr, theirs.zdr, 'off'),
  renew_proof: closed(mine.renew_proof ?? null, theirs.renew_proof ?? null, 'on'),
  key_alone: closed(mine.key_alone ?? null, theirs.key_alone ?? null, 'on'),
  settle_seconds: closed(mine.settle_seconds ?? null, theirs.settle_seconds ?? null, null),
  recursive: closed(mine.recursive, theirs.recursive, true),
  ingest_enabled: offOnce(mine.ingest_enabled, theirs.ingest_enabled),
  digest_enabled: offOnce(mine.digest_enabled, theirs.digest_enabled),
  budget_microusd: lowerOrNone(mine.budget_microusd, theirs.budget_microusd),
  budget_requests: lowerOrNone(mine.budget_requests, theirs.budget_requests),
  request_cost_bound_microusd:
    lowerOrNone(mine.request_cost_bound_microusd, theirs.request_cost_bound_microusd),
  ingest_limit: lower(mine.ingest_limit, theirs.ingest_limit),
  analysis_limit: lower(mine.analysis_limit, theirs.analysis_limit),
  analysis_concurrency: lower(mine.analysis_concurrency, theirs.analysis_concurrency),
  ...(mine.devices === undefined ? {} : { devices: stillNamed(mine, theirs) }),
  // Another folder was chosen since: what lies in the one of before must not leave.
  screenshot_folder: theirs.screenshot_folder,
  // So were the areas that do not count: they are of its screens.
  ignore: theirs.ignore ?? null,
})

/** A gate that was closed stays closed, and the folder is the one that was chosen last. */
export const carryShotGates: Carrier = (tx, _now, former) => {
  const mine = savedSettings(tx)
  const after = narrower(mine, savedSettings(former))
  if (canonicalJson(after) === canonicalJson(mine)) return 0
  tx.put(settingsCollection, settingsId, after)
  return 1
}
