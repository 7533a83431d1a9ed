/** What a repair says that it did, and what it could not bring back. */
import type { Problem } from '../types.js'

/** What a repair could not bring back. */
export interface Loss {
  /** Sequence after which records are gone; null when none is. */
  readonly records_after: number | null
  /** Record headers seen among the lost bytes: at least so many records were there. */
  readonly records_seen: number
  readonly bytes: number
  /** Documents that no generation holds any more. */
  readonly documents: number
}

/** What a repair did. */
export interface RepairReport {
  readonly changed: boolean
  /** Folder with copies of what was there before, null when nothing had to change. */
  readonly copied_to: string | null
  readonly done: readonly Problem[]
  readonly loss: Loss
  readonly sequence: number
}

/** Nothing is lost. */
export const noLoss: Loss = { records_after: null, records_seen: 0, bytes: 0, documents: 0 }

export const isLoss = (loss: Loss): boolean => loss.records_after !== null || loss.documents > 0

/** Something that was done. */
export const note = (code: string, message: string): Problem =>
  ({ code, severity: 'notice', message })
