/** Paired devices over the real service: pairing, uploads, readback, refusals before a byte. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import { edgeLimits } from '../../src/edge/constants.js'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { revokeDevice } from '../../src/edge/pairing.js'
import { artifactMarks } from '../support/edge/marks.js'
import { codeOf } from '../support/edge/uploading.js'
import { failure, must } from '../support/must.js'
import { image } from '../support/png.js'
import { headOf, headText, offered, pairOver, sendOver } from '../support/service/devices.js'
import { holdLock } from '../support/state/hold-lock.js'
import { serving, takesNothingIn } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose, Teardown } from '../world/place.js'
import { World } from '../world/world.js'

const setup = async (t: Teardown) => {
  const world = await World.in(t).state().session()
  const lines: string[] = []
  const at = await serving(t, world, {
    log: { write: (line) => lines.push(line), all: true }, takesIn: takesNothingIn,
  })
  const gov = () => ({ ...world.gov, store: world.open('write') })
  const offer = (): Promise<string> => offered(world, at)
  /** Codes of refusals of uploads, as the log tells them. */
  const refusals = (): readonly string[] => lines.map((line): Loose => JSON.parse(line))
    .filter(({ endpoint, code }) => endpoint === '/api/edge/artifacts' && code !== undefined)
    .map(({ code }) => String(code))
  return { world, at, gov, offer, refusals, pair: () => pairOver(world, at) }
}

const send = sendOver

