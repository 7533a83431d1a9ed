/** What a server says that is no word of its protocol. */
import type { Socket } from 'node:net'
import type { Client } from 'pg'

type Reader = (this: Socket, chunk: Buffer) => void

interface Attaching { attachListeners(stream: Socket): void }

/**
 * Ends a connection by bytes that the driver cannot read. It reads them as they come in, where its
 * error is in nobody's hands and would end the process.
 */
export const endWhereUnread = ({ connection }: Client): void => {
  const driver = connection as unknown as Attaching
  const attach = driver.attachListeners.bind(driver)
  // Once for a connection, and once more for the TLS within it.
  driver.attachListeners = (stream) => {
    const others = stream.listeners('data')
    attach(stream)
    for (const reader of stream.listeners('data') as Reader[]) {
      if (others.includes(reader)) continue
      stream.off('data', reader)
      stream.on('data', (chunk: Buffer) => {
        try {
          reader.call(stream, chunk)
        } catch (cause) {
          stream.destroy(new Error('no word of the protocol', { cause }))
        }
      })
    }
  }
}
