/** What paired devices stored becomes observations of its owner, each capture once. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { edgeCollections, type EdgeArtifact } from '../../../src/edge/edge-rows.js'
import { takeInCaptures, withCaptures } from '../../../src/shots/captures/take-in.js'
import { devicePlace } from '../../../src/shots/source/folder-digest.js'
import {
  shotCollections as c, type Observation,
} from '../../../src/shots/observations/observation-rows.js'
import { verifyShots } from '../../../src/shots/verify-shots.js'
import { becameOf, cameraOf, captured, takeIn, withheldIn } from '../../support/edge/captured.js'
import { must } from '../../support/must.js'
import { after } from '../../support/observations.js'
import { greyPng, image } from '../../support/png.js'
import { sha256 } from '../../support/sha256.js'
import { addAndSignIn } from '../../support/tasks.js'
import { t } from '../../support/tests-in-slices.js'
import { World, type ImageWorld } from '../../world/world.js'

const none = { ingested: 0, duplicate: 0, suppressed: 0, rejected: 0 }

const withFolder = (test: Parameters<typeof World.in>[0]) =>
  World.in(test).state().session().images()

/** The same picture in other bytes. */
const again = (i: number): Buffer => greyPng(64, 48, i, 1)

const outcomes = (world: ImageWorld, deviceId: string): string[] =>
  [...becameOf(world, deviceId).values()]
    .sort((a, b) => Number(a.inode) - Number(b.inode)).map(({ outcome }) => outcome)

const takenUpTo = (world: ImageWorld, id: string): number | undefined =>
  world.view().get(c.folders, devicePlace(id).folderDigest)?.taken_sequence

const sound = async (world: ImageWorld): Promise<void> =>
  void must(await world.run(['state', 'check', '--json']))

t.test('a stored capture becomes one observation of its owner, with the facts of its own bytes and no copy of them', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  const body = image(1)
  const row = await camera.store(body)
  const sealed = readdirSync(join(world.place.stateDir, 'artifacts'), { recursive: true }).length
  t.strictSame(await takeIn(world), { taken: { ...none, ingested: 1 }, left: 0 })
  t.equal(captured(world).length, 1)
  t.hasStrict(captured(world)[0], {
    source: 'edge', root: devicePlace(camera.id).folder, sha256: sha256(body), bytes: body.length,
    format: 'png', width: 64, height: 48, captured_at: after(0), captured_in_future: false,
    analysis_status: 'blocked', analyzer: { reason: 'from_device', attempts: 0 }, payload: null,
    edge: {
      owner: world.session().principal.principal_id, device_id: camera.id,
      device_name: 'camera', artifact_id: row.artifact_id, sequence: 1,
    },
  })
  const now = readdirSync(join(world.place.stateDir, 'artifacts'), { recursive: true }).length
  t.ok(now - sealed <= 2, 'a fingerprint, and no picture')
  t.strictSame(await takeIn(world), { taken: none, left: 0 }, 'and no second time')
  await sound(world)
})

t.test('S-069 S-070 S-072 the gate compares a capture with the last picture of its own device alone', async (t) => {
  const world = await withFolder(t)
  const [one, two] = [await cameraOf(world), await cameraOf(world)]
  for (const body of [image(1), image(1), again(1), image(2), again(1)]) await one.store(body)
  await two.store(image(1), 30_000)
  t.strictSame(await takeIn(world), {
    taken: { ingested: 3, duplicate: 2, suppressed: 1, rejected: 0 }, left: 0,
  })
  t.strictSame(outcomes(world, one.id),
    ['ingested', 'duplicate', 'suppressed', 'ingested', 'duplicate'])
  t.strictSame(outcomes(world, two.id), ['ingested'], 'the same bytes of another device')
  t.hasStrict(captured(world)[0]?.screenshot_visual_run, {
    suppressed_count: 1, first_seen: after(0), last_seen: after(120_000),
  })
  await sound(world)
})

