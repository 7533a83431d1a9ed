/** What a scan makes of a folder: observations, duplicates, runs, refusals, and the receipt. */
import {
  copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, statSync, unlinkSync, utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import jpeg from 'jpeg-js'
import type { Test } from 'tap'
import { digestOf } from '../../src/base/canonical.js'
import { receiptOf } from '../../src/shots/receipts/append.js'
import { shotCollections as c } from '../../src/shots/observations/observation-rows.js'
import { must } from '../support/must.js'
import { after, payloadRefOf } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type ImageWorld } from '../world/world.js'
import { rowOf, scan as scanned } from '../support/shots.js'
import { sha256 } from '../support/sha256.js'
import { t } from '../support/tests-in-slices.js'

/** A scan whose receipt accounts for every file. */
const scan = async (world: ImageWorld, ...flags: string[]) => {
  const receipt = await scanned(world, ...flags)
  const sum = receipt.ingested + receipt.duplicate + receipt.suppressed + receipt.rejected
    + receipt.deferred
  if (sum !== receipt.scanned) throw new Error('a receipt does not balance')
  return receipt
}

/** A folder of its own in one world: rows of other folders are stale there and suppress nothing. */
const roomIn = (world: ImageWorld, name: string): ImageWorld => {
  const folder = world.place.path(name)
  mkdirSync(folder)
  const env = { SVC_SCREENSHOT_FOLDER: folder }
  return {
    ...world,
    folder,
    run: (argv, options = {}) => world.run(argv, { ...options, env: { ...env, ...options.env } }),
    file: (file, bytes, modified = after(0)) => {
      const path = join(folder, file)
      writeFileSync(path, bytes)
      utimesSync(path, new Date(modified), new Date(modified))
      return path
    },
    rows: () => world.rows().filter(({ root }) => root === folder),
  }
}

let shared: World<ImageWorld> | null = null
let rooms = 0
const room = async (): Promise<ImageWorld> => {
  shared ??= World.in(t).state().session().images()
  return roomIn(await shared, `room${(rooms += 1)}`)
}

const folderRowOf = (world: ImageWorld) =>
  world.view().all(c.folders).map(({ doc }) => doc).find(({ root }) => root === world.folder)
const filesOf = (world: ImageWorld) => world.view().all(c.files).map(({ doc }) => doc)
  .filter((doc) => doc.root_digest === folderRowOf(world)?.root_digest)

const greyJpeg = (width: number, height: number, seed: number, quality = 85): Buffer => {
  const data = Buffer.alloc(width * height * 4, 255)
  for (let i = 0; i < width * height; i += 1) {
    const cell = ((i % width) >> 4) + 3 * (Math.floor(i / width) >> 4)
    data.fill((cell * 37 + seed * 101) & 0xff, i * 4, i * 4 + 3)
  }
  return Buffer.from(jpeg.encode({ data, width, height }, quality).data)
}

t.test('S-001 S-002 S-003 S-054 S-064 a scan makes one observation per new image of the folder itself and knows it afterwards', async (t) => {
  const world = await room()
  const { folder } = world
  world.file('a.png', greyPng(64, 48, 1))
  world.file('b.JPG', greyJpeg(64, 48, 2), after(1000))
  world.file('c.jpeg', greyJpeg(64, 48, 9), after(2000))
  for (const name of ['d.gif', 'e.webp', 'f.txt', 'png', '.hidden.png']) {
    world.file(name, greyPng(64, 48, 3))
  }
  mkdirSync(join(folder, 'g.png'))
  mkdirSync(join(folder, 'captures'))
  copyFileSync(join(folder, 'a.png'), join(folder, 'captures', 'z.png'))
  t.hasStrict(await scan(world), {
    root: folder, scanned: 3, ingested: 3, duplicate: 0, known: 0, recorded: true, status: 'ok',
  })
  const ids = world.rows().map(({ observation_id: id }) => id).sort()
  t.equal(new Set(ids).size, 3)
  t.strictSame(world.rows().map(({ paths }) => paths[0]?.name.text).sort(),
    ['a.png', 'b.JPG', 'c.jpeg'])
  t.ok(world.rows().every((row) => row.analysis_status === 'blocked'))
  await scan(world)
  t.strictSame(world.rows().map(({ observation_id: id }) => id).sort(), ids)
})

