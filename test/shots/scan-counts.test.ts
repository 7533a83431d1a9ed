/** A picture is counted once, however often its file is read, and one that is gone hides none. */
import { readdirSync, rmSync, statSync, unlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  shotCollections as c, type Observation,
} from '../../src/shots/observations/observation-rows.js'
import { scanFolder } from '../../src/shots/scan/scan.js'
import { verifyShots } from '../../src/shots/verify-shots.js'
import { writePng } from '../support/images/png-writer.js'
import { after, payloadRefOf } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { World, type ImageWorld } from '../world/world.js'
import { rowOf } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

/** The same picture but for one pixel, in other bytes. */
const like = (seed: number, other: number): Buffer =>
  greyPng(64, 48, (x, y) => {
    const cell = ((((x >> 4) + 3 * (y >> 4)) * 37 + seed * 101) * 53) & 0x7f
    return cell + (x + y === 0 ? other : 0)
  })

const scan = async (world: ImageWorld) => {
  const ctx = world.ctx('write')
  try {
    return await scanFolder(ctx)
  } finally {
    ctx.gov.store.close()
  }
}

const dropIndex = (world: ImageWorld): void => {
  const folder = join(world.place.stateDir, 'run/shots')
  for (const name of readdirSync(folder)) {
    if (name.startsWith('known-')) rmSync(join(folder, name))
  }
}

/** Everything that is counted of the folder and of each observation. */
const counts = (world: ImageWorld) => {
  const view = world.view()
  const [folder] = view.all(c.folders).map(({ doc }) => doc)
  return {
    root: [folder?.observations, folder?.visual_runs, folder?.suppressed, folder?.duplicates,
      folder?.rejected],
    rows: world.rows().map((row) => [
      row.observation_id, row.classification, row.screenshot_visual_run,
    ]),
    files: view.all(c.files).map(({ doc }) => [
      doc.name.text, doc.outcome, doc.reason, doc.observation_id,
    ]),
    // The analyses of these tests have no artifact.
    problems: verifyShots(view).filter(({ code }) => code !== 'payload_missing'),
  }
}

const fileOf = (world: ImageWorld, name: string) =>
  world.view().all(c.files).find(({ doc }) => doc.name.text === name)?.doc

const gone = async (world: ImageWorld, name: string, analysed: boolean): Promise<void> => {
  unlinkSync(join(world.folder, name))
  await world.put({
    ...rowOf(world, name), analysis_status: analysed ? 'succeeded' : 'pending',
    classification: 'source_missing', payload: analysed ? payloadRefOf() : null,
  })
}

const imagesOf = (row: Observation): number =>
  1 + (row.screenshot_visual_run?.suppressed_count ?? 0)

t.test('S-068 S-154 an image that is gone before it was analysed hides none that looks like it', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('r.png', like(1, 1))
  await scan(world)
  await gone(world, 'r.png', false)
  for (const n of [2, 3, 4]) world.file(`${n}.png`, like(1, n), after(n * 1000))
  t.hasStrict(await scan(world), { ingested: 1, suppressed: 2 })
  const [row] = world.rows().filter(({ classification }) => classification === null)
  t.equal(row?.paths[0]?.name.text, '2.png')
  t.equal(row?.screenshot_visual_run?.suppressed_count, 2)
})

t.test('S-068 look-alikes of an image that is gone unanalysed stand for it, and when it returns every file counts once', async (t) => {
  const world = await World.in(t).state().session().images()
  const bytes = like(1, 1)
  world.file('r.png', bytes)
  for (const [n, level] of [2, 3, 0].entries()) {
    world.file(`${n}.png`, like(1, level), after(1000 + n * 1000))
  }
  t.hasStrict(await scan(world), { ingested: 1, suppressed: 3 })
  await gone(world, 'r.png', false)
  t.hasStrict(await scan(world), { ingested: 1, suppressed: 2 })
  t.equal(rowOf(world, 'r.png').screenshot_visual_run, null)
  world.file('r.png', bytes)
  t.hasStrict(await scan(world), { duplicate: 4, known: 3, reasons: { found_again: 1 } })
  t.equal(world.rows().map(imagesOf).reduce((sum, images) => sum + images, 0), 4)
  t.strictSame(counts(world).problems, [])
})

t.test('S-068 S-071 an analysis goes on standing for its look-alikes when its file is gone, and nothing new is merged with what cannot be compared', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('r.png', like(1, 1))
  world.file('2.png', like(1, 2), after(1000))
  await scan(world)
  await gone(world, 'r.png', true)
  for (let round = 0; round < 3; round += 1) {
    dropIndex(world)
    t.hasStrict(await scan(world), { known: 1, ingested: 0, suppressed: 0 })
  }
  world.file('3.png', like(1, 3), after(2000))
  t.hasStrict(await scan(world), { known: 1, ingested: 1, suppressed: 0 })
  t.equal(rowOf(world, 'r.png').screenshot_visual_run?.suppressed_count, 1)
  t.equal(fileOf(world, '3.png')?.reason, 'representative_gone')
})

