/** The derived index of known files: it saves time and is never believed beyond a committed row. */
import {
  chmodSync, copyFileSync, cpSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync,
  utimesSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../src/base/canonical.js'
import { systemClock } from '../../src/base/clock.js'
import { receiptIdOf } from '../../src/shots/receipts/append.js'
import { receiptCollections } from '../../src/shots/receipts/receipt-rows.js'
import { shotCollections as c } from '../../src/shots/observations/observation-rows.js'
import {
  bindingOf, hiddenRows, loadKnownIndex, writeKnownIndex,
} from '../../src/shots/scan/known-index.js'
import { walkImageFolder } from '../../src/shots/scan/walk.js'
import { image } from '../support/png.js'
import { World, type ImageWorld } from '../world/world.js'
import { after } from '../support/observations.js'
import { scan } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

const indexFile = (world: ImageWorld): string => {
  const folder = join(world.place.stateDir, 'run/shots')
  const [name] = readdirSync(folder).filter((one) => one.startsWith('known-'))
  return join(folder, name ?? '')
}

const load = (world: ImageWorld) => {
  const view = world.view()
  const digest = view.all(c.folders)[0]?.doc.root_digest ?? ''
  return loadKnownIndex(join(world.place.stateDir, 'run'), view, world.open().storeId, digest)
}

t.test('S-002 an index that is altered anywhere, cut or of another store is as if it were not there', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 5; i += 1) world.file(`${i}.png`, image(i), after(i))
  await scan(world)
  const path = indexFile(world)
  const bytes = readFileSync(path)
  t.equal(load(world)?.count, 5)
  const step = Math.max(1, Math.floor(bytes.length / 97))
  for (let at = 0; at < bytes.length; at += step) {
    const altered = Buffer.from(bytes)
    altered[at] = (altered[at] as number) ^ 0x40
    writeFileSync(path, altered)
    t.equal(load(world), null, `byte ${at}`)
  }
  for (const length of [0, 7, 40, 100, bytes.length - 1]) {
    writeFileSync(path, bytes.subarray(0, length))
    t.equal(load(world), null, `${length} bytes`)
  }
  writeFileSync(path, Buffer.concat([bytes, Buffer.alloc(40)]))
  t.equal(load(world), null)
  writeFileSync(path, Buffer.concat([Buffer.from('SPSHOTX1'), bytes.subarray(8)]))
  t.equal(load(world), null, 'one of a version that took too much for known')
  t.hasStrict(await scan(world), { scanned: 5, known: 5, recorded: false }, 'the rows know')
  t.equal(load(world)?.count, 5, 'and it is made again')
})

t.test('S-002 a store that is older than its index, or another history, does not believe it', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  await scan(world)
  const aside = world.place.path('aside')
  cpSync(world.place.stateDir, aside, { recursive: true })
  world.file('b.png', image(2), after(1))
  await scan(world)
  const newer = readFileSync(indexFile(world))
  rmSync(world.place.stateDir, { recursive: true })
  cpSync(aside, world.place.stateDir, { recursive: true })
  writeFileSync(indexFile(world), newer)
  t.equal(load(world), null, 'it knows a receipt that this store never wrote')
  t.hasStrict(await scan(world), { scanned: 2, known: 1, ingested: 1 })
  world.file('c.png', image(3), after(2))
  await scan(world)
  writeFileSync(indexFile(world), newer)
  t.equal(load(world), null, 'and another receipt has its number now')
  t.equal(world.rows().length, 3)
})

t.test('S-002 an entry holds for the very file: name, size, both times and inode', async (t) => {
  const world = await World.in(t).state().session().images()
  const path = world.file('a.png', image(1))
  world.file('b.png', image(2), after(1))
  await scan(world)
  const index = load(world)
  const listing = walkImageFolder(world.folder, false)
  t.ok(index !== null && listing.names.every((_name, file) => index.has(listing, file)))
  copyFileSync(path, `${path}.tmp`)
  rmSync(path)
  copyFileSync(`${path}.tmp`, path)
  world.file('b.png', image(2), after(2))
  const moved = walkImageFolder(world.folder, false)
  t.ok(moved.names.every((_name, file) => index?.has(moved, file) === false))
  t.hasStrict(await scan(world), { scanned: 2, known: 0, duplicate: 2 })
  t.hasStrict(await scan(world), { scanned: 2, known: 2 })
})

t.test('S-002 rows that must be looked at again undo the index: missed images and archived ones', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  await scan(world)
  t.ok(load(world))
  const [row] = world.rows()
  if (row === undefined) throw new Error('no row')
  await world.put({ ...row, classification: 'source_missing' })
  t.equal(load(world), null)
  await scan(world)
  t.equal(load(world), null, 'what that one found again was still missed when it looked')
  await scan(world)
  t.ok(load(world))
  await world.put({ ...row, archived_at: after(0) })
  t.equal(load(world), null)
})

t.test('S-154 an image that is missed after a scan that found another one is looked at by the next one', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  world.file('b.png', image(2), after(1))
  await scan(world)
  const [first, second] = world.rows()
  if (first === undefined || second === undefined) throw new Error('no rows')
  await world.put({ ...first, classification: 'source_missing' })
  await scan(world)
  await world.put({ ...second, classification: 'source_missing' })
  t.equal(load(world), null, 'as many rows hide as when that one began')
  await scan(world)
  t.strictSame(world.rows().map(({ classification: as }) => as), [null, null])
})

