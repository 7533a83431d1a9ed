/** Something that happens while a reply is on its way. */
import { connect } from 'node:tls'
import type { Serving } from './serving.js'

/** Takes the first bytes of a reply, lets `meanwhile` happen, takes the rest; how many came. */
export const readAround = (
  { started }: Serving, path: string, token: string, meanwhile: () => Promise<unknown>,
): Promise<number> => new Promise((resolve, reject) => {
  const { port, certificate } = started.identity
  let bytes = 0
  const socket = connect({ port, host: '127.0.0.1', ca: [certificate] }, () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
      + `Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n`)
  })
  socket.once('data', (first: Buffer) => {
    bytes += first.length
    socket.pause()
    meanwhile().then(() => {
      socket.on('data', (more: Buffer) => { bytes += more.length })
      socket.resume()
    }, reject)
  })
  socket.on('error', () => undefined).on('close', () => resolve(bytes))
})