t.test('S-002 a tick that finds nothing new writes no durable byte and says so; its time is kept in run/', async (t) => {
  const world = await room()
  world.file('a.png', greyPng(64, 48, 1))
  await scan(world)
  const { sequence } = world.view()
  const wal = join(world.place.stateDir, 'wal')
  const bytes = () => readdirSync(wal).map((name) => statSync(join(wal, name)).size)
  const before = bytes()
  t.hasStrict(await scan(world), {
    scanned: 1, duplicate: 1, known: 1, recorded: false, receipt_id: null,
  })
  t.equal(world.view().sequence, sequence)
  t.strictSame(bytes(), before)
  t.equal(folderRowOf(world)?.last_scan?.status, 'ok')
  const { readLastTick } = await import('../../src/shots/scan/last-tick.js')
  const digest = rowOf(world, 'a.png').root_digest
  t.hasStrict(readLastTick(join(world.place.stateDir, 'run'), digest), { status: 'ok', scanned: 1 })
})

t.test('S-060 S-061 S-062 S-063 a row holds source, hash, size, format by the bytes, dimensions and the time of modification', async (t) => {
  const world = await room()
  const png = greyPng(70, 50, 4)
  const photo = greyJpeg(96, 64, 5)
  const damaged = Buffer.concat([png.subarray(0, 10), Buffer.from('damaged header bytes'), png])
  world.file('shot.png', png, '2001-02-03T04:05:06.789Z')
  world.file('named-wrong.png', photo, after(0))
  world.file('damaged.png', damaged, after(1000))
  t.hasStrict(await scan(world), { scanned: 3, ingested: 3 })
  t.hasStrict(rowOf(world, 'shot.png'), {
    source: 'screenshot_folder', bytes: png.length, format: 'png', width: 70, height: 50,
    captured_at: '2001-02-03T04:05:06.789Z', captured_in_future: false,
    sha256: sha256(png),
  })
  t.hasStrict(rowOf(world, 'named-wrong.png'), {
    bytes: photo.length, format: 'jpeg', width: 96, height: 64,
    sha256: sha256(photo),
  })
  t.hasStrict(rowOf(world, 'damaged.png'), { format: 'png', width: null, height: null })
})

t.test('S-069 S-002 copies of one file under other names and times are one observation', async (t) => {
  const world = await room()
  const bytes = greyPng(64, 48, 1)
  for (const [at, name] of ['one.png', 'two.png', 'three.PNG'].entries()) {
    world.file(name, bytes, after(at * 60_000))
  }
  t.hasStrict(await scan(world), { ingested: 1, duplicate: 2, known: 0, suppressed: 0 })
  t.equal(world.rows().length, 1)
  t.strictSame(rowOf(world, 'one.png').paths.map(({ name }) => name.text),
    ['one.png', 'two.png', 'three.PNG'])
  t.equal(rowOf(world, 'one.png').captured_at, after(0))
  t.hasStrict(folderRowOf(world), { duplicates: 2, observations: 1 })
})

const noisy = (by: number, at = 0) => greyPng(160, 96, (x, y) =>
  (((x >> 4) + 3 * (y >> 4)) * 37 & 0x7f) + ((x * 7 + y * 3 + at) % 31 === 0 ? by : 0))

t.test('S-068 S-071 S-072 S-075 like pictures extend the run of the representative and are no duplicates', async (t) => {
  const world = await room()
  const same = (x: number, y: number) => ((x >> 4) + 3 * (y >> 4)) * 37 & 0x7f
  world.file('a.png', greyPng(160, 96, same), after(0))
  world.file('b.png', greyPng(160, 96, same, 1), after(60_000))
  world.file('c.png', noisy(1), after(120_000))
  t.hasStrict(await scan(world), {
    ingested: 1, suppressed: 2, duplicate: 0, reasons: { same_picture: 1, looks_alike: 1 },
  })
  t.equal(world.rows().length, 1)
  t.strictSame(rowOf(world, 'a.png').screenshot_visual_run, {
    representative_path: 'a.png', first_seen: after(0), last_seen: after(120_000),
    suppressed_count: 2, latest_suppressed_path: 'c.png',
    reason_counts: { same_picture: 1, looks_alike: 1 },
    quarter_counts: { [after(0)]: 2 },
  })
  t.hasStrict(folderRowOf(world), { visual_runs: 1, suppressed: 2 })
  const seen = filesOf(world).find((doc) => doc.name.text === 'c.png')
  t.ok((seen?.measure ?? 0) > 0 && (seen?.measure ?? 9) <= 3)
})