t.test('S-030 S-031 S-032 S-033 S-195 S-196 a paired device sends, reads back what it sent, and can do nothing else', async (t) => {
  const { world, at, pair } = await setup(t)
  const [{ credential, device_id: device }, other] = [await pair(), await pair()]
  const body = image(1)
  const sent = await send(at, credential, body, headOf(body, 1))
  t.equal(sent.status, 201, sent.bytes.toString())
  const { artifact_id: id } = sent.json()
  t.match(id, /^edge_art_/)
  const path = `/api/edge/artifacts/${String(id)}`
  t.strictSame((await at.ask('GET', path, { token: credential })).json(), sent.json())
  const bytes = await at.ask('GET', `${path}/bytes`, { token: credential })
  t.ok(bytes.bytes.equals(body))
  t.hasStrict(bytes.headers, {
    'content-type': 'image/png', 'content-disposition': 'attachment',
    'cache-control': 'no-store', 'x-content-type-options': 'nosniff',
  })
  t.ok((await at.ask('GET', `${path}/bytes`)).bytes.equals(body), 'its owner reads it, too')
  for (const place of [path, `${path}/bytes`]) {
    t.equal((await at.ask('GET', place, { token: other.credential })).status, 404)
  }
  for (const place of ['/api/status', '/api/work-board/tasks', '/api/policy', '/api/session']) {
    t.equal((await at.ask('GET', place, { token: credential })).status, 401, place)
  }
  t.equal((await at.ask('GET', '/api/edge/pairing', { token: credential })).json().device_id,
    device)
  for (const token of [null, '', 'spe_x', `spe_${'A'.repeat(43)}`, at.token()]) {
    t.equal((await send(at, token, body, headOf(body, 2))).status, 401, String(token))
  }
  const foreign = await send(at, credential, body, headOf(body, 2, { owner: 'prn_somebody' }))
  t.equal(foreign.status, 403)
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('S-037 S-201 S-202 S-203 S-204 what does not fit what is declared, or comes out of turn, stores no byte', async (t) => {
  const { world, at, pair } = await setup(t)
  const { credential } = await pair()
  const body = image(2)
  const first = headOf(body, 5)
  t.equal((await send(at, credential, body, first)).status, 201)
  const marks = () => artifactMarks(world.place.stateDir)
  const before = marks()
  const again = await send(at, credential, body, first)
  t.equal(again.status, 200, 'a lost reply is answered again')
  const text = JSON.stringify(headOf(body, 9))
  for (const [what, head, status] of [
    ['another hash', headOf(body, 6, { sha256: '0'.repeat(64) }), 422],
    ['one byte more', headOf(body, 6, { bytes: body.length + 1 }), 422],
    ['one byte less', headOf(body, 6, { bytes: body.length - 1 }), 422],
    ['another kind', headOf(body, 6, { mime: 'image/jpeg' }), 415],
    ['an equal sequence', headOf(body, 5), 409],
    ['a lower one', headOf(body, 4), 409],
    ['none', headOf(body, 0), 400],
    ['past 2^53', text.replace('"sequence":9', '"sequence":9007199254740993'), 400],
    ['1e1', text.replace('"sequence":9', '"sequence":1e1'), 400],
    ['a key twice', text.replace('{', '{"sequence":9,'), 400],
    ['a day that no month has', headOf(body, 9, { captured_at: '2026-02-31T10:00:00Z' }), 400],
    ['an hour that no day has', headOf(body, 9, { captured_at: '2026-02-01T24:00:00Z' }), 400],
    ['an unknown field', headOf(body, 9, { id: 'edge_art_x' }), 400],
    ['the same request with other content', { ...first, purpose: 'another' }, 409],
    ['more egress than it was paired for',
      headOf(body, 9, { policy: { cloud_egress: true, model_egress: false } }), 403],
    ['no JSON', 'no', 400],
    ['more than one may have', headOf(body, 9, { bytes: 20 * 1024 * 1024 + 1 }), 413],
  ] as const) {
    const got = await send(at, credential, body, head)
    t.equal(got.status, status, `${what}: ${got.bytes.toString()}`)
    t.equal(got.json().error.status, status)
    t.strictSame(marks(), before, what)
  }
  const unsaid = await send(at, credential, body, headOf(body, 9), {
    'Transfer-Encoding': 'chunked',
  })
  t.equal(unsaid.json().error.code, 'http_length_required')
  const packed = await send(at, credential, body, headOf(body, 9), { 'Content-Encoding': 'gzip' })
  t.strictSame([packed.status, marks()], [415, before], 'bytes of another coding are no image')
  const headless = await at.ask('POST', '/api/edge/artifacts', {
    token: credential, body, headers: { 'Content-Type': 'image/png' },
  })
  t.equal(headless.json().error.code, 'edge_head_invalid')
  const huge = await send(at, credential, Buffer.from('x'), headOf(body, 9), {
    'Content-Length': String(20 * 1024 * 1024 + 1),
  })
  t.equal(huge.status, 413, 'by its length, unread')
  t.hasStrict(huge.json().error, {
    code: 'edge_upload_too_large', details: { bytes_max: 20_971_520 },
  })
  const gap = await send(at, credential, body, headOf(body, 900))
  t.equal(gap.status, 201, 'gaps are allowed')
})

t.test('S-198 a pairing that ends in the middle of a body ends the upload at its next byte', async (t) => {
  const { world, at, gov, pair } = await setup(t)
  const { credential, device_id: device } = await pair()
  const body = Buffer.concat([image(3), Buffer.alloc(600_000)])
  const { port, certificate } = at.started.identity
  const before = artifactMarks(world.place.stateDir)
  const head = headText(headOf(body, 1))
  let got = ''
  const socket = tlsConnect({ host: '127.0.0.1', port, ca: [certificate], servername: 'localhost' })
  socket.on('data', (chunk) => (got += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.write([
    'POST /api/edge/artifacts HTTP/1.1', `Host: localhost:${port}`,
    `Authorization: Bearer ${credential}`, 'Content-Type: image/png',
    'Expect: 100-continue', `Content-Length: ${body.length}`, `Sallyport-Edge-Upload: ${head}`,
    '', '',
  ].join('\r\n'))
  await until('the service to want the body', () => got.includes('100 Continue'))
  socket.write(body.subarray(0, 300_000))
  const twice = await send(at, credential, body, headOf(body, 2))
  t.equal(twice.json().error.code, 'upload_under_way', 'one at a time')
  await revokeDevice(gov(), world.session(), String(device))
  socket.write(body.subarray(300_000))
  await until('the refusal', () => /edge_credential_revoked/.test(got))
  t.match(got, /HTTP\/1\.1 (401|403)/)
  socket.destroy()
  t.strictSame(artifactMarks(world.place.stateDir), before)
  t.equal((await send(at, credential, body, headOf(body, 3))).status, 401)
})

t.test('S-204 whoever goes away before the body is wanted keeps no other upload of the device waiting', async (t) => {
  const { world, at, pair, refusals } = await setup(t)
  const { credential } = await pair()
  const body = image(4)
  const { port, certificate } = at.started.identity
  // The witness is a line behind, as a process leaves it that dies: recovery waits for the lock.
  const witness = join(world.place.stateDir, 'witness.log')
  const lines = readFileSync(witness, 'utf8').trimEnd().split('\n')
  writeFileSync(witness, lines.slice(0, -1).map((line) => `${line}\n`).join(''))
  const release = holdLock(world)
  const socket = tlsConnect({ host: '127.0.0.1', port, ca: [certificate], servername: 'localhost' })
  socket.on('error', () => undefined)
  socket.write([
    'POST /api/edge/artifacts HTTP/1.1', `Host: localhost:${port}`,
    `Authorization: Bearer ${credential}`, 'Content-Type: image/png',
    `Content-Length: ${body.length}`, `Sallyport-Edge-Upload: ${headText(headOf(body, 1))}`,
    '', '',
  ].join('\r\n'))
  t.equal((await at.ask('GET', '/healthz', { token: null })).status, 200, 'it was taken up')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.destroy()
  await closed
  t.equal((await at.ask('GET', '/healthz', { token: null })).status, 200, 'it was seen to go')
  release()
  await until('the other upload to be taken', async () =>
    (await send(at, credential, body, headOf(body, 2))).status === 201)
  // On a busy machine the wait above outlasts the one that the service has for a body.
  const own = refusals().filter((code) => code !== 'upload_under_way')
  t.strictSame(own, ['http_body_cut_short'], 'it was not waited for')
  t.equal(readFileSync(witness, 'utf8').trimEnd().split('\n').length, lines.length,
    'recovery ran')
})

t.test('S-027 S-036 the daemon of a device, paired by its line, sends to this service and to nobody else', async (t) => {
  const { world, at, offer } = await setup(t)
  const { place } = world
  const line = place.write('pairing', `${await offer()}\n`)
  const env = { SALLYPORT_EDGE_DIR: place.path('device') }
  const files = [1, 2, 3].map((n) => place.write(`${n}.png`, image(n)))
  for (const file of files) must(await place.spawn(['edge', 'capture', file], { env }))
  must(await place.spawn(['edge', 'daemon', '--once', '--pair-file', line], { env }))
  const listed = JSON.parse(must(await world.run(['edge', 'artifacts', '--json'])).stdout)
  t.strictSame(listed.artifacts.map(({ sequence }: { sequence: number }) => sequence), [3, 2, 1])
  for (const [n, { artifact_id: id }] of [...listed.artifacts].reverse().entries()) {
    const bytes = await at.ask('GET', `/api/edge/artifacts/${String(id)}/bytes`)
    t.ok(bytes.bytes.equals(readFileSync(files[n] ?? '')))
  }
})

t.test('S-037 S-042 a capture that declares more egress than its device is paired for lies aside, and the next is sent', async (t) => {
  const { world, offer } = await setup(t)
  const { place } = world
  const line = place.write('pairing', `${await offer()}\n`)
  const env = { SALLYPORT_EDGE_DIR: place.path('device') }
  for (const [n, flags] of [['--cloud-egress'], ['--model-egress'], []].entries()) {
    const file = place.write(`${n}.png`, image(n))
    must(await place.spawn(['edge', 'capture', file, ...flags], { env }))
  }
  const daemon = ['edge', 'daemon', '--once', '--json', '--pair-file', line]
  const ran = await place.spawn(daemon, { env })
  t.equal(ran.status, 9, 'a timer sees it')
  const said = ran.stdout.split('\n').filter(Boolean)
    .map((text) => JSON.parse(text) as { event: string; reason: string | null })
  t.strictSame(said.filter(({ event }) => event === 'aside').map(({ reason }) => reason),
    ['edge_egress_not_allowed', 'edge_egress_not_allowed'])
  t.equal(said.filter(({ event }) => event === 'sent').length, 1)
  const { artifacts } = JSON.parse(must(await world.run(['edge', 'artifacts', '--json'])).stdout)
  t.hasStrict(artifacts, [{ policy: { cloud_egress: false, model_egress: false } }])
})

t.test('S-042 a capture that declares egress is taken where its device was paired with it, each kind by itself, and kept with what it declares', async (t) => {
  const { world } = await setup(t)
  const { place } = world
  const policies = async (limit: number) =>
    (await world.json(['edge', 'artifacts', '--limit', String(limit)])).artifacts
      .map(({ policy }: { policy: object }) => Object.values(policy).join(' ')).reverse()
  for (const [n, [allowed, taken, status]] of ([
    [['--allow-cloud-egress'], ['true false', 'false false'], 9],
    [['--allow-model-egress'], ['false true', 'false false'], 9],
    [['--allow-cloud-egress', '--allow-model-egress'],
      ['true false', 'false true', 'false false'], 0],
  ] as const).entries()) {
    const [line, env] = [place.path(`line-${n}`), { SALLYPORT_EDGE_DIR: place.path(`device-${n}`) }]
    must(await place.spawn(['edge', 'pair', '--file', line, ...allowed]))
    for (const [m, flags] of [['--cloud-egress'], ['--model-egress'], []].entries()) {
      const file = place.write(`${n}-${m}.png`, image(m))
      must(await place.spawn(['edge', 'capture', file, ...flags], { env }))
    }
    const ran = await place.spawn(['edge', 'daemon', '--once', '--pair-file', line], { env })
    t.equal(ran.status, status, allowed.join(' '))
    t.strictSame(await policies(taken.length), taken, allowed.join(' '))
  }
})

t.test('S-037 a large capture whose answer was lost is known again, and keeps no other one waiting', async (t) => {
  const { world, offer } = await setup(t)
  const { place } = world
  const line = place.write('pairing', `${await offer()}\n`)
  const env = { SALLYPORT_EDGE_DIR: place.path('device') }
  const large = place.write('large.png', Buffer.concat([image(1), Buffer.alloc(16_777_216, 7)]))
  const capture = ['edge', 'capture', large, '--request-id', '01890000-0000-4000-8000-000000000001']
  must(await place.spawn(capture, { env }))
  must(await place.spawn(['edge', 'daemon', '--once', '--pair-file', line], { env }))
  for (let round = 1; round <= 3; round += 1) {
    must(await place.spawn(capture, { env }))
    must(await place.spawn(['edge', 'capture', place.write(`${round}.png`, image(round))], { env }))
    const said = must(await place.spawn(['edge', 'daemon', '--once', '--json'], { env })).stdout
    t.equal(said.split('"event":"sent"').length - 1, 2, said)
  }
  const { artifacts } = JSON.parse(must(await world.run(['edge', 'artifacts', '--json'])).stdout)
  t.equal(artifacts.length, 4, 'the large one once')
})

t.test('the verbs of paired devices: a line that is a secret, lists, bytes into a new file, an end', async (t) => {
  const { world, at } = await setup(t)
  const { place } = world
  t.equal((await world.run(['edge', 'pair', '--json'])).error().code, 'pairing_file_needed')
  const file = place.path('line')
  const paired = must(await world.run(['edge', 'pair', '--json', '--file', file]))
  const line = readFileSync(file, 'utf8').trim()
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.notOk(paired.stdout.includes(line.slice(20)))
  const again = await world.run(['edge', 'pair', '--json', '--file', file])
  t.equal(again.error().code, 'pairing_file')
  const shown = must(await world.run(['edge', 'pair', '--name', 'camera']))
  t.match(shown.stdout, /^sallyport-pair-v1\.[A-Za-z0-9_-]+\n$/)
  const { credential, device_id: device } = (await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(line), device_name: 'camera' },
  })).json()
  const body = image(4)
  const { artifact_id: id } = (await send(at, credential, body, headOf(body, 1))).json()
  const out = place.path('out.png')
  must(await world.run(['edge', 'show', id, '--out', out]))
  t.ok(readFileSync(out).equals(body))
  t.equal((await world.run(['edge', 'show', id, '--json', '--out', out])).error().code, 'out_file')
  t.match(must(await world.run(['edge', 'artifacts'])).stdout, id)
  t.match(must(await world.run(['edge', 'list'])).stdout, /camera.*paired/)
  must(await world.run(['edge', 'revoke', device]))
  t.equal((await send(at, credential, body, headOf(body, 2))).status, 401)
  t.match(must(await world.run(['edge', 'list'])).stdout, /ended/)
  const used = await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(line), device_name: 'camera' },
  })
  t.equal(used.status, 403, 'a code pairs one device')
})

