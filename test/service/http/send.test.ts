/** A reply while the body of its request is still on its way. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { send } from '../../../src/service/http/send.js'

const bodyBytes = 4 * 1024 * 1024

t.test('a refusal reaches a client that is still sending: its connection ends behind the last byte of its body', async (t) => {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    const reply = { status: 413, body: { error: { code: 'too_large' } } }
    send(request, response, { requestId: 'r_1', reply, last: false })
  })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const failures: unknown[] = []
  socket.on('error', (error) => failures.push(error))
  let got = ''
  const refused = new Promise<void>((resolve) => socket.on('data', (chunk) => {
    got += chunk.toString('latin1')
    if (got.includes('too_large')) resolve()
  }))
  const closed = once(socket, 'close')
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\n' +
    `Content-Length: ${String(bodyBytes)}\r\n\r\n`)
  await Promise.race([refused, closed])
  t.match(got, /^HTTP\/1\.1 413 /)
  // A client that asks only behind its last byte whether something came back.
  socket.write(Buffer.alloc(bodyBytes))
  await closed
  t.strictSame(failures, [], 'nothing of what it still sent was answered with a reset')
  t.equal(asked[0]?.complete, true, 'its body was taken to the end')
})
