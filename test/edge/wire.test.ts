/**
 * The page for builders of devices: its vectors are what the program sends and takes, and the
 * device that stands there works as it stands there.
 */
import { spawnSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { systemClock } from '../../src/base/clock.js'
import { edgeRedeem, edgeUpload } from '../../src/edge/edge-contract.js'
import { gapAfter } from '../../src/edge/device/backoff.js'
import { Origin } from '../../src/edge/device/origin.js'
import type { Pairing } from '../../src/edge/device/pairing.js'
import { readPairingString } from '../../src/edge/device/pairing-string.js'
import { reactionTo } from '../../src/edge/device/reaction.js'
import { captureVerdicts, pairingVerdicts } from '../../src/edge/verdicts.js'
import { defaultSettings } from '../../src/edge/device/settings.js'
import { offerPairing } from '../../src/edge/pairing.js'
import { pinOf } from '../../src/net/pin.js'
import { captureOf } from '../support/edge/device.js'
import { startOrigin } from '../support/edge/origin.js'
import { vectorOf } from '../support/edge/page.js'
import { must } from '../support/must.js'
import { newKey, selfSigned } from '../support/net/self-signed.js'
import { serve } from '../support/net/world.js'
import { image } from '../support/png.js'
import { openBridge } from '../support/service/bridge.js'
import { foreign, type Said } from '../support/service/foreign.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const python = {
  skip: spawnSync('python3', ['--version']).status === 0 ? false : 'needs the program python3',
}
const asks = async (t: Parameters<typeof World.in>[0]) => {
  const { place } = await World.in(t)
  const device = place.write('device.py', vectorOf('python'))
  const env = { DEVICE_STATE: place.path('device.json') }
  return {
    place,
    run: (...words: string[]): Promise<Said> => foreign('python3', [device, ...words], { env }),
  }
}

/** Vectors in the words of the device in Python; its file is `device`. */
const inPython = async (t: Parameters<typeof World.in>[0], expression: string): Promise<string> => {
  const { place } = await World.in(t)
  place.write('device.py', vectorOf('python'))
  const { stdout, stderr } = await foreign('python3', ['-c', [
    'import sys', `sys.path.insert(0, ${JSON.stringify(place.path('.'))})`, 'import device, json',
    'args = json.load(sys.stdin)', `print(${expression})`,
  ].join('\n')], { stdin: JSON.stringify(vectors()) })
  if (stdout === '') throw new Error(stderr)
  return stdout.trimEnd()
}

const vectors = () => ({
  der: new X509Certificate(readPem()).raw.toString('hex'), line: vectorOf('line'),
  declared: vectorOf('declared'), picture: vectorOf('picture'), said: vectorOf('said'),
})

const readPem = (): string => vectorOf('pem')
const picture = (): Buffer => Buffer.from(vectorOf('picture'), 'base64')
const headerIn = (head: string, name: string): string =>
  new RegExp(`^${name}: (.*)$`, 'mi').exec(head)?.[1] ?? ''

t.test('S-197 the pin and the line of the page are those of the program', async (t) => {
  const key = new X509Certificate(readPem()).publicKey.export({ type: 'spki', format: 'der' })
  t.equal(pinOf(key), vectorOf('pin'))
  const said = JSON.parse(vectorOf('said'))
  t.strictSame(readPairingString(vectorOf('line')), said)
  t.equal(said.pin, vectorOf('pin'))
  const world = await World.in(t).state().session()
  const gov = { ...world.gov, store: world.open('write') }
  const { origin, pin } = said
  const { pairing } = await offerPairing(gov, world.session(), { origin, pin })
  const made = readPairingString(pairing)
  const again = JSON.stringify({ ...said, code: made.code })
  t.equal(pairing, `sallyport-pair-v1.${Buffer.from(again).toString('base64url')}`, 'byte by byte')
  const { code, device_name: name } = edgeRedeem.request(JSON.parse(vectorOf('redemption')))
  t.strictSame([code, name], [said.code, 'python'])
})

