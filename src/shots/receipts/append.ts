/** Receipts of the scheduler jobs: numbered and chained, so that none can be lost unseen. */
import { digestOf } from '../../base/canonical.js'
import { newId } from '../../base/ids.js'
import type { Tx, View } from '../../state/types.js'
import { takeIdleTicks } from './idle.js'
import {
  receiptCollections as c, receiptHeadId, type ReceiptFacts, type ShotReceipt,
} from './receipt-rows.js'

/** Document id of a receipt. */
export const receiptIdOf = (number: number): string => String(number).padStart(12, '0')

/** Appends a receipt in the caller's record; its number and chain link are given here. */
export const appendReceipt = <Job extends ShotReceipt['job']>(
  tx: Tx, now: string, job: Job, facts: ReceiptFacts<Job>,
): ShotReceipt => {
  const head = tx.get(c.head, receiptHeadId) ?? { number: 0, sha256: null, last: {} }
  const idle = takeIdleTicks(tx, job)
  const receipt = {
    receipt_id: newId('rct'), number: head.number + 1, previous_sha256: head.sha256,
    job, at: now, facts, ...(idle === undefined ? {} : { idle }),
  } as ShotReceipt
  tx.put(c.receipts, receiptIdOf(receipt.number), receipt)
  tx.put(c.head, receiptHeadId, {
    number: receipt.number, sha256: digestOf(receipt), last: { ...head.last, [job]: now },
  })
  return receipt
}

/** A receipt by number. */
export const receiptOf = (view: View, number: number): ShotReceipt | undefined =>
  view.get(c.receipts, receiptIdOf(number))
