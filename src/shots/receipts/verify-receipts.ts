/** Whether the receipts of jobs chain, over the gaps that prunes have left. */
import { digestOf } from '../../base/canonical.js'
import { each } from '../../state/each.js'
import type { View } from '../../state/types.js'
import { receiptIdOf } from './append.js'
import {
  receiptCollections, receiptHeadId, type ReceiptGap, type ShotReceipt,
} from './receipt-rows.js'

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

/** Both kinds by their ids, which are padded numbers; one under another id is not sound. */
function* linksOf(view: View): Generator<Link> {
  const gaps = each(view, receiptCollections.gaps)
  let gap = gaps.next()
  for (const { id, doc } of each(view, receiptCollections.receipts)) {
    for (; gap.done !== true && gap.value.id < id; gap = gaps.next()) {
      yield linkOfGap(gap.value.id, gap.value.doc)
    }
    yield linkOfReceipt(id, doc)
  }
  for (; gap.done !== true; gap = gaps.next()) yield linkOfGap(gap.value.id, gap.value.doc)
}

/** Names every break of the chain; receipts and tombstones together have each number once. */
export const verifyReceipts = (view: View, found: Found): void => {
  let previous: string | null = null
  let number = 0
  for (const link of linksOf(view)) {
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
