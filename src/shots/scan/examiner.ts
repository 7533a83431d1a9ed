import { createImagePool } from '../../images/pool.js'
import type { Examiner } from './types.js'

/** Looks into the images of one scan, in threads that start with the first of them. */
export const makeExaminer = (): Examiner => createImagePool()
