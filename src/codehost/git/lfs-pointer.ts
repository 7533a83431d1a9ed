/**
 * Pointers of Git LFS: small texts that a repository holds in place of the content of large files
 * (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md).
 */

/** Fewest and most bytes of one: its three lines, and what the specification allows. */
const [bytesMin, bytesMax] = [100, 1023]

/** Whether a file of so many bytes may be one; where nobody told its size, it may. */
export const mayBeLfsPointer = (bytes: number | undefined): boolean =>
  bytes === undefined || (bytes >= bytesMin && bytes <= bytesMax)

/** The version of now and its two former names. */
const form = new RegExp(
  String.raw`^version (?:https://(?:git-lfs|hawser)\.github\.com/spec/v1|http://git-media\.io/v/2)`
  + String.raw`\r?\n(?:[^\n]+\n)*oid sha256:[0-9a-f]{64}\r?\n`)

export const isLfsPointer = (bytes: Buffer): boolean =>
  mayBeLfsPointer(bytes.length) && form.test(bytes.toString('latin1'))