t.test('S-068 S-069 a file that is only touched is read again and counted nowhere again', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('r.png', like(1, 1))
  world.file('like.png', like(1, 2), after(1000))
  world.file('copy.png', like(1, 1), after(2000))
  world.file('bad.png', Buffer.from('not an image'), after(3000))
  await scan(world)
  const before = counts(world)
  t.strictSame(before.root, [1, 1, 1, 1, 1])
  for (const [n, name] of ['r.png', 'like.png', 'copy.png', 'bad.png'].entries()) {
    const time = new Date(after(3_600_000 + n))
    utimesSync(join(world.folder, name), time, time)
  }
  t.hasStrict(await scan(world), {
    scanned: 4, known: 0, duplicate: 4, reasons: { same_bytes: 4 }, problems: [],
  })
  t.strictSame(counts(world), before)
  t.hasStrict(await scan(world), { known: 4, recorded: false })
  const [row] = world.view().all(c.files).filter(({ doc }) => doc.name.text === 'like.png')
  const { mtimeNs } = statSync(join(world.folder, 'like.png'), { bigint: true })
  t.equal(row?.doc.modified_ns, String(mtimeNs))
})

type Step = 'scan' | 'index lost' | 'index lost, scan'

t.test('S-075 a screen that stands still in the very same bytes goes on being seen, and is counted once', async (t) => {
  const world = await World.in(t).state().session().images()
  const seenUntil = (name: string) => rowOf(world, name).screenshot_visual_run?.last_seen
  world.file('0.png', like(1, 1))
  world.file('1.png', like(1, 1), after(60_000))
  t.hasStrict(await scan(world), { ingested: 1, duplicate: 1 })
  t.equal(seenUntil('0.png'), after(60_000))
  world.file('2.png', like(1, 2), after(120_000))
  world.file('3.png', like(1, 2), after(180_000))
  t.hasStrict(await scan(world), { suppressed: 1, duplicate: 3 })
  t.equal(seenUntil('0.png'), after(180_000), 'also in the bytes of a repeat')
  t.hasStrict(rowOf(world, '0.png').screenshot_visual_run, {
    first_seen: after(0), suppressed_count: 1,
  })
  utimesSync(join(world.folder, '1.png'), new Date(after(600_000)), new Date(after(600_000)))
  await scan(world)
  t.equal(seenUntil('0.png'), after(180_000), 'a file that is touched is no new picture')
  world.file('6.png', like(1, 1), after(8 * 3_600_000))
  world.file('7.png', like(1, 1), '2999-01-01T00:00:00.000Z')
  await scan(world)
  t.equal(seenUntil('0.png'), after(180_000), 'nobody saw it in between, nor in the future')
  world.file('4.png', like(9, 1), after(240_000))
  await scan(world)
  world.file('5.png', like(1, 1), after(300_000))
  await scan(world)
  t.equal(seenUntil('0.png'), after(180_000), 'another one stands by then')
  t.strictSame(counts(world).problems, [])
})

t.test('S-131 however often a folder is scanned, with its index or without, the counts are those after one scan', async (t) => {
  let round = 0
  const world = await World.in(t).state().session().images()
  await fc.assert(fc.asyncProperty(
    fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 9 })), {
      minLength: 2, maxLength: 7,
    }),
    fc.subarray(['unanalysed', 'analysed'] as const),
    fc.array(fc.constantFrom<Step>('scan', 'index lost', 'index lost, scan'), {
      minLength: 2, maxLength: 3,
    }),
    async (pictures, missing, steps) => {
      round += 1
      for (const name of readdirSync(world.folder)) rmSync(join(world.folder, name))
      for (const [n, [seed, level]] of pictures.entries()) {
        world.file(`${round}-${n}.png`, like(seed * 31 + round, level), after(n * 1000))
      }
      await scan(world)
      const here = new Set(readdirSync(world.folder))
      for (const kind of missing) {
        const standing = world.rows().find((row) => row.classification === null
          && here.has(row.paths[0]?.name.text ?? ''))
        const name = standing?.paths[0]?.name.text
        if (name !== undefined) await gone(world, name, kind === 'analysed')
      }
      await scan(world)
      const before = counts(world)
      t.strictSame(before.problems, [])
      for (const step of steps) {
        if (step !== 'scan') dropIndex(world)
        if (step !== 'index lost') await scan(world)
      }
      t.strictSame(counts(world), before)
    },
  ), { numRuns: 5 })
})

t.test('S-070 S-071 a light that turns from red to green of the same grey is another picture', async (t) => {
  const light = (colour: readonly number[]): Buffer => writePng({
    width: 64, height: 48, depth: 8, colour: 2,
    sample: (x, y, channel) => ((x >> 4) === 1 && (y >> 4) === 1 ? colour[channel] ?? 0 : 240),
  })
  const world = await World.in(t).state().session().images()
  world.file('red.png', light([255, 0, 0]))
  world.file('green.png', light([0, 130, 0]), after(1000))
  world.file('green-again.png', light([0, 131, 2]), after(2000))
  t.hasStrict(await scan(world), { ingested: 2, suppressed: 1, reasons: { looks_alike: 1 } })
  const green = fileOf(world, 'green.png')
  t.hasStrict(green, { outcome: 'ingested', reason: 'picture_differs' })
  t.equal(green?.measure?.toFixed(2), '0.06', 'as the docs say')
  t.strictSame(green?.compared, {
    representative_sha256: rowOf(world, 'red.png').sha256, difference: null,
  })
  t.strictSame(fileOf(world, 'green-again.png')?.compared, {
    representative_sha256: rowOf(world, 'green.png').sha256, difference: 2,
  })
})
