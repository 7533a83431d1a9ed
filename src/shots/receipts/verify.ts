/** Whether the receipts of jobs chain, over the gaps that prunes have left. */
import { digestOf } from '../../base/canonical.js'
import type { View } from '../../state/types.js'
import { receiptIdOf } from './append.js'
import {
  receiptCollections, receiptHeadId, type ReceiptGap, type ShotReceipt,
} from './rows.js'

type Found = (code: string, subject: string, text: string) => void

/** A receipt, or what is left of some, as a piece of the chain. */
interface Link {
  readonly id: string
  readonly first: number
  readonly last: number
  readonly before: string | null
  readonly after: string
  /** Whether it says of itself what it must. */
  readonly sound: boolean
}

const linkOfReceipt = (id: string, doc: ShotReceipt): Link => ({
  id, first: doc.number, last: doc.number, before: doc.previous_sha256, after: digestOf(doc),
  sound: id === receiptIdOf(doc.number),
})

const linkOfGap = (id: string, { digest_before, digest_after, ...gap }: ReceiptGap): Link => ({
  id, first: gap.first, last: gap.last, before: digest_before, after: digest_after,
  sound: id === receiptIdOf(gap.first) && gap.count > 0 && gap.count === gap.last - gap.first + 1,
})

/** Names every break of the chain; receipts and tombstones together have each number once. */
export const verifyReceipts = (view: View, found: Found): void => {
  const links = [
    ...view.all(receiptCollections.receipts).map(({ id, doc }) => linkOfReceipt(id, doc)),
    ...view.all(receiptCollections.gaps).map(({ id, doc }) => linkOfGap(id, doc)),
  ].sort((a, b) => a.first - b.first)
  let previous: string | null = null
  let number = 0
  for (const link of links) {
    if (!link.sound || link.first !== number + 1 || link.before !== previous) {
      found('shot_receipt_chain_broken', link.id, 'A receipt does not continue the one before.')
    }
    number = link.last
    previous = link.after
  }
  const head = view.get(receiptCollections.head, receiptHeadId) ?? { number: 0, sha256: null }
  if (head.number !== number || head.sha256 !== previous) {
    found('shot_receipt_head_differs', 'the', 'The newest receipt is not the one that was noted.')
  }
}
