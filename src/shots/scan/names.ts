/**
 * File names as the file system keeps them: bytes. Here they travel as latin1 text, one character a
 * byte, which is exact for every name and costs nothing for ASCII ones; rows and receipts show
 * UTF-8 text, and keep the bytes beside it where there is no such text.
 */
import type { FileName } from '../observations/observation-rows.js'

const onlyAscii = /^[\x00-\x7f]*$/

/** Whether latin1 text of a name is ASCII, so that it is its own UTF-8 text. */
const isAscii = (latin1: string): boolean => onlyAscii.test(latin1)

/** How rows name a file, from the latin1 text of its path below the folder. */
export const fileNameOf = (latin1: string): FileName => {
  if (isAscii(latin1)) return { text: latin1, bytes_base64: null }
  const bytes = Buffer.from(latin1, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes)
    ? { text, bytes_base64: null } : { text, bytes_base64: bytes.toString('base64') }
}

/** The bytes of a file's path below its folder. */
const nameBytes = (name: FileName): Buffer =>
  name.bytes_base64 === null
    ? Buffer.from(name.text, 'utf8') : Buffer.from(name.bytes_base64, 'base64')

/** The latin1 text of a row's name. */
export const latin1Of = (name: FileName): string =>
  name.bytes_base64 === null && isAscii(name.text) ? name.text : nameBytes(name).toString('latin1')

/** What system calls take for a file below a root: text where that is exact, else bytes. */
export const pathBelow = (folder: string, latin1: string): string | Buffer =>
  isAscii(latin1)
    ? `${folder}/${latin1}`
    : Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(latin1, 'latin1')])

/** The same for a file of the working folder. */
export const nameAlone = (latin1: string): string | Buffer =>
  isAscii(latin1) ? latin1 : Buffer.from(latin1, 'latin1')
