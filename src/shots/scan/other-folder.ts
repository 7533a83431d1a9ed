import type { ShotsContext } from '../context.js'
import { currentFacts } from '../observations/as-of-now.js'
import type { ScanReceipt } from '../receipts/scan.js'

/** What becomes of observations of a folder that is not the one in force (S-162); else null. */
export const otherFolderNote = (ctx: ShotsContext, receipt: ScanReceipt): string | null => {
  if (receipt.source !== 'input') return null
  const { folder } = currentFacts(ctx, ctx.gov.store.read())
  return folder === receipt.root ? null
    : 'This is not the configured folder: what was taken in is stale_root at once, is not '
      + 'analysed and is in no digest or report. To have it count, save the folder '
      + '(`sallyport shots setup --folder DIR`) or name it in SVC_SCREENSHOT_FOLDER.'
}
