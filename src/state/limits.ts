/**
 * How long the files of a state may be, in bytes. No program of this format writes a longer one; a
 * longer one is damage (`file_too_large`) and is not read into memory. Collection files and
 * artifacts have their length on record; a log has no limit and is read in pieces.
 */
const mebibyte = 1024 * 1024

/** The limit of each kind of file. */
export const fileBytesMax = {
  /** STATE: a sealed profile is a few kilobytes, its certificate at most 64 KiB. */
  state: mebibyte,
  /** One line. */
  key: 4_096,
  /** Two slots. */
  anchor: 8_192,
  /** The text in the lock, which is for people only. */
  lock: 4_096,
  /** A copy of STATE and at most 256 lines for each collection. */
  manifest: 64 * mebibyte,
  /** One line of a few hundred bytes for each policy publication. */
  witness: 64 * mebibyte,
  /** `backup.json`: one line for each file of the backup. */
  backup: 256 * mebibyte,
} as const