t.test('S-076 the run of a device is refreshed after the bounded window, too', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  await camera.store(image(1), 0)
  await camera.store(again(1), 60_000)
  await camera.store(greyPng(64, 48, 1, 2), 31 * 60_000)
  await takeIn(world)
  t.strictSame(outcomes(world, camera.id), ['ingested', 'suppressed', 'ingested'])
})

t.test('bytes that are no picture, a damaged one and one that ends early are told, and keep no other waiting', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  const begins = Buffer.from('89504e470d0a1a0a', 'hex')
  const huge = Buffer.from(image(3))
  huge.writeUInt32BE(0x7fffffff, 16)
  const bodies = [begins, Buffer.concat([begins, Buffer.alloc(500, 7)]), huge,
    image(4).subarray(0, 90), image(5)]
  for (const body of bodies) await camera.store(body)
  const { taken, left } = await takeIn(world)
  t.equal(left, 0)
  t.equal(Object.values(taken).reduce((sum, some) => sum + some, 0), bodies.length)
  t.ok(taken.rejected >= 1)
  t.hasStrict(captured(world).at(-1), { sha256: sha256(image(5)), width: 64 })
  t.strictSame(await takeIn(world), { taken: none, left: 0 })
  await sound(world)
})

t.test('a capture whose sealed bytes are gone is told as that, and keeps no other waiting', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  const { ref, artifact_id: id } = await camera.store(image(1))
  await camera.store(image(2))
  camera.gov.store.artifacts.remove(ref.stored_sha256)
  t.strictSame(await takeIn(world), { taken: { ...none, ingested: 1, rejected: 1 }, left: 0 })
  t.hasStrict(becameOf(world, camera.id).get(id), { reason: 'capture_unreadable', sha256: null })
})

t.test('a capture that the disk does not give waits with those behind it, and keeps none of another device waiting', async (t) => {
  const world = await withFolder(t)
  const cameras = [await cameraOf(world), await cameraOf(world), await cameraOf(world)]
  const stored: EdgeArtifact[] = []
  for (const [n, camera] of cameras.entries()) stored.push(await camera.store(image(n + 1)))
  const ctx = world.ctx('write')
  const away = withheldIn(ctx, stored.slice(0, 2).map(({ artifact_id: id }) => id))
  await t.rejects(takeInCaptures(away), { kind: 'failed', code: 'io_failed' })
  t.strictSame(captured(world).map(({ edge }) => edge?.device_id), [cameras[2]?.id])
  t.equal(await withCaptures(away, async () => 'scanned'), 'scanned')
  ctx.gov.store.close()
  t.strictSame(await takeIn(world), { taken: { ...none, ingested: 2 }, left: 0 })
  await sound(world)
})

t.test('what another owner\'s device stored becomes no observation in the lists of everybody', async (t) => {
  const world = await withFolder(t)
  const gov = { ...world.gov, store: world.open('write') }
  const bob = await addAndSignIn({ gov }, world.session(), 'bob')
  const camera = await cameraOf(world, {}, bob.session)
  await camera.store(image(1))
  t.strictSame(await takeIn(world), { taken: none, left: 0 })
  t.strictSame(captured(world), [])
})

t.test('what was captured before its pairing ended is taken in behind that', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  await camera.store(image(1))
  must(await world.run(['edge', 'revoke', camera.id]))
  t.hasStrict(await takeIn(world), { taken: { ingested: 1 } })
})

t.test('as many captures are taken in at once as one scan may read, oldest first', async (t) => {
  const world = await withFolder(t)
  must(await world.run(['shots', 'config', 'set', '--ingest-limit', '2']))
  const camera = await cameraOf(world)
  for (let i = 1; i <= 5; i += 1) await camera.store(image(i * 9))
  for (const [left, most] of [[3, 2], [1, 4], [0, 5], [0, 5]] as const) {
    t.equal((await takeIn(world)).left, left)
    t.strictSame(captured(world).map((row) => row.edge?.sequence),
      [1, 2, 3, 4, 5].slice(0, most))
  }
})

