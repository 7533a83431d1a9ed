/** Memory that is given back at once, where waiting for the collector would double the peak. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'

/** A port whose other end is closed: what is moved through it is dropped. Null until it is. */
let nowhere: MessagePort | null = null
let isMade = false

/** The end is closed in a later turn; what was posted until then would wait in a queue. */
const makePort = (): void => {
  isMade = true
  const { port1, port2 } = new MessageChannel()
  port1.once('close', () => {
    nowhere = port1
  })
  port1.unref()
  port2.close()
}

/**
 * Frees a buffer's memory now, but for the first ones of a thread; it has length 0 afterwards. A
 * buffer that shares its memory is left alone. `ArrayBuffer.prototype.transfer` would do it too,
 * but Node 20 has none.
 */
export const release = (bytes: Buffer): void => {
  if (!isMade) makePort()
  const { buffer } = bytes
  if (bytes.length === buffer.byteLength) nowhere?.postMessage(null, [buffer as ArrayBuffer])
}