t.test('S-070 S-071 A, B, A-prime: only the current representative is compared with', async (t) => {
  const world = await room()
  world.file('a.png', noisy(0), after(0))
  world.file('b.png', greyPng(160, 96, 7), after(1000))
  world.file('a-again.png', noisy(1), after(2000))
  t.hasStrict(await scan(world), { ingested: 3, suppressed: 0 })
  world.file('a-third.png', noisy(2), after(3000))
  t.hasStrict(await scan(world), { ingested: 0, suppressed: 1, known: 3 })
  t.equal(rowOf(world, 'a-again.png').screenshot_visual_run?.suppressed_count, 1)
})

t.test('S-073 S-074 another format or size is never merged', async (t) => {
  const world = await room()
  const shade = (x: number, y: number) => (x < 160 ? ((x >> 4) + 3 * (y >> 4)) * 37 & 0x7f : 0)
  world.file('a.png', greyPng(160, 96, shade), after(0))
  world.file('wider.png', greyPng(161, 96, shade), after(1000))
  world.file('a.jpg', greyJpeg(160, 96, 0, 100), after(2000))
  world.file('b.png', greyPng(160, 96, 3), after(3000))
  t.hasStrict(await scan(world), { ingested: 4, suppressed: 0 })
  const reasons = Object.fromEntries(filesOf(world).map((doc) => [doc.name.text, doc.reason]))
  t.hasStrict(reasons, {
    'a.png': 'first_image', 'wider.png': 'other_dimensions', 'a.jpg': 'other_format',
    'b.png': 'other_format',
  })
})

t.test('S-076 S-210 a long unchanged run gets a new representative after the configured time', async (t) => {
  const world = await room()
  const minutes = (value: string) =>
    world.run(['shots', 'config', 'set', '--visual-run-refresh-minutes', value])
  t.equal((await minutes('10')).status, 0)
  for (const minute of [0, 4, 9, 10, 12, 19, 20]) {
    world.file(`m${minute}.png`, noisy(1, minute), after(minute * 60_000))
  }
  t.hasStrict(await scan(world), { ingested: 3 })
  t.strictSame(
    world.rows()
      .map((row) => [row.paths[0]?.name.text, row.screenshot_visual_run?.last_seen]).sort(),
    [['m0.png', after(9 * 60_000)], ['m10.png', after(19 * 60_000)], ['m20.png', undefined]])
  await minutes('30')
})

t.test('S-130 the limit counts files that are read, never known ones: 250 new images take three ticks of 100', async (t) => {
  const world = await room()
  for (let i = 0; i < 250; i += 1) {
    world.file(`${i}.png`, greyPng(4, 4, (x) => (i >> x) & 1 ? 255 : i), after(i * 1000))
  }
  const counts: number[][] = []
  for (let tick = 0; tick < 4; tick += 1) {
    const { scanned, known, deferred, limit, reasons } = await scan(world)
    counts.push([scanned, known, deferred, limit, reasons.over_limit ?? 0])
  }
  t.strictSame(counts, [
    [250, 0, 150, 100, 150], [250, 100, 50, 100, 50], [250, 200, 0, 100, 0], [250, 250, 0, 100, 0],
  ])
  const other = await world.run(['shots', 'scan', '--json'], {
    env: { SCREENSHOT_FOLDER_INGEST_LIMIT: '7' },
  })
  t.equal(other.json().limit, 7)
})

