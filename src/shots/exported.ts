/**
 * What an owner takes along of the screenshot source: it has one image folder for all owners of a
 * state, and every owner reads its rows. Counters and heads follow from them.
 */
import { everybodys, nobodys, type Exported } from '../governance/exported.js'
import { runningCollection } from './analysis/analysis-rows.js'
import { digestDueCollection } from './digest/due.js'
import { digestCollections as digests } from './digest/digest-rows.js'
import { shotCollections as shots } from './observations/observation-rows.js'
import { receiptCollections as receipts } from './receipts/receipt-rows.js'
import { conclusionCollections as conclusions } from './report/report-rows.js'
import { settingsCollection } from './source/settings.js'

/** What is given out. */
export const exportedOfShots: readonly Exported[] = [
  nobodys(runningCollection),
  everybodys(settingsCollection),
  everybodys(shots.observations),
  everybodys(shots.contents),
  everybodys(shots.files),
  everybodys(shots.folders),
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
