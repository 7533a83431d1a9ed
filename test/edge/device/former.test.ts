/** What becomes of credentials whose purpose is over: half-written ones, and former pairings. */
import {
  existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { formerOf } from '../../../src/edge/device/former.js'
import { temporaryName } from '../../../src/state/files.js'
import { deviceOf, linesOf } from '../../support/edge/paired.js'
import { startOrigin } from '../../support/edge/origin.js'
import { failure, must } from '../../support/must.js'
import { image } from '../../support/png.js'
import { offered } from '../../support/service/devices.js'
import { serving } from '../../support/service/serving.js'
import { until } from '../../support/until.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const ending = 'POST /api/edge/pairing/end'

t.test('a daemon removes what one that was killed at a rename left, and only under its lock', async (t) => {
  const device = await deviceOf(t)
  const { edgeDir } = device.place
  const left = join(edgeDir, temporaryName())
  const note = join(edgeDir, '.tmp-note')
  for (const path of [left, note]) writeFileSync(path, JSON.stringify(device.pairing()))
  must(await device.once())
  t.notOk(existsSync(left), 'it held a credential')
  t.ok(existsSync(note), 'what this program did not name stays')
  const id = await device.capture(1)
  await device.running(async () => {
    await until('it runs', () => device.service.stored.has(id))
    writeFileSync(left, '')
    t.equal(failure(await device.once()).code, 'edge_daemon_running')
    t.ok(existsSync(left), 'the one that runs may be writing it')
  })
})

/** As a kill at the rename leaves it: the pairing of before in its place, the new one beside it. */
const killedAtRename = async (device: Awaited<ReturnType<typeof deviceOf>>) => {
  const path = join(device.place.edgeDir, 'pairing.json')
  const before = readFileSync(path)
  device.service.endFaults.push('cut', 'cut')
  must(await device.pair())
  const left = join(device.place.edgeDir, temporaryName())
  renameSync(path, left)
  writeFileSync(path, before, { mode: 0o600 })
  device.service.endFaults.splice(0)
  return { before: JSON.parse(before.toString()).credential, left }
}

t.test('a pairing that was written whole when its daemon was killed counts, and the one before it is ended: the service knows no third', async (t) => {
  const device = await deviceOf(t)
  const { before, left } = await killedAtRename(device)
  const { credential } = JSON.parse(readFileSync(left, 'utf8'))
  const id = await device.capture(1)
  must(await device.once())
  t.equal(device.pairing().credential, credential)
  t.notOk(existsSync(left))
  t.strictSame(device.service.ended, [before])
  t.ok(device.service.stored.has(id))
  const again = await killedAtRename(device)
  const { credential: next } = JSON.parse(readFileSync(again.left, 'utf8'))
  must(await device.pair())
  t.strictSame(device.service.ended, [before, credential, next], 'paired once more')
  t.strictSame(readdirSync(device.place.edgeDir).filter((name) => name.startsWith('.tmp-')), [])
})

t.test('of two pairings the one that was begun last counts, whatever the clock of the device said, and whether or not the other had ended', async (t) => {
  for (const [stands, written, isEnded] of [
    [{}, {}, true], [{ ended_at: '2026-01-01T00:00:00.000Z' }, { former: [] }, false],
    // Of an earlier program, which named none: its time is all that is known.
    [{ paired_at: '1999-01-01T00:00:00.000Z' }, { former: undefined }, true],
  ] as const) {
    const device = await deviceOf(t)
    const { before, left } = await killedAtRename(device)
    const rewrite = (path: string, more: object): string => {
      const whole = { ...JSON.parse(readFileSync(path, 'utf8')), ...more }
      writeFileSync(path, JSON.stringify(whole))
      return whole.credential
    }
    rewrite(join(device.place.edgeDir, 'pairing.json'), stands)
    const credential = rewrite(left, { paired_at: '2000-01-01T00:00:00.000Z', ...written })
    const id = await device.capture(1)
    must(await device.once())
    t.equal(device.pairing().credential, credential)
    t.ok(device.service.stored.has(id))
    t.strictSame(device.service.ended, isEnded ? [before] : [])
  }
})

t.test('a pairing that was written before the one that stands never takes its place: it is ended', async (t) => {
  const device = await deviceOf(t)
  const old = readFileSync(join(device.place.edgeDir, 'pairing.json'))
  device.service.endFaults.push(401)
  must(await device.pair())
  const { credential } = device.pairing()
  const stands = readFileSync(join(device.place.edgeDir, 'pairing.json'))
  for (const bytes of [stands, old]) {
    writeFileSync(join(device.place.edgeDir, temporaryName()), bytes, { mode: 0o600 })
  }
  must(await device.once())
  t.equal(device.pairing().credential, credential)
  t.strictSame(device.service.ended, [JSON.parse(old.toString()).credential])
})

t.test('a first pairing that was written whole counts; half of one, and one that others may read, is removed', async (t) => {
  const device = await deviceOf(t)
  const path = join(device.place.edgeDir, 'pairing.json')
  const whole = readFileSync(path)
  const leaving = (bytes: Uint8Array, mode = 0o600): void => {
    rmSync(path, { force: true })
    writeFileSync(join(device.place.edgeDir, temporaryName()), bytes, { mode })
  }
  leaving(whole)
  must(await device.once())
  t.strictSame(readFileSync(path).toString(), whole.toString())
  for (const [bytes, mode] of [
    [whole.subarray(0, -9), 0o600], [whole, 0o640], [whole, 0o604],
  ] as const) {
    leaving(bytes, mode)
    t.equal(failure(await device.once()).code, 'edge_not_paired')
    t.strictSame(readdirSync(device.place.edgeDir).filter((name) => name.startsWith('.tmp-')), [])
  }
})

t.test('pairing again ends the former pairing by its own credential, once the new one stands', async (t) => {
  const device = await deviceOf(t)
  const former = device.pairing().credential
  const ran = must(await device.pair())
  t.not(device.pairing().credential, former)
  t.strictSame(device.service.requests, ['POST /api/edge/pairings', ending])
  t.strictSame(device.service.ended, [former])
  t.strictSame(linesOf(ran).map(({ event }) => event), ['paired', 'ready', 'replaced', 'stopped'])
  t.notOk(readFileSync(join(device.place.edgeDir, 'pairing.json'), 'utf8').includes(former))
  must(await device.once())
  t.equal(device.service.ended.length, 1, 'once')
})

t.test('a former pairing whose end got no answer is ended by a later run, and captures go meanwhile', async (t) => {
  const device = await deviceOf(t)
  const former = [device.pairing().credential]
  device.service.endFaults.push('cut', 'cut')
  must(await device.pair())
  former.push(device.pairing().credential)
  device.service.endFaults.push('cut', 503)
  must(await device.pair())
  t.strictSame(device.service.ended, [])
  const id = await device.capture(1)
  device.service.endFaults.splice(0)
  must(await device.once())
  t.ok(device.service.stored.has(id))
  t.strictSame(device.service.ended, former)
})

t.test('a former pairing that the service does not know is forgotten; the credential goes to no other service', async (t) => {
  const device = await deviceOf(t)
  const former = device.pairing().credential
  device.service.endFaults.push(401)
  must(await device.pair())
  const kept = (): string => readFileSync(join(device.place.edgeDir, 'pairing.json'), 'utf8')
  t.notOk(kept().includes(former))
  const mine = device.pairing().credential
  const other = await startOrigin(t)
  const said = linesOf(must(await device.place.run(
    ['edge', 'daemon', '--once', '--json', '--pair-file', '-'],
    { stdin: `${other.pairingString()}\n` })))
  t.hasStrict(said.filter(({ event }) => event === 'replaced'), [{ reason: 'service_differs' }])
  t.strictSame([other.ended, other.requests], [[], ['POST /api/edge/pairings']])
  t.notOk(kept().includes(mine))
})

t.test('of pairings that wait to be ended the last 16 are kept, the one that is replaced among them', (t) => {
  const one = (at: number) => ({
    device_id: `edge_dev_${at}`, credential: `spe_${at}`, pin: 'sha256/of-the-service',
  })
  const waiting = Array.from({ length: 16 }, (_, at) => one(at))
  const replaced = {
    ...one(16), schema: 'sallyport.edge.pairing.v1', origin: 'https://127.0.0.1:1', owner: 'ada',
    device_name: 'phone', paired_at: '2026-01-01T00:00:00.000Z', ended_at: null, former: waiting,
  } as const
  t.strictSame(formerOf(replaced), [...waiting.slice(1), one(16)])
  t.strictSame(formerOf({ ...replaced, ended_at: replaced.paired_at }), waiting)
  t.end()
})

t.test('S-198 the service ends a pairing that was replaced by proof of its own credential, and no other one of the name', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { place } = world
  const pairing = async (env: Record<string, string>): Promise<void> => {
    const line = place.write('pairing', `${await offered(world, at)}\n`)
    must(await place.spawn(
      ['edge', 'daemon', '--once', '--device-name', 'desk', '--pair-file', line], { env }))
  }
  const one = { SALLYPORT_EDGE_DIR: place.path('one') }
  const listed = async () => JSON.parse(must(await world.run(['edge', 'list', '--json'])).stdout)
  await pairing(one)
  const { credential } = JSON.parse(readFileSync(place.path('one/pairing.json'), 'utf8'))
  await pairing({ SALLYPORT_EDGE_DIR: place.path('two') })
  await pairing(one)
  t.hasStrict(await listed(), [
    { device_name: 'desk', revoked: false },
    { device_name: 'desk', revoked: false },
    { device_name: 'desk', revoked: true, ended_reason: 'replaced' },
  ])
  t.equal((await at.ask('GET', '/api/edge/pairing', { token: credential })).status, 401)
  t.equal((await at.ask('POST', '/api/edge/pairing/end', { token: credential })).status, 401)
  t.equal((await at.ask('POST', '/api/edge/pairing/end', { token: at.token() })).status, 401)
  const file = place.write('shot.png', image(1))
  must(await place.spawn(['edge', 'capture', file], { env: one }))
  must(await place.spawn(['edge', 'daemon', '--once'], { env: one }))
  t.equal((await world.run(['state', 'check'])).status, 0)
  t.strictSame(readdirSync(place.path('one')).filter((name) => name.startsWith('.tmp-')), [])
})