t.test('S-028 the upload of the page is what our device sends and what the service takes', async (t) => {
  const key = await newKey()
  const server = await serve(
    (socket) => socket.end('HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n'), {},
    await selfSigned(key, ['localhost']))
  t.teardown(server.close)
  const head = vectorOf('http')
  const body = picture()
  const declared = edgeUpload.request(JSON.parse(vectorOf('declared')))
  t.strictSame([declared.bytes, declared.sha256],
    [body.length, createHash('sha256').update(body).digest('hex')])
  const at = {
    origin: `https://desk.example:${server.port}`, pin: key.pin, ended_at: null,
    credential: headerIn(head, 'Authorization').replace('Bearer ', ''),
  } as Pairing
  const origin = new Origin({
    clock: systemClock, env: {}, execArgv: [],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  }, at, () => at, { timeoutMs: 10_000, signal: new AbortController().signal })
  const { bytes, facts } = captureOf(body, declared.request_id)
  await origin.upload({
    bytes, facts: { ...facts, captured_at: declared.captured_at, source_path: null },
  }, declared.sequence)
  const [sent] = server.requests
  t.ok(sent?.body.equals(body))
  const lines = (text: string) => text.replace(/(?<=desk\.example):\d+/, '').split(/\r?\n/)
    .map((line) => line.replace(/^[\w-]+(?=:)/, (name) => name.toLowerCase()))
  const own = lines(sent?.head ?? '')
  for (const line of lines(head)) t.ok(own.includes(line), line)
  t.equal(Buffer.from(headerIn(head, 'Sallyport-Edge-Upload'), 'base64url').toString(),
    vectorOf('declared'))
})

t.test('S-038 the gaps and the answers of the page are those of our device', async (t) => {
  const page = readFileSync('docs/dev/edge-device.md', 'utf8')
  const gaps = Array.from({ length: 11 }, (_, at) => gapAfter(at + 1, defaultSettings.retry, 0))
  t.match(page.replace(/\s+/g, ' '), `${gaps.map((ms) => ms / 1000).join(', ')} seconds`)
  t.equal(gapAfter(1, defaultSettings.retry, 1), 667)
  const { facts } = captureOf(picture())
  const kindOf = (status: number, code = 'some_code'): string => reactionTo({
    status, headers: new Map([['content-type', ['application/json']]]),
    body: Buffer.from(JSON.stringify({ error: { code } })),
  }, facts).kind
  const [, ofCapture = '', ofPairing = ''] =
    /^Of this capture: ([^]*?)\. Of the\npairing: ([^]*?)\.\n/m.exec(page) ?? []
  const codesIn = (text: string): string[] =>
    [...text.matchAll(/`(\w+)`/g)].map(([, code]) => code ?? '')
  t.strictSame(codesIn(ofCapture).sort(), [...captureVerdicts].sort())
  t.strictSame(codesIn(ofPairing).sort(), [...pairingVerdicts].sort())
  const never = /NEVER = '''([^]*?)'''/.exec(page)?.[1]?.split(/\s+/).sort()
  t.strictSame(never, [...captureVerdicts, 'sequence_not_greater'].sort())
  const ended = /ENDED = \(([^]*?)\)/.exec(page)?.[1] ?? ''
  t.strictSame([...ended.matchAll(/'(\w+)'/g)].map(([, code]) => code), [...pairingVerdicts])
  for (const code of captureVerdicts) t.equal(kindOf(422, code), 'aside', code)
  for (const code of pairingVerdicts) t.equal(kindOf(401, code), 'ended', code)
  for (const code of [...captureVerdicts, ...pairingVerdicts, 'sequence_not_greater']) {
    t.equal(kindOf(503, code), 'retry', code)
  }
  t.equal(kindOf(409, 'sequence_not_greater'), 'renumber')
  for (const code of ['upload_under_way', 'state_moved', 'server_changed', 'blob_removed']) {
    t.equal(kindOf(409, code), 'retry', code)
  }
  for (const status of [
    200, 201, 301, 307, 400, 401, 402, 403, 404, 405, 408, 409, 411, 413, 415, 421, 422, 423, 431,
    500, 502, 503,
  ]) t.equal(kindOf(status), 'retry', String(status))
})