t.test('S-131 S-177 the receipt counts every file once, and receipts chain', async (t) => {
  const world = await room()
  const bytes = greyPng(64, 48, 1)
  world.file('new.png', bytes)
  world.file('copy.png', bytes, after(1))
  world.file('text.png', Buffer.from('not an image at all'))
  world.file('empty.jpg', Buffer.alloc(0))
  const receipt = await scan(world)
  t.hasStrict(receipt, {
    job: 'screenshot_folder_ingest', scanned: 4, ingested: 1, duplicate: 1, rejected: 2,
    deferred: 0,
    reasons: { not_an_image: 1, empty: 1, same_bytes: 1 },
  })
  t.strictSame(
    receipt.problems.map((one: { name: { text: string }; reason: string }) =>
      [one.name.text, one.reason]).sort(),
    [['empty.jpg', 'empty'], ['text.png', 'not_an_image']])
  world.file('later.png', greyPng(64, 48, 5), after(2))
  const second = await scan(world)
  t.hasStrict(second, { scanned: 5, ingested: 1, duplicate: 4, known: 4, rejected: 0 })
  t.equal(second.number, receipt.number + 1)
  const [one, two] = [receipt.number, second.number].map((at) => receiptOf(world.view(), at))
  t.equal(two?.previous_sha256, digestOf(one))
  t.hasStrict(two?.facts, { ingested: 1, known: 4 })
  t.equal(one?.receipt_id, receipt.receipt_id)
})

t.test('S-004 nothing beside an image is read: no manifest, no sidecar', async (t) => {
  const world = await room()
  world.file('shot.png', greyPng(64, 48, 1))
  world.file('shot.png.json', Buffer.from('{"summary":"MARK-SIDECAR"}'))
  world.file('manifest.json', Buffer.from('{"note":"MARK-SIDECAR","files":["ghost.png"]}'))
  t.hasStrict(await scan(world), { scanned: 1, ingested: 1 })
  t.notMatch(JSON.stringify(world.rows()), /MARK-SIDECAR|ghost/)
})

t.test('S-145 S-146 a new image is pending while every gate of the route is open, and nobody is asked', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  world.file('a.png', greyPng(64, 48, 1))
  const receipt = await scan(world)
  t.equal(receipt.ingested, 1)
  t.hasStrict(rowOf(world, 'a.png'), {
    analysis_status: 'pending', analyzer: { reason: null, attempts: 0 },
  })
  t.strictSame(world.calls(), [])
})

t.test('S-147 S-148 S-017 S-205 with the route incomplete hundreds of new images are blocked with the reason, none pending', async (t) => {
  const world = await room()
  for (let i = 0; i < 300; i += 1) {
    world.file(`${i}.png`, greyPng(4, 4, (x) => (i >> x) & 1 ? 255 : i % 200), after(i * 1000))
  }
  const receipt = await scan(world, '--limit', '300')
  t.equal(receipt.ingested + receipt.suppressed + receipt.duplicate, 300)
  t.ok(receipt.ingested > 100)
  t.ok(world.rows().every((row) =>
    row.analysis_status === 'blocked' && row.analyzer.reason === 'analysis_off'))
})

t.test('S-069 S-154 bytes that come back give a missed observation its place again; archived ones do not suppress', async (t) => {
  const world = await room()
  const bytes = greyPng(64, 48, 1)
  const path = world.file('a.png', bytes)
  await scan(world)
  const row = rowOf(world, 'a.png')
  unlinkSync(path)
  await world.put({ ...row, analysis_status: 'pending', classification: 'source_missing' })
  t.hasStrict(await scan(world), { scanned: 0 })
  world.file('a.png', bytes)
  t.hasStrict(
    await scan(world), { ingested: 0, duplicate: 1, known: 0, reasons: { found_again: 1 } }
  )
  t.hasStrict(rowOf(world, 'a.png'), {
    observation_id: row.observation_id, analysis_status: 'pending', classification: null,
  })
  await world.put({ ...rowOf(world, 'a.png'), archived_at: after(0) })
  t.hasStrict(await scan(world), { ingested: 1, duplicate: 0, known: 0 })
  t.equal(world.rows().length, 2)
  t.hasStrict(await scan(world), { ingested: 0, duplicate: 1, known: 1 })
})

