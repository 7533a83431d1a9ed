import { gzipSync, brotliCompressSync, deflateSync } from 'node:zlib'
import { refusedBy } from '../../src/net/contact-error.js'
import { ask, client, failureOf, name, recorder, reply, serve } from '../support/net/world.js'
import type { AuthorityPoint } from '../../src/net/types.js'
import type { Answer } from '../support/net/world.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'

const ok = 'HTTP/1.1 200 OK'
const answering = (bytes: Buffer): Answer => (socket) => socket.end(bytes)

t.test('a request goes out as it was given, over TLS to the name of its URL', async (t) => {
  const server = await serve(answering(reply(`${ok}\r\nX-Thing: a`)))
  t.teardown(server.close)
  const body = Buffer.from('{"question":"é\\u0000"}')
  const got = await client().request(
    ask(server.url, { body, headers: { Authorization: 'Bearer k', 'content-type': 'text/x' } }),
  )
  t.equal(got.status, 200)
  t.equal(got.body.toString(), '{"ok":true}')
  t.strictSame(got.headers.get('x-thing'), ['a'])
  t.equal(server.requests.length, 1)
  const seen = server.requests[0]
  t.ok(seen?.body.equals(body))
  t.match(seen?.head, /^POST \/v1\/x HTTP\/1\.1\r\n/)
  t.match(seen?.head, new RegExp(`^host: ${name}:${server.port}$`, 'im'))
  for (const line of ['authorization: Bearer k', 'content-type: text/x', 'user-agent: sallyport',
    'accept-encoding: identity', `content-length: ${body.length}`, 'connection: close']) {
    t.ok(seen?.head.toLowerCase().split('\r\n').includes(line.toLowerCase()), line)
  }
  t.notMatch(seen?.head, /gzip|deflate|transfer-encoding|node-fetch/i)
  t.strictSame(server.serverNames, [name], 'the server name is that of the URL')
})

t.test('look-up, mark, dial and first byte each follow their authority check', async (t) => {
  const { steps, hooks } = recorder()
  const server = await serve((socket) => {
    steps.push('request')
    socket.end(reply(ok))
  })
  t.teardown(server.close)
  const counts: number[] = []
  await client({
    resolve: async (host) => {
      steps.push(`resolve ${host}`)
      return [{ address: '127.0.0.1', family: 4 }]
    },
  }).request(ask(server.url, {
    authority: async (point) => {
      // The client is up before the server has read the last of its handshake.
      if (point === 'before_first_byte') {
        await until('TLS is up there', () => server.handshakes() === 1)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
      counts.push(server.connections(), server.handshakes(), server.applicationBytes())
      hooks.authority(point)
    },
    markContact: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      counts.push(server.connections())
      hooks.markContact()
    },
  }))
  t.strictSame(steps, ['before_resolve', `resolve ${name}`, 'before_dial', 'mark',
    'before_first_byte', 'request'])
  t.strictSame(counts, [0, 0, 0, 0, 0, 0, 0, 1, 1, 0],
    'nothing before the mark; a finished handshake and no byte before the third check')
})

t.test('authority withdrawn before the look-up or the dial: not even a TLS hello', async (t) => {
  const server = await serve(answering(reply(ok)))
  t.teardown(server.close)
  let lookUps = 0
  const deps = { resolve: async () => (lookUps++, [{ address: '127.0.0.1', family: 4 as const }]) }
  for (const point of ['before_resolve', 'before_dial', 'mark'] as const) {
    const { hooks, refusal } = recorder(point)
    const { error, contact } = await failureOf(client(deps).request(ask(server.url, hooks)))
    t.equal(error, refusal, 'the error of the caller goes on as it is')
    t.equal(contact, 'none')
    t.equal(lookUps, point === 'before_resolve' ? 0 : point === 'before_dial' ? 1 : 2)
  }
  t.equal(server.connections(), 0)
})

