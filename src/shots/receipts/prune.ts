/**
 * Removing receipts of nothing done. What is left of a gap is one tombstone, by which the chain can
 * still be followed: the digests on both sides of it, and how many are gone.
 */
import { digestOf } from '../../base/canonical.js'
import { msFromIso } from '../../base/clock.js'
import type { IdleRows } from '../../governance/capability.js'
import type { Tx, View } from '../../state/types.js'
import { receiptIdOf } from './append.js'
import { isIdleReceipt } from './idle.js'
import {
  receiptCollections as c, receiptHeadId, type ReceiptGap, type ShotReceipt,
} from './receipt-rows.js'

/** Receipts that are looked at in one go. */
const pageMax = 256

/** Whether a receipt may go: it tells of nothing done, is old, and is not the newest. Pure. */
export const mayReceiptGo = (
  receipt: ShotReceipt, before: string, newest: number,
): boolean =>
  receipt.number < newest && isIdleReceipt(receipt)
  && msFromIso(receipt.at) < msFromIso(before)

const newestOf = (view: View): number => view.get(c.head, receiptHeadId)?.number ?? 0

const find: IdleRows['find'] = (view, before, after) => {
  const page = view.range(c.receipts, {
    limit: pageMax, ...(after === undefined ? {} : { after }),
  })
  const newest = newestOf(view)
  return {
    ids: page.filter(({ doc }) => mayReceiptGo(doc, before, newest)).map(({ id }) => id),
    next: page.length < pageMax ? null : page.at(-1)?.id ?? null,
  }
}

/** The gap that ends right before a number; gaps are few, and lie under their first number. */
const gapBefore = (tx: Tx, number: number): ReceiptGap | undefined => {
  const [found] = tx.range(c.gaps, { after: receiptIdOf(number), limit: 1, reverse: true })
  return found?.doc.last === number - 1 ? found.doc : undefined
}

/** Two gaps that lie side by side are one. Pure. */
const joined = (a: ReceiptGap | undefined, b: ReceiptGap | undefined): ReceiptGap => {
  if (a === undefined || b === undefined) {
    const only = a ?? b
    if (only === undefined) throw new TypeError('a gap of nothing')
    return only
  }
  return {
    first: a.first, last: b.last, count: a.count + b.count,
    digest_before: a.digest_before, digest_after: b.digest_after,
  }
}

const dropOne = (tx: Tx, receipt: ShotReceipt): void => {
  const { number } = receipt
  const own: ReceiptGap = {
    first: number, last: number, count: 1,
    digest_before: receipt.previous_sha256, digest_after: digestOf(receipt),
  }
  const behind = tx.get(c.gaps, receiptIdOf(number + 1))
  const gap = joined(joined(gapBefore(tx, number), own), behind)
  if (behind !== undefined) tx.remove(c.gaps, receiptIdOf(behind.first))
  tx.put(c.gaps, receiptIdOf(gap.first), gap)
  tx.remove(c.receipts, receiptIdOf(number))
}

const drop: IdleRows['drop'] = (tx, _now, before, ids) => {
  const newest = newestOf(tx)
  let gone = 0
  for (const id of ids) {
    const receipt = tx.get(c.receipts, id)
    if (receipt === undefined || !mayReceiptGo(receipt, before, newest)) continue
    dropOne(tx, receipt)
    gone += 1
  }
  return gone
}

/** Receipts of nothing done, for a prune. */
export const idleReceipts: IdleRows = { noun: 'idle receipts', find, drop }