t.test('S-154 a file that was only moved away and back is found again although nothing of it changed', async (t) => {
  const world = await room()
  world.file('a.png', greyPng(64, 48, 1))
  world.file('b.png', greyPng(64, 48, 2), after(1))
  await scan(world)
  const before = statSync(join(world.folder, 'a.png')).ctimeMs
  // As when the whole folder is away while the analysis looks for its images.
  await world.put({ ...rowOf(world, 'a.png'), classification: 'source_missing' })
  t.equal(statSync(join(world.folder, 'a.png')).ctimeMs, before)
  t.hasStrict(await scan(world), { duplicate: 2, known: 1, reasons: { found_again: 1 } })
  t.equal(rowOf(world, 'a.png').classification, null)
})

/** The same picture under a second folder, which the settings do not name. */
const copied = async (t: Test) => {
  const world = await World.in(t).state().session().images()
  const other = world.place.path('other')
  world.file('a.png', greyPng(64, 48, 1))
  await scan(world)
  cpSync(world.folder, other, { recursive: true, preserveTimestamps: true })
  const moved = async (): Promise<unknown> =>
    must(await world.run(['shots', 'config', 'set', '--folder', other]))
  return { world, other, moved }
}

t.test('S-069 S-173 the same bytes of another folder are a duplicate where they were analysed there', async (t) => {
  const { world, other, moved } = await copied(t)
  const row = rowOf(world, 'a.png')
  await world.put({ ...row, analysis_status: 'succeeded', payload: payloadRefOf() })
  const twice = { duplicate: 1, ingested: 0, reasons: { same_bytes_elsewhere: 1 } }
  t.hasStrict(await scan(world, '--folder', other), { root: other, source: 'input', ...twice })
  await moved()
  t.hasStrict(await scan(world), { root: other, source: 'settings', ingested: 0, known: 1 })
})

t.test('S-002 S-162 S-163 a folder that was scanned before it was set has its images taken in, whatever is pending elsewhere', async (t) => {
  const { world, other, moved } = await copied(t)
  t.hasStrict(await scan(world, '--folder', other), { ingested: 1, duplicate: 0 })
  await moved()
  t.hasStrict(await scan(world), { ingested: 0, known: 1 })
  const [row] = world.rows().filter(({ root }) => root === other)
  t.hasStrict(row, { analysis_status: 'blocked', classification: null, archived_at: null })
  must(await world.run(['shots', 'clear-stale', '--yes']))
  const standing = world.rows().map(({ root, archived_at: at }) => [root === other, at !== null])
  t.strictSame(new Map(standing as [boolean, boolean][]), new Map([[false, true], [true, false]]))
})

t.test('S-002 what an earlier version left as a duplicate of a pending image elsewhere is taken in, though its file is known', async (t) => {
  const { world, other, moved } = await copied(t)
  const row = rowOf(world, 'a.png')
  await world.put({ ...row, payload: payloadRefOf() })
  t.hasStrict(await scan(world, '--folder', other), { reasons: { same_bytes_elsewhere: 1 } })
  await world.put(row)
  await moved()
  const explained = await world.json(['shots', 'show', join(other, 'a.png')])
  t.hasStrict(explained.now, { scan_would: 'read' })
  rmSync(join(world.place.stateDir, 'run/shots'), { recursive: true })
  t.hasStrict(await scan(world), { ingested: 1, known: 0 })
  t.hasStrict(await scan(world), { ingested: 0, known: 1 }, 'once')
})

t.test('a name with a line break takes one line of a scan, also in a pipe: it cannot tell what the program did not', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const folder = world.place.path('shots\nreceipt rct_forged')
  mkdirSync(folder)
  must(await world.run(['shots', 'config', 'set', '--json', '--folder', folder]))
  const path = join(folder, 'a\nreceipt rct_forged\u001b[2J.png')
  writeFileSync(path, 'no image')
  utimesSync(path, new Date(after(0)), new Date(after(0)))
  const { stdout } = must(await world.run(['shots', 'scan']))
  t.match(stdout, 'shots\\nreceipt rct_forged\n')
  t.match(stdout, '  a\\nreceipt rct_forged\\u001b[2J.png: not_an_image\n')
  t.equal(stdout.split('\n').filter((line) => line.startsWith('receipt ')).length, 1)
})

