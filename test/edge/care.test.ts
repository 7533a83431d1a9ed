/** Rows and bytes of paired devices through restores, compactions, prunes, damage and repairs. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { endedDevices } from '../../src/governance/devices.js'
import { verifyEdge } from '../../src/edge/verify-edge.js'
import { codeOf } from '../support/edge/uploading.js'
import { hour, minute, movedClock } from '../support/clock.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import type { Problem } from '../../src/state/types.js'
import { headOf, offered, pairOver, sendOver } from '../support/service/devices.js'
import { serving, type Got } from '../support/service/serving.js'
import { flipBit } from '../support/state/forge.js'
import { hasSmallDisks, onSmallDisk } from '../support/small-disk.js'
import { t } from '../support/tests-in-slices.js'
import type { Teardown } from '../world/place.js'
import type { Stateful } from '../world/state.js'
import { World } from '../world/world.js'

const setup = async (t: Teardown) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const { place } = world
  const backup = async (name: string): Promise<void> =>
    void must(await world.run(['state', 'backup', place.path(name)]))
  const restore = async (name: string) => {
    const ran = must(await world.run(['state', 'restore', place.path(name), '--yes', '--json']))
    must(await world.run(['login']))
    return ran.json()
  }
  /** What is wrong; that something is kept aside is only noticed. */
  const problems = async (): Promise<readonly string[]> =>
    (await world.run(['state', 'check', '--json'])).json().problems
      .filter(({ severity }: Problem) => severity !== 'notice').map(({ code }: Problem) => code)
  const sealedOf = (id: string): string => {
    const { ref } = world.view().get(edgeCollections.artifacts, id) ?? {}
    const name = ref?.stored_sha256 ?? ''
    return join(place.stateDir, 'artifacts', name.slice(0, 2), name)
  }
  const pairing = (token: string) => at.ask('GET', '/api/edge/pairing', { token })
  return { world, at, place, backup, restore, problems, sealedOf, pairing }
}

