/**
 * What a device says of its own spool: how many captures ever left it unsent, a number and nothing
 * else. The service cannot see it, so it is believed and only ever grows.
 */
import { nowIso, type Gov } from '../governance/context.js'
import type { Tx, View } from '../state/types.js'
import { currentParty, type EdgeParty } from './credential.js'
import { edgeCollections, type EdgeDevice } from './edge-rows.js'

interface SpoolTold {
  /** Captures that ever left its spool unsent. */
  readonly evictions: number
}

/**
 * Keeps it where it is more than was told before; gives the device. Writes nothing otherwise, so
 * that it may be told any number of times. Throws `unauthorized` where the pairing has ended.
 */
export const keepSpoolTold = async (
  gov: Gov, { device: known }: EdgeParty, { evictions }: SpoolTold,
): Promise<EdgeDevice> => {
  const standing = (view: () => View): EdgeDevice => currentParty(gov, view, known).device
  const isNews = ({ spool }: EdgeDevice): boolean => evictions > (spool?.evictions ?? 0)
  const device = standing(() => gov.store.read())
  if (!isNews(device)) return device
  return gov.store.transact('edge spool', (tx: Tx) => {
    const now = standing(() => tx)
    if (!isNews(now)) return now
    const told = { ...now, spool: { evictions, told_at: nowIso(gov) } }
    tx.put(edgeCollections.devices, told.device_id, told)
    return told
  })
}
