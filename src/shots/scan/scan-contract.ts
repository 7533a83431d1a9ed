/** What goes into a scan and what comes out. */
import { contract } from '../../base/contract.js'
import { scanFailure, scanReceiptShape, type ScanReceipt } from '../receipts/scan.js'
import { scanInputShape } from './input.js'

/** Taking in what is new in the image folder, or in another folder for once. */
export const shotsScan = contract({
  name: 'shots.scan',
  version: 1,
  input: scanInputShape,
  output: scanReceiptShape,
  toDocument: (receipt: ScanReceipt) => receipt,
  failure: scanFailure,
})
