/** The first line of a reply: what is not HTTP/1.x and three digits is nobody's answer. */
import t from 'tap'
import { ask, client, failureOf, serve, type Answer } from '../support/net/world.js'

const rest = 'content-length: 2\r\n\r\n{}'
const once = (head: string): Answer => (socket) => void socket.end(Buffer.from(head, 'latin1'))
const dripped = (head: string): Answer => (socket) => {
  const bytes = Buffer.from(head, 'latin1')
  const next = (at: number): void => {
    if (at === bytes.length) return
    socket.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1))
  }
  socket.setNoDelay(true)
  next(0)
}

const refused: Readonly<Record<string, string>> = {
  'HTTP/0.9': 'HTTP/0.9 200 OK',
  'HTTP/2.0': 'HTTP/2.0 200 OK',
  'another protocol': 'ICE/1.0 200 OK',
  'a third protocol': 'RTSP/1.0 200 OK',
  'a NUL in its words': 'HTTP/1.1 200 O\0K',
  'a control character in its words': 'HTTP/1.1 200 O\u0001K',
  'a DEL in its words': 'HTTP/1.1 200 O\u007fK',
  'a status below 100': 'HTTP/1.1 099 OK',
  'a status of zeros': 'HTTP/1.1 000 OK',
  'a status above 599': 'HTTP/1.1 600 OK',
  'a status of two digits': 'HTTP/1.1 20 OK',
  'a status of four digits': 'HTTP/1.1 2000 OK',
  'no status': 'HTTP/1.1 OK',
  'no second number of the version': 'HTTP/1. 200 OK',
  'an empty line before it': '\r\nHTTP/1.1 200 OK',
  'another line behind a 100': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/2.0 200 OK',
  'a NUL behind two early hints':
    'HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 \0',
}

t.test('a first line that is no HTTP/1.x with a status, or holds a NUL, is no reply', async (t) => {
  for (const [what, head] of Object.entries(refused)) {
    for (const answer of [once(`${head}\r\n${rest}`), dripped(`${head}\r\n${rest}`)]) {
      const server = await serve(answer)
      const failed = await failureOf(client().request(ask(server.url)))
      t.hasStrict(failed, { code: 'reply_malformed', contact: 'possible', kind: 'remote' }, what)
      t.notMatch(`${failed.error.message} ${JSON.stringify(failed.error)}`, /ICE|RTSP|0\.9/)
      server.close()
    }
  }
})

t.test('a first line without words, of HTTP/1.0, or with letters beyond ASCII is one', async (t) => {
  const fine = [
    'HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.0 200 OK', 'HTTP/1.1 200 Tr\u00e8s bien\t',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK',
  ]
  for (const head of fine) {
    for (const answer of [once(`${head}\r\n${rest}`), dripped(`${head}\r\n${rest}`)]) {
      const server = await serve(answer)
      t.equal((await client().request(ask(server.url))).body.toString(), '{}', head)
      server.close()
    }
  }
})

t.test('the second reply on a connection is looked at like the first one', async (t) => {
  const heads = ['HTTP/1.1 200 OK', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/2.0 200 OK']
  const server = await serve((socket, _seen, index) =>
    void socket.write(`${heads[index] ?? ''}\r\n${rest}`))
  t.teardown(server.close)
  const session = client().openSession()
  t.teardown(() => session.close())
  const get = ask(server.url, { method: 'GET' })
  t.equal((await session.request(get)).status, 200)
  t.hasStrict(await failureOf(session.request(get)), { code: 'reply_malformed' })
  t.equal(server.connections(), 1)
})

t.test('a switch of protocols ends the request at once, also where the connection stays open', async (t) => {
  const heads = [
    '', 'upgrade: x\r\n', 'connection: upgrade\r\nupgrade: x\r\n', 'content-length: 2\r\n',
  ]
  for (const head of heads) {
    const server = await serve((socket) => void socket.write(
      `HTTP/1.1 101 Switching Protocols\r\n${head}\r\nHTTP/1.1 200 OK\r\n${rest}`))
    const failed = await failureOf(client().request(ask(server.url)))
    t.hasStrict(failed, { code: 'reply_malformed', contact: 'possible' }, head)
    server.close()
  }
})
