/** A server that says what it is told to, in words of PostgreSQL or in none. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { Teardown } from '../../world/place.js'

/** A message of the protocol: its letter, its length, its bytes. */
export const message = (code: string, body: Buffer): Buffer => {
  const head = Buffer.from(`${code}\0\0\0\0`, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** No password is asked for, and questions may come. */
export const welcome = Buffer.concat([
  message('R', Buffer.alloc(4)), message('Z', Buffer.from('I')),
])

/** The port of one; `answers` is given each connection once it has introduced itself. */
export const toldServer = async (
  t: Teardown, answers: (asking: Socket) => void,
): Promise<number> => {
  const server = createServer((asking) => {
    asking.on('error', () => undefined)
    asking.once('data', () => answers(asking))
  }).listen(0, '127.0.0.1')
  t.teardown(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