t.test('`explain` of a capture does not say who has it, and the line that it names writes it down', async (t) => {
  const { world, at, pair } = await setup(t)
  const { credential } = await pair()
  const body = image(5)
  const { artifact_id: id } = (await send(at, credential, body, headOf(body, 1))).json()
  const { rows: [row] } = await world.json(['explain', id])
  t.equal(row.text, 'It is stored, sealed.', 'what was made of it is told elsewhere')
  const [line] = row.next
  must(await world.run(line.split(' ').slice(1)))
  t.ok(readFileSync(join(world.place.cwd, 'capture')).equals(body), line)
})

t.test('a line that found no room for another device pairs once a pairing was ended, as the device is told', async (t) => {
  const { world, offer, pair } = await setup(t)
  const { place } = world
  const { device_id: first } = await pair()
  const line = place.write('pairing', `${await offer()}
`)
  await world.transact((tx) => {
    const device = tx.get(edgeCollections.devices, first)
    if (device === undefined) throw new Error('it is paired')
    for (let n = 1; n < edgeLimits.devicesMax; n += 1) {
      tx.put(edgeCollections.devices, `edge_dev_${n}`, { ...device, device_id: `edge_dev_${n}` })
    }
  })
  const redeem = () => place.run(['edge', 'daemon', '--once', '--json', '--pair-file', line])
  const full = await redeem()
  t.hasStrict(failure(full), { status: 4, code: 'edge_pairing_refused' })
  t.equal(full.error().reason, 'edge_devices_full')
  t.match(full.error().hint, /pairing ended there.*use this line again/)
  t.strictSame(full.error().next, [{ command: 'sallyport edge revoke DEVICE', needs_person: true }])
  must(await world.run(['edge', 'revoke', first]))
  must(await redeem())
  const used = await redeem()
  t.strictSame([used.status, used.error().next],
    [4, [{ command: 'sallyport edge pair', needs_person: true }]], 'now another one is needed')
})
