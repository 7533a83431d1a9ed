/** What looks alike is compared whole, with what the representative's row says it was. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import {
  shotCollections as c, type SeenFile,
} from '../../src/shots/observations/observation-rows.js'
import { fileIdOf } from '../../src/shots/observations/observation-store.js'
import { Confirmer } from '../../src/shots/scan/confirm.js'
import type { TakenFile } from '../../src/shots/scan/types.js'
import { Unconfirmed } from '../../src/shots/scan/unconfirmed.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import { writePng } from '../support/images/png-writer.js'
import { after, observationOf } from '../support/observations.js'
import { fileOf, observedScan as scan } from '../support/observed-scan.js'
import { rowOf } from '../support/shots.js'
import { sha256 } from '../support/sha256.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

/** A lamp on a wall; every picture has as many bytes as any other. */
const lamp = (...colour: readonly number[]): Buffer => writePng({
  width: 64, height: 48, depth: 8, colour: 2, level: 0,
  sample: (x, y, channel) => ((x >> 4) === 1 && (y >> 4) === 1 ? colour[channel] ?? 0 : 240),
})
/** All of the same grey. */
const [red, green, blue] = [lamp(255, 0, 0), lamp(0, 130, 0), lamp(10, 122, 15)]

t.test('S-070 S-071 an image that became the representative meanwhile is what the file is compared with', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('red.png', red)
  await scan(world)
  world.file('new.png', lamp(254, 1, 0), after(9000))
  let steps = 0
  const receipt = await scan(world, {}, async (step) => {
    if (step !== 'scan.writing' || (steps += 1) !== 1) return
    world.file('green.png', green, after(8000))
    t.hasStrict(await scan(world, { limit: 1 }), { ingested: 1, deferred: 1 })
  })
  t.hasStrict(receipt, { ingested: 1, suppressed: 0 })
  t.hasStrict(fileOf(world, 'new.png'), {
    reason: 'picture_differs',
    compared: { representative_sha256: sha256(green), difference: null },
  })
})

t.test('S-071 S-072 the representative is compared by the bytes of its row, from whichever path holds them', async (t) => {
  const world = await World.in(t).state().session().images()
  const first = world.file('red.png', red)
  await scan(world)
  copyFileSync(first, join(world.folder, 'copy.png'))
  await scan(world)
  // Whoever overwrites the file makes no repeat of what it was.
  world.file('red.png', green, after(7000))
  world.file('like-green.png', lamp(0, 131, 0), after(5000))
  world.file('like-red.png', lamp(254, 0, 0), after(4000))
  t.hasStrict(await scan(world, { limit: 2 }), { ingested: 1, suppressed: 1 })
  t.strictSame(fileOf(world, 'like-red.png')?.compared,
    { representative_sha256: sha256(red), difference: 1 })
  t.hasStrict(fileOf(world, 'like-green.png'), { reason: 'picture_differs' })
})

t.test('S-071 with no path that holds the bytes of the representative, nothing is merged with it', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('red.png', red)
  await scan(world)
  world.file('red.png', green, after(7000))
  world.file('like.png', lamp(1, 131, 0), after(4000))
  t.hasStrict(await scan(world, { limit: 1 }), { ingested: 1, suppressed: 0 })
  t.hasStrict(fileOf(world, 'like.png'), { reason: 'representative_gone' })
  t.strictSame(fileOf(world, 'like.png')?.compared,
    { representative_sha256: sha256(red), difference: null })
})

t.test('S-070 a file that always finds another representative is taken in after some tries', async (t) => {
  const world = await World.in(t).state().session().images()
  const { folder } = world
  const confirmer = new Confirmer({
    folder, folderDigest: folderDigestOf(folder), refreshMs: 1, ignored: () => null,
    view: world.view(),
    store: world.ctx('read').gov.store, nowMs: () => 0,
    examiner: {
      examine: () => { throw new Error('nothing is examined') },
      compare: async () => ({ verdict: 'same', difference: 0 }), close: async () => undefined,
    },
  })
  world.file('red.png', red)
  const file = {
    file: 0, name: { text: 'red.png', bytes_base64: null }, sha256: sha256(red),
  } as TakenFile
  const representative = observationOf(folder, 'red.png', {
    sha256: sha256(red), bytes: red.length,
  })
  const again = async () =>
    (await confirmer.again(new Unconfirmed(file, representative, null))).confirmed
  for (let tries = 0; tries < 3; tries += 1) {
    t.strictSame(await again(),
      { representativeSha256: sha256(red), verdict: 'same', difference: 0, ignoredSha256: null })
  }
  t.strictSame(await again(),
    { representativeSha256: null, verdict: 'not_compared', difference: null, ignoredSha256: null })
})

t.test('S-072 explain calls pictures equal only when they were compared whole, and tells the difference', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('red.png', red)
  const near = world.file('near.png', lamp(253, 2, 1), after(1000))
  const again = world.file('again.png', writePng({
    width: 64, height: 48, depth: 8, colour: 2, interlaced: true,
    sample: (x, y, channel) =>
      ((x >> 4) === 1 && (y >> 4) === 1 ? [255, 0, 0][channel]! : 240),
  }), after(2000))
  const other = world.file('blue.png', blue, after(3000))
  await scan(world)
  const told = async (path: string): Promise<string> =>
    (await world.run(['shots', 'explain', path])).stdout.replace(/\s+/g, ' ')
  t.match(await told(near), 'equal to the image before but for differences up to 2 levels of 255')
  t.match(await told(again), 'it is equal to the image before, in other bytes')
  t.match(await told(other), 'but the two pictures are not equal')
  t.hasStrict((await world.run(['shots', 'explain', near, '--json'])).json(), {
    visual_gate: { compared: { representative_sha256: sha256(red), difference: 2 } },
  })
  const row = fileOf(world, 'near.png')!
  const older: SeenFile = { ...row }
  delete older.compared
  await world.transact((tx) => {
    tx.put(c.files, fileIdOf(row.root_digest, row.name), older)
  })
  t.notMatch(await told(near), /equal/, 'a row of an earlier version compared cells alone')
})

t.test('S-072 S-075 JPEGs of two encoders and qualities are one run, and one changed letter ends it', async (t) => {
  const world = await World.in(t).state().session().images()
  const text = (word: string): Buffer => Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="64">'
    + '<rect width="100%" height="100%" fill="#fff"/>'
    + `<text x="8" y="38" font-size="14" fill="#ccc">${word}</text></svg>`)
  const jpeg = (word: string, quality: number, progressive: boolean): Promise<Buffer> =>
    sharp(text(word)).jpeg({ quality, progressive }).toBuffer()
  world.file('1.jpg', await jpeg('causal', 90, false))
  world.file('2.jpg', await jpeg('causal', 90, true), after(1000))
  world.file('3.jpg', await jpeg('causal', 75, false), after(2000))
  world.file('4.jpg', await jpeg('casual', 90, false), after(3000))
  t.hasStrict(await scan(world), {
    ingested: 2, suppressed: 2, reasons: { same_picture: 1, looks_alike: 1 },
  })
  t.equal(rowOf(world, '1.jpg').screenshot_visual_run?.suppressed_count, 2)
})
