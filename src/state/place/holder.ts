/**
 * Which very directory of which very machine this is. A copy of the directory has another file, on
 * another device perhaps; a copy of the whole machine (an image that was started twice) has the
 * same file on the same device, and was started by itself: Linux gives each start an id. Elsewhere
 * nothing of a machine tells that, and file and device alone are used.
 */
import { createHash } from 'node:crypto'
import { thisPlatform } from '../../base/platform/this-platform.js'
import type { FileFacts } from '../files.js'

/** Letters and digits that a holder has at most; see `Introduction.holder`. */
const digits = 32

/** Names it by the lock file of the directory and the start of the machine. */
export const holderOf = (
  { dev, ino }: Pick<FileFacts, 'dev' | 'ino'>, boot = thisPlatform.bootId(),
): string =>
  createHash('sha256').update(`${dev} ${ino} ${boot ?? ''}`).digest('hex').slice(0, digits)