t.test('S-154 an image that is missed while a scan is under way is looked at by the next one', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1), after(0))
  await scan(world)
  const [row] = world.rows()
  if (row === undefined) throw new Error('no row')
  const written = new Date()
  const unfinished = world.file('b.png', image(2), written.toISOString())
  writeFileSync(unfinished, image(2).subarray(0, 40))
  utimesSync(unfinished, written, written)
  world.file('c.png', image(3), after(1))
  const clock = {
    ...systemClock,
    wallMs: () => written.getTime(),
    // Between the look at the rows and the index: an analysis that found the file away just then.
    sleep: async (ms: number) => {
      if (ms === 300) await world.put({ ...row, classification: 'source_missing' })
    },
  }
  const ran = await world.run(['shots', 'scan', '--json'], { clock })
  t.hasStrict(ran.json(), { ingested: 1, deferred: 1 })
  t.equal(world.rows().find((one) => one.observation_id === row.observation_id)?.classification,
    'source_missing')
  await scan(world)
  t.equal(world.rows().find((one) => one.observation_id === row.observation_id)?.classification,
    null, 'it is found again')
})

t.test('S-002 only files with a committed row are ever written into it', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 4; i += 1) world.file(`${i}.png`, image(i), after(i))
  const ran = await world.run(['shots', 'scan', '--json', '--limit', '2'])
  t.hasStrict(ran.json(), { ingested: 2, deferred: 2 })
  t.equal(load(world)?.count, 2)
  const view = world.view()
  const { storeId } = world.open()
  const folder = view.all(c.folders)[0]?.doc.root_digest ?? ''
  const binding = bindingOf(view, storeId, folder, hiddenRows(view, folder))
  t.equal(binding?.receipt_sha256, digestOf(view.get(receiptCollections.receipts, receiptIdOf(1))))
  const runDir = world.place.path('elsewhere')
  mkdirSync(runDir)
  const listing = walkImageFolder(world.folder, false)
  if (binding === null) throw new Error('no binding')
  writeKnownIndex(runDir, binding, listing, new Uint8Array(listing.count))
  t.equal(loadKnownIndex(runDir, view, storeId, binding.root_digest)?.count, 0)
})

/** Other bytes in place: size, time of modification and inode stay. */
const rewrite = (path: string, bytes: Buffer): void => {
  const { atime, mtime, size, ino } = statSync(path)
  if (bytes.length > size) throw new Error('more bytes than before')
  writeFileSync(path, Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]), { flag: 'r+' })
  utimesSync(path, atime, mtime)
  const after = statSync(path)
  if (after.size !== size || after.ino !== ino || after.mtimeMs !== mtime.getTime()) {
    throw new Error('the facts of the file changed')
  }
}

t.test('S-002 S-061 other bytes in place are read although size, modification time and inode stay, with the index and without', async (t) => {
  const world = await World.in(t).state().session().images()
  const large = (i: number): Buffer => Buffer.concat([image(i), Buffer.alloc(4_000)])
  const path = world.file('a.png', large(1))
  await scan(world)
  rewrite(path, image(2))
  t.hasStrict((await world.run(['shots', 'explain', path, '--json'])).json().now, {
    changed: true, scan_would: 'read',
  })
  t.hasStrict(await scan(world), { known: 0, ingested: 1 })
  rewrite(path, image(3))
  rmSync(indexFile(world))
  t.hasStrict(await scan(world), { known: 0, ingested: 1 })
  t.hasStrict(await scan(world), { known: 1, recorded: false })
  t.equal(world.rows().length, 3)
})

t.test('S-002 S-131 files that were only linked or given other rights are read once more, after new ones, and counted nowhere', async (t) => {
  const world = await World.in(t).state().session().images()
  const paths = [1, 2, 3, 4].map((i) => world.file(`${i}.png`, image(i), after(i)))
  await scan(world)
  const rows = world.rows()
  for (const path of paths) chmodSync(path, 0o400)
  linkSync(paths[0] ?? '', world.place.path('elsewhere.png'))
  world.file('new.png', image(9), after(9))
  const limited = ['shots', 'scan', '--json', '--limit', '2']
  t.hasStrict((await world.run(limited)).json(), {
    ingested: 1, duplicate: 1, known: 0, deferred: 3, reasons: { over_limit: 3, same_bytes: 1 },
  })
  t.equal(load(world)?.count, 5, 'those that wait are in the index as such')
  t.hasStrict((await world.run(limited)).json(), { duplicate: 4, known: 2, deferred: 1 })
  rmSync(indexFile(world))
  t.hasStrict((await world.run(limited)).json(), { duplicate: 5, known: 4, deferred: 0 })
  t.hasStrict(await scan(world), { known: 5, recorded: false })
  rmSync(indexFile(world))
  t.hasStrict(await scan(world), { known: 5, recorded: false })
  t.strictSame(world.rows().filter(({ paths: [path] }) => path?.name.text !== 'new.png'), rows)
  const [folder] = world.view().all(c.folders)
  t.hasStrict(folder?.doc, { observations: 5, duplicates: 0, suppressed: 0, rejected: 0 })
})
