/** A stand-in of a reply that goes nowhere. */
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'

/** What was written to it. */
export interface Written {
  status?: number
  text?: string
}

/**
 * A reply, and what was written to it. It says that it is closed once it has ended, as a real one
 * does: a timer that waits for that would find it, half a minute later, in another test.
 */
export const standInReply = (): {
  readonly response: ServerResponse
  readonly written: Written
} => {
  const written: Written = {}
  const response = Object.assign(new EventEmitter(), {
    socket: {},
    writeHead: (status: number) => (written.status = status),
    end: (text?: Buffer) => {
      written.text = text?.toString('utf8') ?? ''
      response.emit('close')
    },
    destroy: () => undefined,
  })
  return { response: response as unknown as ServerResponse, written }
}