/** The bytes of a reply's body up to its end, or to where it was cut off. */
const prefixOf = (
  { port, certificate }: { readonly port: number; readonly certificate: string },
  path: string, token: string,
): Promise<{ readonly status: number; readonly given: Buffer }> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` }
    request({
      host: '127.0.0.1', port, path, headers, ca: [certificate], agent: false,
    }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined)
      response.on('close', () => {
        const status = response.statusCode ?? 0
        resolve({ status, given: status === 200 ? Buffer.concat(chunks) : Buffer.alloc(0) })
      })
    }).on('error', reject).end()
  })

const codeIn = (got: Got): string | undefined => got.json().error?.code
const outcome = (got: Got): unknown => [got.status, codeIn(got)]

/** Takes back that every pairing had ended: what then is refused rests on the rows alone. */
const pairedAll = (world: Stateful): Promise<void> =>
  world.transact((tx) => tx.remove(endedDevices, 'every'))

t.test('S-028 S-198 S-203 an older backup over the newest state: every pairing has ended, numbers and '
  + 'request ids that were taken since stay taken even so, and no code opens anything',
async (t) => {
  const { world, at, backup, restore, problems, pairing } = await setup(t)
  const [device, gone] = [await pairOver(world, at), await pairOver(world, at)]
  const [first, second] = [image(1), image(2)]
  const heads = [headOf(first, 1), headOf(second, 5)]
  const kept = await sendOver(at, device.credential, first, heads[0]!)
  const line = await offered(world, at)
  await backup('old')
  const lost = await sendOver(at, device.credential, second, heads[1]!)
  const late = await pairOver(world, at)
  t.equal((await sendOver(at, late.credential, first, headOf(first, 1))).status, 201)
  must(await world.run(['edge', 'revoke', gone.device_id]))
  await backup('new')
  await restore('old')

  t.strictSame(outcome(await pairing(gone.credential)), [401, 'edge_credential_revoked'])
  t.strictSame(outcome(await pairing(late.credential)), [401, 'edge_credential_invalid'])
  const redeemed = await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(line), device_name: 'camera' },
  })
  t.strictSame(outcome(redeemed), [403, 'edge_code_refused'])
  t.strictSame(outcome(await pairing(device.credential)), [401, 'edge_credential_revoked'])
  t.strictSame(outcome(await sendOver(at, device.credential, first, headOf(first, 6))),
    [401, 'edge_credential_revoked'])
  t.equal(world.view().get(endedDevices, gone.device_id)?.reason, 'revoked', 'as a person did it')
  t.equal(world.view().get(endedDevices, device.device_id), undefined)
  await pairedAll(world)
  t.strictSame(outcome(await pairing(gone.credential)), [401, 'edge_credential_revoked'])
  t.hasStrict((await pairing(device.credential)).json(), {
    last_sequence: 5, stored: { items: 1, bytes: first.length },
  })
  const again = await sendOver(at, device.credential, first, heads[0]!)
  t.strictSame([again.status, again.json()], [200, kept.json()], 'what is there is told as before')
  const path = `/api/edge/artifacts/${String(lost.json().artifact_id)}`
  for (const place of [path, `${path}/bytes`]) {
    t.equal((await at.ask('GET', place, { token: device.credential })).status, 404, place)
  }
  const repeated = await sendOver(at, device.credential, second, heads[1]!)
  t.strictSame(outcome(repeated), [409, 'request_id_conflict'], 'it is not claimed to be stored')
  for (const sequence of [2, 5]) {
    const got = await sendOver(at, device.credential, second, headOf(second, sequence))
    t.strictSame(outcome(got), [409, 'sequence_not_greater'], String(sequence))
  }
  t.equal((await sendOver(at, device.credential, second, headOf(second, 6))).status, 201)
  t.strictSame(await problems(), [])

  await restore('new')
  t.strictSame(outcome(await pairing(device.credential)), [401, 'edge_credential_revoked'])
  const anew = await pairOver(world, at)
  t.equal((await sendOver(at, anew.credential, first, headOf(first, 1))).status, 201)
  await pairedAll(world)
  t.hasStrict((await pairing(device.credential)).json(), { last_sequence: 6 })
  t.strictSame(outcome(await pairing(gone.credential)), [401, 'edge_credential_revoked'])
  const back = await at.ask('GET', `${path}/bytes`, { token: device.credential })
  t.ok(back.bytes.equals(second), 'the later copy has it')
  t.strictSame(outcome(await sendOver(at, device.credential, first, headOf(first, 6))),
    [409, 'sequence_not_greater'], 'taken in a state that both copies do not know')
  t.strictSame(await problems(), [])
})

t.test('S-198 an old copy that nothing vouches for: every pairing has ended, also one that was made '
  + 'by a clock that was ahead, and one that is made afterwards stands', async (t) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).state().session()
  const { place } = world
  const at = await serving(t, world)
  /** Does something while the clock is wrong. */
  const by = async <T>(ms: number, act: () => Promise<T>): Promise<T> => {
    clock.stepWall(ms)
    must(await world.run(['login']))
    const done = await act()
    clock.stepWall(-ms)
    must(await world.run(['login']))
    return done
  }
  const device = await pairOver(world, at)
  const ahead = await by(20 * minute, () => pairOver(world, at))
  const old = place.path('old')
  cpSync(place.stateDir, old, { recursive: true })
  const body = image(1)
  t.equal((await sendOver(at, device.credential, body, headOf(body, 1))).status, 201)
  await at.stop()
  rmSync(place.stateDir, { recursive: true })
  cpSync(old, place.stateDir, { recursive: true })
  await t.rejects(serving(t, world), { code: 'store_behind_anchor' }, 'it does not even start')
  must(await world.run(['state', 'backup', place.path('copy')]))
  must(await world.run(['state', 'restore', place.path('copy'), '--yes']))
  must(await world.run(['login']))
  const counts = await serving(t, world)
  for (const [name, { credential }] of Object.entries({ device, ahead })) {
    const got = await sendOver(counts, credential, body, headOf(body, 2))
    t.strictSame(outcome(got), [401, 'edge_credential_revoked'], name)
  }
  const fresh = await by(-20 * minute, () => pairOver(world, counts))
  const got = await sendOver(counts, fresh.credential, body, headOf(body, 1))
  t.strictSame(outcome(got), [201, undefined], 'by a clock that was set back')
  t.strictSame(verifyEdge(world.view()), [])
})

t.test('S-033 a compaction and a prune of all that is old leave devices, uploads and bytes as they '
  + 'are, and what a pairing was ended by', async (t) => {
  const world = await World.in(t, { clock: movedClock() }).state().session()
  const at = await serving(t, world)
  const [device, gone] = [await pairOver(world, at), await pairOver(world, at)]
  const bodies = [image(1), Buffer.concat([image(2), Buffer.alloc(600_000, 2)])]
  const ids: string[] = []
  for (const [n, body] of bodies.entries()) {
    const got = await sendOver(at, device.credential, body, headOf(body, n + 1))
    ids.push(String(got.json().artifact_id))
  }
  must(await world.run(['edge', 'revoke', gone.device_id]))
  const shown = async () => JSON.parse(must(await world.run(['edge', 'list', '--json'])).stdout)
  const before = await shown()
  world.clock.stepWall(100 * 24 * hour)
  must(await world.run(['login', '--ttl', '7d']))
  must(await world.run(['state', 'compact']))
  must(await world.run(['state', 'prune', '--older-than', '30d', '--yes']))
  must(await world.run(['state', 'compact']))
  t.strictSame(await shown(), before)
  for (const [n, id] of ids.entries()) {
    const { bytes } = await at.ask('GET', `/api/edge/artifacts/${id}/bytes`)
    t.ok(bytes.equals(bodies[n] as Buffer), `${n}`)
  }
  const repeated = await sendOver(at, device.credential, image(3), headOf(image(3), 2))
  t.strictSame(outcome(repeated), [409, 'sequence_not_greater'])
  const refused = await sendOver(at, gone.credential, image(3), headOf(image(3), 1))
  t.strictSame(outcome(refused), [401, 'edge_credential_revoked'])
  const { ok } = (await world.run(['state', 'check', '--json'])).json()
  t.equal(ok, true)
})

t.test('S-033 a bit of the sealed bytes that is not as it was: a check finds it, a repair says so, '
  + 'and no reader gets a wrong byte', async (t) => {
  const { world, at, place, problems, sealedOf } = await setup(t)
  const { credential } = await pairOver(world, at)
  const body = Buffer.concat([image(1), Buffer.alloc(600_000, 1)])
  const id = String((await sendOver(at, credential, body, headOf(body, 1))).json().artifact_id)
  const path = sealedOf(id)
  const whole = readFileSync(path)
  const out = place.path('out.png')
  const show = () => world.run(['edge', 'show', id, '--out', out, '--json'])
  const read = (token: string) =>
    prefixOf(at.started.identity, `/api/edge/artifacts/${id}/bytes`, token)
  for (const offset of [0, 40, 5_000, 300_000, 560_000, whole.length - 1]) {
    flipBit(path, offset, offset % 8)
    t.strictSame(await problems(), ['artifact_damaged'], `${offset}`)
    const ran = await show()
    t.strictSame([ran.status, ran.error().code], [12, 'artifact_damaged'], `${offset}`)
    t.notOk(existsSync(out), 'no half of a file')
    for (const token of [credential, at.token()]) {
      const { status, given } = await read(token)
      t.ok(given.length < body.length && body.subarray(0, given.length).equals(given), `${offset}`)
      t.ok(status === 500 || given.length > 0, `${offset}: ${status}`)
    }
    const repaired = must(await world.run(['state', 'repair', '--json'])).json()
    t.hasStrict(repaired, {
      changed: false, left: [{ code: 'artifact_damaged', severity: 'damage' }], left_in_all: 1,
    })
    writeFileSync(path, whole)
  }
  t.match(must(await world.run(['state', 'repair'])).stdout, 'Nothing had to be repaired.')
  rmSync(path)
  t.match(must(await world.run(['state', 'repair'])).stdout,
    /Nothing was repaired\.\nLeft as it is: evidence_missing: .*\nA backup may have it whole/)
  t.strictSame(await problems(), ['evidence_missing'])
  t.equal((await show()).error().code, 'evidence_missing')
  t.strictSame(outcome(await at.ask('GET', `/api/edge/artifacts/${id}/bytes`)),
    [423, 'evidence_missing'])
  t.equal((await at.ask('GET', `/api/edge/artifacts/${id}`)).status, 200, 'what it was is told')
  writeFileSync(path, whole, { mode: 0o600 })
  t.strictSame(await problems(), [])
  must(await show())
  t.ok(readFileSync(out).equals(body))
})

t.test('S-033 on a full disk the bytes of a capture are written whole or not at all', {
  skip: hasSmallDisks ? false : 'no user namespaces here',
}, async (t) => {
  const { world, at, place } = await setup(t)
  const { credential } = await pairOver(world, at)
  const body = Buffer.concat([image(1), Buffer.alloc(300_000, 1)])
  const id = String((await sendOver(at, credential, body, headOf(body, 1))).json().artifact_id)
  const show = (name: string, kilobytes: number) =>
    onSmallDisk(place, name, kilobytes, ['edge', 'show', id, '--out', place.path(`${name}/a.png`)])
  for (const kilobytes of [100, 280]) {
    const { ran, left } = await show(`small-${kilobytes}`, kilobytes)
    t.strictSame([ran.status, left], [1, []], ran.stderr)
    t.match(ran.stderr, /disk is full/)
  }
  const { ran, left } = await show('enough', 400)
  t.strictSame([ran.status, left], [0, [`a.png ${body.length}`]], ran.stderr)
})
