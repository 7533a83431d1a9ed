/** Limits of closing capacity, each once; milliseconds and bytes (C-057, C-228, C-231 to C-234). */
import {
  closingMs, getsPerMinuteMax, keptLimits, planLimitMax, replyLimits,
} from '../plan/plan-limits.js'

/** What reading the evidence of one closure may take. */
export interface ReadLimits {
  /** From the one snapshot of the rows to the last byte of the last reply. */
  readonly windowMs: number
  readonly getsMax: number
  /** Bytes of all replies together, as they came. */
  readonly rawBytesMax: number
  /** Bytes of one reply. */
  readonly replyBytesMax: number
}

/** Of a follow-through job: also of each later look at it. */
export const followReadLimits: ReadLimits = {
  windowMs: 120_000, getsMax: 4, rawBytesMax: 4_194_304, replyBytesMax: 1_048_576,
}

/** What proving a publication may take besides. */
export interface PublicationReadLimits extends ReadLimits {
  /** Bytes of objects, as they are when nothing encodes them. */
  readonly decodedBytesMax: number
  /** Bytes of one reply, by what is read; everything else has `replyBytesMax`. */
  readonly treeReplyBytesMax: number
  readonly blobReplyBytesMax: number
  readonly pageReplyBytesMax: number
  /** Files that differ from the base: how many, all together, and one. */
  readonly filesMax: number
  readonly filesBytesMax: number
  readonly fileBytesMax: number
  /** Pages of changed paths. */
  readonly pagesMax: number
  /** Sealed journals of what was read, as they are stored. */
  readonly journalBytesMax: number
  readonly journalsBytesMax: number
  /** Requests under way at once. */
  readonly atOnce: number
  /** Requests within any 60 seconds, at a host that is not on this machine. */
  readonly getsPerMinuteMax: number
}

/** Of a publication: also of each later look at it (C-219 to C-229). */
export const publicationReadLimits: PublicationReadLimits = {
  windowMs: closingMs, getsMax: planLimitMax.closing_gets,
  rawBytesMax: planLimitMax.closing_raw_bytes, replyBytesMax: replyLimits.other,
  decodedBytesMax: planLimitMax.closing_decoded_bytes, treeReplyBytesMax: replyLimits.tree,
  blobReplyBytesMax: replyLimits.blob, pageReplyBytesMax: replyLimits.filesPage,
  filesMax: planLimitMax.expected_files, filesBytesMax: planLimitMax.expected_bytes,
  fileBytesMax: planLimitMax.file_bytes, pagesMax: planLimitMax.changed_pages,
  journalBytesMax: keptLimits.journalBytesMax, journalsBytesMax: keptLimits.journalsBytesMax,
  atOnce: 8, getsPerMinuteMax,
}
