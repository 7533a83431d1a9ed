/** Clients that nobody here wrote: curl, Python, Node's agent, a socket of systemd. */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request as httpsRequest, Agent } from 'node:https'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import { image } from '../support/png.js'
import { startAtPort } from '../support/ports.js'
import { headOf, headText, pairOver } from '../support/service/devices.js'
import { foreign } from '../support/service/foreign.js'
import { serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0
const needing = (program: string) =>
  ({ skip: has(program) ? false : `needs the program ${program}` })
const question = JSON.stringify({
  schema: 'svc.alpha.text.input.v1', question: 'q', max_output_tokens: 1,
})
const inputs = '/api/work-board/inputs'

t.test('curl as the documentation shows it: its certificate, its token from a file, bodies of both framings', needing('curl'), async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { port } = at.started.identity
  const header = world.place.write('header', `Authorization: Bearer ${at.token()}\n`)
  const base = ['-sS', '--cacert', at.started.certificateFile, '-H', `@${header}`,
    '-o', '-', '-w', '\n%{http_code} %{num_connects}']
  const curl = async (path: string, ...more: readonly string[]) => {
    const { stdout, stderr } =
      await foreign('curl', [...base, ...more, `https://127.0.0.1:${port}${path}`])
    const [status = '', connects = ''] = (stdout.split('\n').at(-1) ?? '').split(' ')
    return { status: Number(status), connects: Number(connects), stdout, stderr }
  }
  t.equal((await curl('/api/status')).status, 200)
  const json = ['-H', 'Content-Type: application/json', '--data-binary', question]
  t.equal((await curl(inputs, ...json)).status, 201)
  t.equal((await curl(inputs, ...json, '-H', 'Transfer-Encoding: chunked')).status, 201)
  t.equal((await curl(inputs, ...json, '-H', 'Expect: 100-continue')).status, 201)
  t.equal((await curl('/api/../healthz', '--path-as-is')).status, 400)
  t.equal((await curl('/api/status', '-H', 'Host: evil.example')).status, 421)
  t.equal((await curl('/api/status', '-X', 'TRACE')).status, 405)
  const large = await curl('/api/status', '-H', `X-A: ${'a'.repeat(20_000)}`)
  t.equal(large.status, 431)
  t.match(large.stdout, '"code":"http_head_too_large"', 'with a body as any other error')
  const names = await foreign('curl', ['-sS', '--cacert', at.started.certificateFile,
    `https://localhost:${port}/healthz`, `https://127.0.0.1:${port}/healthz`])
  t.equal(names.stdout.split('"ok"').length, 3, names.stderr)
  const stranger = await foreign('curl', ['-sS', `https://127.0.0.1:${port}/healthz`])
  t.equal(stranger.status, 60, 'without its certificate nothing is asked')
})

const python = `
import http.client, json, ssl, sys, urllib.request
cafile, token, head, body = sys.argv[2:6]
port = int(sys.argv[1])
context = ssl.create_default_context(cafile=cafile)
said = []
one = http.client.HTTPSConnection('127.0.0.1', port, context=context)
bearer = {'Authorization': 'Bearer ' + token}
socks = set()
for _ in range(3):
    one.request('GET', '/api/session', headers=bearer)
    got = one.getresponse(); got.read(); said.append(got.status); socks.add(id(one.sock))
said.append(len(socks))
def pieces():
    yield b'{"schema":"svc.alpha.text.input.v1",'
    yield b'"question":"q",'
    yield b'"max_output_tokens":1}'
one.request('POST', '/api/work-board/inputs', body=pieces(), encode_chunked=True,
    headers={**bearer, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked'})
got = one.getresponse(); got.read(); said.append(got.status)
with open(body, 'rb') as file:
    data = file.read()
one.request('POST', '/api/edge/artifacts', body=data, headers={
    'Authorization': 'Bearer ' + sys.argv[6], 'Content-Type': 'image/png',
    'Sallyport-Edge-Upload': head})
got = one.getresponse(); stored = json.loads(got.read()); said.append(got.status)
ask = urllib.request.Request(
    'https://127.0.0.1:%d/api/edge/artifacts/%s/bytes' % (port, stored['artifact_id']),
    headers=bearer)
with urllib.request.urlopen(ask, context=context) as back:
    said.append(back.read() == data)
print(json.dumps(said))
`

t.test('Python: one connection for several requests, a chunked body, an upload and its bytes again', needing('python3'), async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { credential } = await pairOver(world, at)
  const body = image(1)
  const { stdout, stderr } = await foreign('python3', [
    world.place.write('client.py', python), String(at.started.identity.port),
    at.started.certificateFile, at.token(), headText(headOf(body, 1)),
    world.place.write('one.png', body), credential,
  ])
  t.equal(stdout.trim(), '[200, 200, 200, 1, 201, 201, true]', stderr)
})