t.test('authority withdrawn after TLS is up: not one byte of the request', async (t) => {
  const server = await serve(answering(reply(ok)))
  t.teardown(server.close)
  const { hooks, refusal, steps } = recorder('before_first_byte')
  const authority = async (point: AuthorityPoint): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    hooks.authority(point)
  }
  const { error, contact } = await failureOf(
    client().request(ask(server.url, { ...hooks, authority })),
  )
  t.equal(error, refusal)
  t.equal(contact, 'none')
  t.strictSame(steps, ['before_resolve', 'before_dial', 'mark', 'before_first_byte'])
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(server.handshakes(), 1)
  t.equal(server.applicationBytes(), 0)
})

t.test('A-024 a redirect comes back as a reply and its target is never contacted', async (t) => {
  const target = await serve(answering(reply(ok)))
  t.teardown(target.close)
  for (const status of [301, 302, 303, 307, 308]) {
    for (const method of ['POST', 'GET'] as const) {
      const server = await serve(answering(
        reply(`HTTP/1.1 ${status} Moved\r\nlocation: ${target.url}`, 'x'),
      ))
      const got = await client().request(ask(server.url, { method }))
      t.equal(got.status, status)
      t.strictSame(got.headers.get('location'), [target.url])
      t.equal(server.requests.length, 1)
      server.close()
    }
  }
  t.equal(target.connections(), 0)
})

t.test('a redirect without a valid location is a reply as well', async (t) => {
  const server = await serve(answering(reply('HTTP/1.1 302 Found\r\nlocation: http://[')))
  t.teardown(server.close)
  t.equal((await client().request(ask(server.url))).status, 302)
})

t.test('A-025 an error status is a reply, and no request is ever sent twice', async (t) => {
  for (const status of [400, 401, 403, 404, 408, 409, 421, 425, 429, 500, 502, 503, 504]) {
    const server = await serve(answering(reply(`HTTP/1.1 ${status} No\r\nretry-after: 0`)))
    t.equal((await client().request(ask(server.url))).status, status)
    await new Promise((resolve) => setTimeout(resolve, 5))
    t.equal(server.requests.length, 1)
    t.equal(server.connections(), 1)
    server.close()
  }
})

