/**
 * Whether a file is still the one that a row is about. Whoever writes a file in place can set its
 * size and modification time back, but not the time of its last change, so that one counts, too.
 */
import type { SeenFile } from '../observations/observation-rows.js'

/** Exact facts of a file as rows keep them: decimal text where a number would round. */
export interface ExactFacts {
  readonly bytes: number
  readonly modifiedNs: string
  readonly changedNs: string
  readonly inode: string
}

type Stamp = Pick<SeenFile, 'bytes' | 'modified_ns' | 'inode' | 'changed_ns'>

/** Whether only the time of the last change tells them apart, if anything does. */
export const isTouchedAtMost = (row: Stamp, file: ExactFacts): boolean =>
  row.bytes === file.bytes && row.modified_ns === file.modifiedNs && row.inode === file.inode

/** Whether a file is still exactly the one of a row; one of an earlier version names no change. */
export const isSameFile = (row: Stamp, file: ExactFacts): boolean =>
  isTouchedAtMost(row, file)
  && (row.changed_ns === undefined || row.changed_ns === file.changedNs)

/** What a row keeps of these facts. */
export const stampOf = ({ bytes, modifiedNs, changedNs, inode }: ExactFacts): Stamp =>
  ({ bytes, modified_ns: modifiedNs, changed_ns: changedNs, inode })
