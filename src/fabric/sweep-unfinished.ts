/** What processes that died left unfinished, swept where it needs no look at all records. */
import { sweepAllInterrupted } from '../edge/interrupted-uploads.js'
import type { Gov } from '../governance/context.js'
import { sweepPrivate } from '../governance/session/private-file.js'
import { tokenPath } from '../governance/session/token.js'
import { sweepTemporaries } from '../state/care/drop-stored.js'

/**
 * For the start of what lives for days: removes sealed files of uploads that were cut off between
 * the file and its record, unfinished files that nobody has written to for a quarter of an hour,
 * and tokens that are half-way to their file, whatever their age. What is under way elsewhere
 * stays. May run twice. Throws what the disk does.
 */
export const sweepUnfinished = async (gov: Gov): Promise<void> => {
  await sweepAllInterrupted(gov)
  sweepTemporaries(gov.store)
  sweepPrivate(tokenPath(gov.store.dir))
}
