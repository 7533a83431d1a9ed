/** Bytes of the length that stands before what is given to a supervisor. */
export const frameLengthBytes = 8

/** A length as it stands before so many bytes. */
export const frameHead = (bytes: number): Buffer => {
  const head = Buffer.alloc(frameLengthBytes)
  head.writeBigUInt64BE(BigInt(bytes))
  return head
}
