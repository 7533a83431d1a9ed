/** What goes into a scan and what comes out. */
import { contract } from '../../base/contract.js'
import { scanFailure, scanReceiptShape } from '../receipts/scan.js'
import { scanInputShape } from './input.js'

/** Taking in what is new in the image folder, or in another folder for once. */
export const shotsScan = contract({
  name: 'shots.scan',
  input: scanInputShape,
  output: scanReceiptShape,
  failure: scanFailure,
})