t.test('S-162 a scan of another folder says that its rows are stale at once; one of the configured folder says nothing', async (t) => {
  const world = await World.in(t).state().session().images()
  const other = world.place.path('other')
  mkdirSync(other)
  writeFileSync(join(other, 'a.png'), greyPng(64, 48, 1))
  const ran = await world.run(['shots', 'scan', '--folder', other])
  t.equal(ran.status, 0, ran.stderr)
  t.match(ran.stderr, 'stale_root at once')
  t.match(ran.stderr, 'shots setup --folder DIR')
  const [row] = (await world.run(['shots', 'list', '--json'])).json()
  t.hasStrict(row, { root: other, classification: 'stale_root', report_readiness: 'excluded' })
  world.file('b.png', greyPng(64, 48, 2))
  const same = await world.run(['shots', 'scan', '--folder', world.folder])
  t.notMatch(same.stderr, 'stale_root')
  t.notMatch((await world.run(['shots', 'scan'])).stderr, 'stale_root')
})

t.test('S-172 S-173 S-174 S-175 S-176 scan input is a closed object of a folder and a plain integer', async (t) => {
  const world = await room()
  for (let i = 0; i < 5; i += 1) world.file(`${i}.png`, greyPng(64, 48, i), after(i))
  const from = (stdin: string, ...more: string[]) =>
    world.run(['shots', 'scan', '--json', '--from', '-', ...more], { stdin })
  const bad = [
    '[]', '"x"', '7', 'null', '', '{"foo":1}', '{"artifact_root":"/x"}', '{"limit":1.5}',
    '{"limit":"2"}', '{"limit":true}', '{"limit":-1}', '{"limit":0}', '{"limit":2e0}',
    '{"limit":2,"limit":3}', '{"screenshot_folder":7}', '{"screenshot_folder":""}',
    '{"limit":10001}', '{"screenshot_folder":null}',
  ]
  for (const stdin of bad) t.equal((await from(stdin)).status, 3, stdin)
  t.equal((await world.run(['shots', 'scan', '--artifact-root', '/x'])).status, 2)
  t.equal((await world.run(['shots', 'scan', '--limit', '1.5'])).status, 3)
  t.equal((await from('{}', '--limit', '1')).status, 2)
  t.strictSame(world.rows(), [])
  t.hasStrict((await from('{"limit":2}')).json(), { ingested: 2, deferred: 3 })
  t.hasStrict((await from('{}')).json(), { ingested: 3, known: 2 })
  const other = world.place.path('other')
  mkdirSync(other)
  writeFileSync(join(other, 'o.png'), greyPng(64, 48, 40))
  t.hasStrict((await from(JSON.stringify({ screenshot_folder: other }))).json(), { root: other })
})

t.test('S-051 S-052 S-053 S-057 a scan reads the folder that is in force and refuses a broad one', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const missing = await world.run(['shots', 'scan', '--json'])
  t.equal(missing.status, 3)
  t.equal(missing.error().code, 'folder_missing')
  t.hasStrict(world.view().all(c.folders)[0]?.doc.last_scan, {
    status: 'failed', reason: 'folder_missing',
  })
  const { sequence } = world.view()
  await world.run(['shots', 'scan', '--json'])
  t.equal(world.view().sequence, sequence, 'the same failure is written down once')
  for (const folder of ['/', `${world.place.env['HOME'] ?? ''}/`, world.workspace]) {
    mkdirSync(world.workspace, { recursive: true })
    const ran = await world.run(['shots', 'scan', '--json', '--folder', folder])
    t.equal(ran.status, 3)
    t.equal(ran.error().code, 'broad_root')
  }
  mkdirSync(join(world.workspace, 'artifacts/screenshot-folder'), { recursive: true })
  t.hasStrict(await scan(world), { source: 'default', scanned: 0, recorded: true })
  const env = { SVC_SCREENSHOT_FOLDER: world.folder }
  const named = await world.run(['shots', 'scan', '--json'], { env })
  t.hasStrict(named.json(), { source: 'environment', root: world.folder })
  t.equal(folderRowOf(world)?.last_scan?.status, 'ok')
})
