import { examine } from '../../images/examine.js'
import type { Examiner } from './types.js'

/** Looks into images of one scan. */
export const makeExaminer = (): Examiner => ({
  examine: async (bytes) => examine(bytes),
  close: async () => undefined,
})