t.test('a connection that is kept carries several requests, each authenticated anew; what comes behind an unread body is not answered', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { port, certificate } = at.started.identity
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: [certificate] })
  t.teardown(() => agent.destroy())
  const ask = (token: string): Promise<[number, boolean]> => new Promise((resolve, reject) => {
    const request = httpsRequest({
      agent, host: '127.0.0.1', port, path: '/api/session',
      headers: { Authorization: `Bearer ${token}` },
    }, (response) => {
      response.resume()
      response.on('end', () => resolve([response.statusCode ?? 0, request.reusedSocket]))
    })
    request.on('error', reject).end()
  })
  const token = at.token()
  t.strictSame(await ask(token), [200, false])
  t.strictSame(await ask(token), [200, true])
  await world.run(['logout'])
  t.strictSame(await ask(token), [401, true], 'on the same connection')

  const lines = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n${more}\r\n`
  const piped = (text: string, replies: number): Promise<string> => new Promise((resolve) => {
    let got = ''
    const socket = tlsConnect({
      host: '127.0.0.1', port, ca: [certificate], servername: 'localhost',
    }, () => socket.write(text))
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
      if (got.split('HTTP/1.1 ').length > replies) socket.end()
    })
    socket.on('close', () => resolve(got))
    socket.on('error', () => undefined)
  })
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, one]) => one)
  const three = await piped(`${lines('/healthz')}${lines('/nope')}${lines('/healthz')}`, 3)
  t.strictSame(statuses(three), ['200', '404', '200'], 'in their order')
  const smuggled = `POST ${inputs} HTTP/1.1\r\nHost: localhost:${port}\r\n`
    + `Content-Type: application/json\r\nContent-Length: 400\r\n\r\n${lines('/healthz')}`
  t.strictSame(statuses(await piped(smuggled, 9)), ['401'], 'what nobody reads is no request')
})

t.test('trailers of a chunked body change nothing', async (t) => {
  const at = await serving(t, await World.in(t).state().session())
  const { port, certificate } = at.started.identity
  const asked = (trailers: Readonly<Record<string, string>>) =>
    new Promise<[number, string]>((resolve, reject) => {
      const request = httpsRequest({
        host: '127.0.0.1', port, ca: [certificate], path: inputs, method: 'POST', agent: false,
        headers: {
          Authorization: `Bearer ${at.token()}`, 'Content-Type': 'application/json',
          'Transfer-Encoding': 'chunked', Trailer: Object.keys(trailers).join(', '),
        },
      }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () => {
          resolve([response.statusCode ?? 0, JSON.parse(text)['error']?.['code'] ?? ''])
        })
      }).on('error', reject)
      request.addTrailers(trailers)
      request.write(question.slice(0, 10))
      request.end(question.slice(10))
    })
  t.strictSame(await asked({ Authorization: 'Bearer x', Host: 'evil.example' }), [201, ''])
  t.strictSame(await asked({ 'Content-Length': '1' }), [400, 'http_malformed'],
    'a second framing is none')
})

t.test('started by the first request at a socket that systemd holds', needing('systemd-socket-activate'), async (t) => {
  const world = await World.in(t).state().session()
  const { place } = world
  const [port, at] = await startAtPort((free) => serving(t, world, { port: free }))
  await at.stop()
  const child = spawn('systemd-socket-activate', [
    '-l', `127.0.0.1:${port}`, '-l', `[::1]:${port}`,
    ...Object.entries(place.env).map(([name, value]) => `--setenv=${name}=${value}`),
    process.execPath, join(await builtApp(), 'sallyport.js'), 'serve', '--json',
  ], { env: place.env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => void child.kill('SIGKILL'))
  let [said, told] = ['', '']
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  child.stdout.on('data', (chunk) => (told += String(chunk)))
  const ended = new Promise((resolve) => child.on('close', resolve))
  await until('the socket', () => /Listening on \[::1\]/.test(said))
  t.equal(told, '', 'nothing was started yet')
  const got = await at.ask('GET', '/api/session')
  t.equal(got.status, 200, said)
  await until('it told where it listens', () => told.endsWith('}\n'))
  t.hasStrict(JSON.parse(told), { port, port_changed: false })
  t.equal((await at.ask('GET', '/healthz', { host: '::1' })).status, 200)
  t.equal(readFileSync(at.started.certificateFile, 'utf8'), at.started.identity.certificate)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})
