/** What is made of a passphrase: scrypt of Node, so that each guess costs time and memory. */
import { scrypt } from 'node:crypto'

/** Cost of one derivation: `n` times `r` times 128 bytes of memory, `p` times over. */
export interface ScryptCost {
  /** A power of two. */
  readonly n: number
  readonly r: number
  readonly p: number
}

/** So many bytes out of a passphrase, off the main thread. */
export const scryptOf = (
  passphrase: Uint8Array, salt: Uint8Array, { n, r, p }: ScryptCost, bytes: number,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { N: n, r, p, maxmem: 256 * n * r }
    scrypt(passphrase, salt, bytes, options, (error, key) =>
      error === null ? resolve(key) : reject(error))
  })
