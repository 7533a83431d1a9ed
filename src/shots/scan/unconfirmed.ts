import type { Observation } from '../observations/observation-rows.js'
import type { IgnoredHere } from '../source/ignored.js'
import type { TakenFile } from './types.js'

/** Ends a transaction: the file is to be compared with this row's picture before it is decided. */
export class Unconfirmed extends Error {
  constructor(
    readonly file: TakenFile, readonly representative: Observation,
    readonly ignored: IgnoredHere | null,
  ) {
    super('unconfirmed')
    this.name = 'Unconfirmed'
  }
}