t.test('numbers that a device left out, and ids out of their order, hide no capture', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  await camera.store(image(9))
  await takeIn(world)
  await camera.store(image(1), 60_000, { sequence: 70 })
  const { gov } = camera
  // Its id says that it came before all others: the clock was set back.
  const { artifact_id: id } = await camera.store(image(2), 120_000, { sequence: 90 })
  const early = `edge_art_01000000-0000-7000-8000-${id.slice(-12)}`
  await gov.store.transact('test', (tx) => {
    const row = tx.get(edgeCollections.artifacts, id)
    if (row === undefined) throw new Error('it is stored')
    tx.remove(edgeCollections.artifacts, id)
    tx.put(edgeCollections.artifacts, early, { ...row, artifact_id: early })
  })
  t.hasStrict(await takeIn(world), { taken: { ingested: 2 }, left: 0 })
  t.strictSame(captured(world).map((row) => row.edge?.sequence), [1, 70, 90])
  t.equal(takenUpTo(world, camera.id), 90)
})

t.test('a number whose capture is gone is looked for once', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  await camera.store(image(1))
  const { artifact_id: id } = await camera.store(image(2))
  await camera.gov.store.transact('test', (tx) => tx.remove(edgeCollections.artifacts, id))
  t.hasStrict(await takeIn(world), { taken: { ingested: 1 }, left: 0 })
  t.equal(takenUpTo(world, camera.id), 2)
  const { sequence } = world.view()
  await takeIn(world)
  t.equal(world.view().sequence, sequence, 'nothing more is written')
})

t.test('whoever ends later sets no device back behind what others took in meanwhile', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  await camera.store(image(1))
  let inside = false
  await takeIn(world, async (step) => {
    if (step !== 'capture.written' || inside) return
    inside = true
    await camera.store(image(2))
    t.hasStrict(await takeIn(world), { taken: { ingested: 1 } })
  })
  t.equal(takenUpTo(world, camera.id), 2)
})

t.test('two processes that take in one device at once give each capture once', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  for (let i = 1; i <= 12; i += 1) await camera.store(i % 4 === 0 ? again(i - 1) : image(i))
  const both = await Promise.all([takeIn(world), takeIn(world), takeIn(world)])
  const sum = (what: keyof typeof none): number =>
    both.reduce((all, { taken }) => all + taken[what], 0)
  t.strictSame([sum('ingested'), sum('suppressed'), sum('duplicate')], [9, 3, 0])
  t.equal(captured(world).length, 9)
  t.equal(becameOf(world, camera.id).size, 12)
  await sound(world)
})

t.test('another picture that came to stand meanwhile is the one that a capture is compared with', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  await camera.store(image(1))
  await takeIn(world)
  await camera.store(image(2))
  await camera.store(again(2))
  let inside = false
  await takeIn(world, async (step) => {
    if (step !== 'capture.writing' || inside) return
    inside = true
    await takeIn(world)
  })
  t.strictSame(outcomes(world, camera.id), ['ingested', 'ingested', 'suppressed'])
  await sound(world)
})

t.test('a folder that is not there fails its scan as ever, and keeps no capture waiting', async (t) => {
  const world = await withFolder(t)
  const camera = await cameraOf(world)
  await camera.store(image(1))
  rmSync(world.folder, { recursive: true })
  const ran = await world.run(['shots', 'scan', '--json'])
  t.equal(ran.error().code, 'folder_missing')
  t.equal(captured(world).length, 1)
})

t.test('a row that says it is of a device and is not, or lies at another place, is told by a check', async (t) => {
  for (const forged of [
    (row: Observation): Observation => ({ ...row, edge: undefined }),
    (row: Observation): Observation => ({ ...row, source: 'screenshot_folder' }),
    (row: Observation): Observation => ({
      ...row, ...(row.edge === undefined ? {} : { edge: { ...row.edge, device_id: 'edge_dev_x' } }),
    }),
  ]) {
    const world = await withFolder(t)
    const camera = await cameraOf(world)
    await camera.store(image(1))
    await takeIn(world)
    const [row] = captured(world)
    if (row === undefined) throw new Error('it was taken in')
    await camera.gov.store.transact('test', (tx) => {
      const { edge, ...rest } = forged(row)
      tx.put(c.observations, row.observation_id, edge === undefined ? rest : { ...rest, edge })
    })
    const problems = verifyShots(world.view()).map(({ code }) => code)
    t.ok(problems.includes('observation_root_mismatch'), problems.join())
  }
})

