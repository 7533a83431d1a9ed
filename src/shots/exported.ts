/**
 * What an owner takes along of the screenshot source: it has one image folder for all owners of a
 * state, and every owner reads its rows. What devices captured is of their owner, who is the
 * default one. Counters and heads follow from them.
 */
import { everybodys, nobodys, own, type Exported, type Taker } from '../governance/exported.js'
import { defaultPrincipal } from '../governance/principals.js'
import { runningCollection } from './analysis/analysis-rows.js'
import { digestDueCollection } from './digest/due.js'
import { digestCollections as digests } from './digest/digest-rows.js'
import { shotCollections as shots } from './observations/observation-rows.js'
import { receiptCollections as receipts } from './receipts/receipt-rows.js'
import { conclusionCollections as conclusions } from './report/report-rows.js'
import { isDevicePlace } from './source/folder-digest.js'
import { settingsCollection } from './source/settings.js'

/** Whether the observation of an id may be given out: captures are of the owner of the device. */
const isFor = ({ view, owner }: Taker, id: string | undefined): boolean => {
  const edge = id === undefined ? undefined : view.get(shots.observations, id)?.edge
  return edge === undefined || edge.owner === owner
}

/** Whether a place is a folder, or a device: only those of the default owner are places. */
const isPlaceFor = (taker: Taker, digest: string): boolean => {
  const place = taker.view.get(shots.folders, digest)
  return place === undefined || !isDevicePlace(place.root)
    || defaultPrincipal(taker.view).principal_id === taker.owner
}

/** What is given out. */
export const exportedOfShots: readonly Exported[] = [
  nobodys(runningCollection),
  everybodys(settingsCollection),
  own(shots.observations, ({ edge }, { owner }) => edge === undefined || edge.owner === owner),
  own(shots.contents, ({ observations: [one], suppressed_for: others }, taker) =>
    isFor(taker, one?.observation_id ?? others?.[0])),
  own(shots.files, ({ root_digest: digest }, taker) => isPlaceFor(taker, digest)),
  own(shots.folders, (_doc, taker, id) => isPlaceFor(taker, id)),
  nobodys(shots.counts),
  everybodys(receipts.receipts),
  nobodys(receipts.head),
  everybodys(receipts.idle),
  everybodys(receipts.gaps),
  everybodys(digests.episodes),
  everybodys(digests.attempts),
  nobodys(digests.days),
  nobodys(digests.head),
  nobodys(digestDueCollection),
  everybodys(conclusions.conclusions),
  nobodys(conclusions.head),
]