t.test('A-025 a reset after the request is not followed by another request', async (t) => {
  const server = await serve((_socket, _seen, _index, reset) => reset())
  t.teardown(server.close)
  for (const method of ['POST', 'GET'] as const) {
    const before = server.requests.length
    t.hasStrict(await failureOf(client().request(ask(server.url, { method }))),
      { code: 'reset', contact: 'possible', kind: 'remote' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    t.equal(server.requests.length, before + 1)
  }
})

t.test('A-171 an encoded reply is refused without decoding it', async (t) => {
  const body = Buffer.from('{"ok":true}')
  const encoded: [string, Buffer][] = [
    ['gzip', gzipSync(body)], ['br', brotliCompressSync(body)], ['deflate', deflateSync(body)],
    ['x-gzip', gzipSync(body)], ['GZIP', gzipSync(body)], ['zstd', body], ['identity, gzip', body],
    ['', body],
  ]
  for (const [encoding, bytes] of encoded) {
    const server = await serve(answering(reply(`${ok}\r\nContent-Encoding: ${encoding}`, bytes)))
    t.hasStrict(await failureOf(client().request(ask(server.url))),
      { code: 'encoding_refused', contact: 'possible' }, encoding)
    server.close()
  }
  const twice = await serve(answering(
    reply(`${ok}\r\ncontent-encoding: identity\r\ncontent-encoding: gzip`),
  ))
  t.hasStrict(await failureOf(client().request(ask(twice.url))), { code: 'encoding_refused' })
  twice.close()
  const transfer = await serve((socket) =>
    socket.end(`${ok}\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`))
  t.hasStrict(await failureOf(client().request(ask(transfer.url))), { code: 'encoding_refused' })
  transfer.close()
  const plain = await serve(answering(reply(`${ok}\r\ncontent-encoding: Identity`)))
  t.equal((await client().request(ask(plain.url))).status, 200)
  plain.close()
})

const chunked = (body: Buffer, size: number): Buffer => {
  const parts: Buffer[] = [Buffer.from(`${ok}\r\ntransfer-encoding: chunked\r\n\r\n`)]
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

t.test('A-203 raw bytes are counted to the exact limit, with and without a length', async (t) => {
  for (const limit of [16_384, 262_144]) {
    for (const extra of [0, 1]) {
      // Valid JSON with padding: a parser that trims first would find it small.
      const body = Buffer.from(`{"a":1${' '.repeat(limit + extra - 7)}}`)
      const forms = {
        length: reply(ok, body),
        chunked: chunked(body, 5000),
        close: Buffer.concat([Buffer.from(`${ok}\r\nconnection: close\r\n\r\n`), body]),
      }
      for (const [form, bytes] of Object.entries(forms)) {
        const server = await serve(answering(bytes))
        const work = client().request(ask(server.url, { replyBytesMax: limit }))
        if (extra === 0) t.equal((await work).body.length, limit, form)
        else {
          t.hasStrict(await failureOf(work), { code: 'reply_too_large', contact: 'possible' }, form)
        }
        server.close()
      }
    }
  }
})

t.test('a reply without end is cut at the limit, whatever length it announces', async (t) => {
  for (const head of ['transfer-encoding: chunked', 'x: y']) {
    let sent = 0
    const server = await serve((socket) => {
      socket.write(`${ok}\r\n${head}\r\n\r\n`)
      const more = (): void => {
        while (!socket.destroyed && sent < 50_000_000) {
          sent += 65_536
          const data = Buffer.alloc(65_536, 0x20)
          const framed = head === 'x: y' ? data : Buffer.concat([Buffer.from('10000\r\n'), data,
            Buffer.from('\r\n')])
          if (!socket.write(framed)) return void socket.once('drain', more)
        }
      }
      more()
    })
    t.hasStrict(await failureOf(client().request(ask(server.url))), { code: 'reply_too_large' })
    server.close()
    t.ok(sent < 20_000_000, 'the rest was never read')
  }
})

t.test('a length over the limit or an encoding is refused when announced', async (t) => {
  const heads = {
    reply_too_large: 'content-length: 262145', encoding_refused: 'content-encoding: deflate',
  }
  for (const [code, line] of Object.entries(heads)) {
    const server = await serve((socket) => void socket.write(`${ok}\r\n${line}\r\n\r\n`))
    t.teardown(server.close)
    t.hasStrict(await failureOf(client().request(ask(server.url))), { code, contact: 'possible' })
  }
})

t.test('a reply of another status than 200 is known by its head where its body is refused or cut off, and its error tells none of it', async (t) => {
  const gzip = 'retry-after: 7\r\ncontent-encoding: gzip'
  const table: readonly (readonly [Buffer, string, number | undefined])[] = [
    [reply(`HTTP/1.1 503 No\r\n${gzip}`), 'encoding_refused', 503],
    [reply('HTTP/1.1 429 No\r\nretry-after: 7', ' '.repeat(262_145)), 'reply_too_large', 429],
    [Buffer.from('HTTP/1.1 402 No\r\nretry-after: 7\r\ncontent-length: 9\r\n\r\nno'),
      'truncated', 402],
    [reply(`${ok}\r\n${gzip}`), 'encoding_refused', undefined],
    [Buffer.from('HTTP/1.1 503 No\r\nretry-after: 7\r\n'), 'reset', undefined],
  ]
  for (const [bytes, code, status] of table) {
    const server = await serve(answering(bytes))
    const { error, code: told } = await failureOf(client().request(ask(server.url)))
    const head = refusedBy(error)
    t.strictSame([told, head?.status], [code, status])
    if (head !== null) t.strictSame([head.headers.get('retry-after'), head.body.length], [['7'], 0])
    t.notMatch(JSON.stringify(error) + error.stack, 'retry-after')
    server.close()
  }
})

t.test('a chunked reply is whole even when every byte comes alone', async (t) => {
  const server = await serve((socket) => {
    const bytes = chunked(Buffer.from('{"slow":true}'), 4)
    let at = 0
    const next = (): void => {
      if (at < bytes.length) socket.write(bytes.subarray(at, ++at), () => setImmediate(next))
      else socket.end()
    }
    socket.setNoDelay(true)
    next()
  })
  t.teardown(server.close)
  t.equal((await client().request(ask(server.url))).body.toString(), '{"slow":true}')
})

t.test('trailers after the last chunk do not make a reply cut', async (t) => {
  const server = await serve((socket) => socket.end(
    `${ok}\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-sum: 1\r\n\r\n`,
  ))
  t.teardown(server.close)
  t.equal((await client().request(ask(server.url))).body.toString(), '{}')
})

t.test('an empty and a repeated header stay visible', async (t) => {
  const server = await serve(answering(reply(
    `${ok}\r\nInference-Id:\r\nX-Twice: a\r\nx-twice: b\r\nX-Twice: a\r\nset-cookie: s`,
  )))
  t.teardown(server.close)
  const { headers } = await client().request(ask(server.url))
  t.strictSame(headers.get('inference-id'), [''])
  t.strictSame(headers.get('x-twice'), ['a', 'b', 'a'])
  t.equal(headers.has('x-absent'), false)
})

t.test('a request that must not go out is refused before authority is asked', async (t) => {
  const { steps, hooks } = recorder()
  const bad: [string, Parameters<typeof ask>[1], string?][] = [
    ['request_too_large', { body: Buffer.alloc(65_537) }],
    ['request_too_large', { requestBytesMax: Number.NaN }],
    ['url_refused', {}, 'http://provider.test/'],
    ['url_refused', {}, 'https://user@provider.test/'],
    ['url_refused', {}, 'https://:pw@provider.test/'],
    ['url_refused', {}, 'https://provider.test/#f'],
    ['url_refused', {}, 'https://provider.test/#'],
    ['url_refused', {}, ' https://provider.test/'],
    ['url_refused', {}, 'https:\\\\provider.test/'],
    ['url_refused', {}, '//provider.test/'],
    ['url_refused', {}, 'data:text/plain,x'],
    ['url_refused', {}, 'file:///etc/passwd'],
    ['method_refused', { method: 'PUT' as 'GET' }],
    ['method_refused', { method: 'GET', body: Buffer.from('x') }],
    ['header_refused', { headers: { Host: 'other.test' } }],
    ['header_refused', { headers: { 'Transfer-Encoding': 'chunked' } }],
    ['header_refused', { headers: { 'accept-encoding': 'gzip' } }],
    ['header_refused', { headers: { authorization: 'Bearer a\r\nx: y' } }],
    ['header_refused', { headers: { 'bad name': 'x' } }],
    ['header_refused', { headers: { accept: 'a', Accept: 'b' } }],
  ]
  for (const [code, over, url] of bad) {
    const { error, ...rest } = await failureOf(
      client().request(ask(url ?? 'https://provider.test/', { ...hooks, ...over })),
    )
    t.hasStrict(rest, { code, contact: 'none', kind: 'rejected' }, url ?? code)
    t.notMatch(error.message, /Bearer|passwd|other|pw/)
  }
  t.strictSame(steps, [])
})

t.test('a body of exactly the limit goes out', async (t) => {
  const server = await serve(answering(reply(ok)))
  t.teardown(server.close)
  await client().request(ask(server.url, { body: Buffer.alloc(65_536, 0x61) }))
  t.equal(server.requests[0]?.body.length, 65_536)
  await client().request(ask(server.url, { body: Buffer.alloc(0) }))
  t.equal(server.requests[1]?.body.length, 0)
})

t.test('a reply of a thousand header lines is refused, as one behind them would not be seen', async (t) => {
  const lines = (count: number, last: string): string =>
    [...Array.from({ length: count }, (_, at) => `a: ${at % 10}`), last].join('\r\n')
  const heads: readonly [string, string, boolean][] = [
    ['998 of them with their length', lines(998, 'x: y'), false],
    ['997 of them with their length', lines(997, 'x: y'), true],
    ['a coding behind the thousandth', lines(1000, 'content-encoding: gzip'), false],
    ['an id far behind the thousandth', lines(1900, 'inference-id: other'), false],
  ]
  for (const [what, head, read] of heads) {
    const server = await serve(answering(reply(`${ok}\r\n${head}`)))
    t.teardown(server.close)
    const request = client().request(ask(server.url))
    if (read) t.equal((await request).status, 200, what)
    else {
      const refused = { code: 'reply_malformed', contact: 'possible' }
      t.hasStrict(await failureOf(request), refused, what)
    }
  }
})