t.test('S-197 Python comes to the same pin, the same line and the same header as the page', python, async (t) => {
  t.equal(await inPython(t, 'device.pin_of(bytes.fromhex(args["der"]))'), vectorOf('pin'))
  t.equal(await inPython(t,
    'device.compact(json.loads(device.unb64(args["line"].split(".")[1]))).decode()'),
  vectorOf('said'))
  t.equal(await inPython(t, 'device.b64(device.compact(json.loads(args["declared"])))'),
    headerIn(vectorOf('http'), 'Sallyport-Edge-Upload'))
  const rsa = new X509Certificate((await selfSigned(await newKey(2048), ['a.example'])).cert)
  t.equal(await inPython(t, `device.pin_of(bytes.fromhex("${rsa.raw.toString('hex')}"))`),
    pinOf(rsa.publicKey.export({ type: 'spki', format: 'der' })), 'of an RSA key, too')
})

t.test('S-027 S-195 S-197 S-198 the Python of the page pairs, sends and reads back by a bridge of TCP, and ends with its pairing', python, async (t) => {
  const world = await World.in(t).state().session()
  const bridge = await openBridge(t)
  const at = await serving(t, world, { public: `localhost:${bridge.port}` })
  bridge.leadTo(Number(at.started.identity.public?.forward_to.split(':').at(-1)))
  const { place, run } = await asks(t)
  const line = place.path('pairing.txt')
  must(await world.run(['edge', 'pair', '--file', line]))
  const paired = await run('pair', line)
  t.equal(paired.status, 0, paired.stderr)
  t.equal(statSync(place.path('device.json')).mode & 0o777, 0o600)
  t.match((await run('pair', line)).stderr, /not paired: 403 edge_code_refused/)
  const pictures = [1, 2].map((n) => place.write(`${n}.png`, image(n)))
  const sent = await run('send', ...pictures)
  const ids = sent.stdout.trim().split('\n')
  t.strictSame([sent.status, ids.length], [0, 2], sent.stderr)
  t.strictSame((await run('show', ids[1] ?? '', place.path('back.png'))).status, 0)
  t.ok(readFileSync(place.path('back.png')).equals(image(2)))
  const stored = await world.place.json(['edge', 'artifacts'])
  t.strictSame(stored.artifacts.map((one: { sequence: number }) => one.sequence), [2, 1])
  const noPicture = await run('send', place.write('3.png', '\x89 no picture'))
  t.strictSame([noPicture.status, noPicture.stdout.trim()], [0, 'mime_differs'], 'never again')
  const [device] = await world.place.json(['edge', 'list'])
  must(await world.run(['edge', 'revoke', device.device_id]))
  const ended = await run('send', ...pictures)
  t.strictSame([ended.status, ended.stderr.trim()], [1, 'pair again'])
  t.ok(bridge.count() >= 7, 'all of it by the bridge')
})

t.test('S-040 the Python of the page gives no capture up while the service cannot say its last number, and asks for that once', python, async (t) => {
  const service = await startOrigin(t)
  const { place, run } = await asks(t)
  const line = place.write('pairing.txt', service.pairingString())
  t.equal((await run('pair', line)).status, 0)
  const used = { status: 409, code: 'sequence_not_greater' }
  service.lastSequence = 7
  service.factsFaults.push(503)
  service.fault(used)
  const sent = await run('send', place.write('1.png', image(1)))
  const [id] = [...service.stored.values()].map(({ artifact }) => artifact['artifact_id'])
  t.strictSame([sent.status, sent.stdout.trim()], [0, id], sent.stderr)
  t.strictSame(service.uploads.map(({ told }) => told['sequence']), [1, 1, 8])
  service.fault(used, used)
  const never = await run('send', place.write('2.png', image(2)))
  t.strictSame([never.status, never.stdout.trim()], [0, used.code], 'its answer was no help')
  t.equal(service.requests.filter((one) => one === 'GET /api/edge/pairing').length, 3)
})

t.test('S-197 the Python of the page sends no byte of a request to a service of another key', python, async (t) => {
  const world = await World.in(t).state().session()
  const key = await newKey()
  const certificate = await selfSigned(key, ['localhost'])
  const server = await serve((socket) => void socket.destroy(), {}, certificate)
  t.teardown(server.close)
  const gov = { ...world.gov, store: world.open('write') }
  const { pairing } = await offerPairing(gov, world.session(), {
    origin: `https://localhost:${server.port}`, pin: vectorOf('pin'),
  })
  const { place, run } = await asks(t)
  const got = await run('pair', place.write('pairing.txt', pairing))
  t.match(got.stderr, /another service/)
  t.strictSame([server.connections() > 0, server.applicationBytes()], [true, 0])
  rmSync(place.path('pairing.txt'))
})