const steps = ['capture.read', 'capture.writing', 'capture.written'] as const
for (const [n, step] of steps.entries()) {
  t.test(`killed at ${step}, the next scan takes in what is left, each capture once`, async (t) => {
    const world = await withFolder(t)
    const camera = await cameraOf(world)
    for (const body of [image(1), image(1), again(1), image(2)]) await camera.store(body)
    const killed = await world.place.spawn(['shots', 'scan', '--json'], {
      entry: 'test', env: { TEST_STOP_AT: `${step}#${n + 2}` }, coverage: false,
    })
    t.equal(killed.status, 137)
    must(await world.run(['shots', 'scan', '--json']))
    t.strictSame(outcomes(world, camera.id), ['ingested', 'duplicate', 'suppressed', 'ingested'])
    t.equal(captured(world).length, 2)
    t.equal(captured(world)[0]?.screenshot_visual_run?.suppressed_count, 1)
    await sound(world)
  })
}

t.test('S-044 a scan writes the same rows of a folder with captures of the same pictures beside it and without', async (t) => {
  const rowsOf = async (beside: boolean) => {
    const world = await withFolder(t)
    for (const [n, body] of [image(1), again(1), image(2), image(1)].entries()) {
      world.file(`${n}.png`, body, after(n * 60_000))
    }
    const camera = beside ? await cameraOf(world) : null
    for (const body of [again(1), image(2), image(7)]) await camera?.store(body)
    if (beside) await takeIn(world)
    const first = must(await world.run(['shots', 'scan', '--json'])).json()
    await camera?.store(image(8))
    world.file('4.png', image(8), after(300_000))
    const second = must(await world.run(['shots', 'scan', '--json'])).json()
    if (beside) t.equal(captured(world).length, 4)
    const { folder } = world
    const rows = world.rows().filter((row) => row.root === folder)
      .sort((a, b) => (a.observation_id < b.observation_id ? -1 : 1))
    const places = new Map(rows.map(({ observation_id: id }, n) => [id, n]))
    const without = (text: string): string => [...places].reduce((told, [id, n]) =>
      told.replaceAll(id, `obs_${n}`), text.replaceAll(folder, 'FOLDER'))
    const [own] = world.view().all(c.folders).filter(({ doc }) => doc.root === folder)
    const digest = own?.id ?? ''
    const plain = (rows: readonly object[]): string[] => rows.map((row) => without(JSON.stringify(
      row, (name, value: unknown) => (/^at$|_at$|_ns$|inode|stored_sha256|receipt_id/.test(name)
        && name !== 'captured_at' ? '' : value)).replaceAll(digest, 'DIGEST'))).sort()
    const files = world.view().all(c.files).map(({ doc }) => doc)
      .filter((doc) => doc.root_digest === digest)
    const told = ({ scanned, ingested, duplicate, suppressed, reasons, number }: {
      readonly [name: string]: unknown
    }) => ({ scanned, ingested, duplicate, suppressed, reasons, number })
    return {
      rows: plain(rows), files: plain(files), folder: plain(own === undefined ? [] : [own.doc]),
      told: [first, second].map(told),
      counts: plain(world.view().all(c.counts).map(({ doc }) => doc)
        .filter((doc) => doc.root_digest === digest)),
      contents: world.view().all(c.contents).map(({ doc }) => doc)
        .filter((doc) => doc.observations.some(({ root_digest: at }) => at === digest)).length,
    }
  }
  const [without, beside] = [await rowsOf(false), await rowsOf(true)]
  t.ok(without.rows.length >= 3)
  t.strictSame(beside, without)
})
