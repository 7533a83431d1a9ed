/** Scans whose steps a test hears, and what they wrote of a file. */
import {
  shotCollections as c, type SeenFile,
} from '../../src/shots/observations/observation-rows.js'
import type { ScanReceipt } from '../../src/shots/receipts/scan.js'
import type { ScanOptions } from '../../src/shots/scan/open-pass.js'
import { scanFolder } from '../../src/shots/scan/scan.js'
import type { ImageWorld } from '../world/world.js'

/** One scan in this process; `at` is told every step. */
export const observedScan = async (
  world: ImageWorld, options: ScanOptions = {}, at?: (step: string) => unknown,
): Promise<ScanReceipt> => {
  const ctx = world.ctx('write')
  try {
    const observer = { at: async (step: string): Promise<void> => void await at?.(step) }
    return await scanFolder({ ...ctx, gov: { ...ctx.gov, observer } }, options)
  } finally {
    ctx.gov.store.close()
  }
}

/** The row of a file, by its name. */
export const fileOf = (world: ImageWorld, name: string): SeenFile | undefined =>
  world.view().all(c.files).find(({ doc }) => doc.name.text === name)?.doc
