/**
 * Copies of a repair or a restore that ended before anything came of it: no later one would carry
 * them over or let them be removed, and months later a restore would take each for what has just
 * been replaced.
 */
import { anchorAt, compareAnchor } from '../anchor.js'
import { unlessUntrue } from '../files.js'
import { KeyRing, readKey } from '../keys.js'
import { keyPlaces } from '../paths.js'
import { settleFormers, unsettledFolders } from './aside.js'
import { marksAfter } from './log-records.js'
import { recordsOf, salvage } from './salvage.js'
import type { Site } from './use-case.js'

/**
 * Settles every former state where the anchor vouches for the present one: with the mark by which
 * an anchor agrees again everything was carried over, so nothing waits. The lock must be held.
 */
export const settleVouched = ({ files, places, dir, configDir }: Site): void => {
  if (unsettledFolders(dir, files).length === 0) return
  const { standing } = salvage(files, places, { mend: true })
  if (standing === undefined) return
  const { manifest } = standing
  const keysAt = keyPlaces(configDir, manifest.store_id)
  const keys = new KeyRing(manifest.store_id, () => readKey(files, keysAt.key))
  // A key that is damaged opens no anchor, and keeps no repair from its end.
  const anchored = unlessUntrue(() =>
    anchorAt(files, keysAt.anchor, keys, manifest.store_id).read()) ?? 'forged'
  const marks = marksAfter(recordsOf(standing), manifest.marks)
  if (compareAnchor(anchored, marks, manifest.mark_floor).status === 'ok') {
    settleFormers(dir, files)
  }
}
