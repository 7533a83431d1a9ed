/** Areas that do not count, through scans: what they merge, what they never do, and who says so. */
import sharp from 'sharp'
import { ignoredOf } from '../../src/shots/source/ignored.js'
import { writePng } from '../support/images/png-writer.js'
import { after } from '../support/observations.js'
import { fileOf, observedScan as scan } from '../support/observed-scan.js'
import { rowOf, set } from '../support/shots.js'
import { sha256 } from '../support/sha256.js'
import { t } from '../support/tests-in-slices.js'
import { World, type ImageWorld } from '../world/world.js'

const [width, height] = [320, 200]
/** Where the clock of these screens stands. */
const clock = '320x200:250,10,40,12'

/** A screen with a clock; `page` is what else is on it. */
const screen = (time: number, page = 0): Buffer => writePng({
  width, height, depth: 8, colour: 2,
  sample: (x, y) => {
    if (x >= 250 && x < 290 && y >= 10 && y < 22) return (time * 53 + (x >> 2) * 17) % 256
    return y > 60 && y < 68 && x < 200 ? 200 - page : 240
  },
})

const begin = async (test: Parameters<typeof World.in>[0]): Promise<ImageWorld> =>
  World.in(test).state().session().images()

const digest = ignoredOf([clock])(width, height)?.sha256

t.test('S-070 S-072 a clock in an ignored area makes no new image, for a reason of its own that everything knows', async (t) => {
  const world = await begin(t)
  await set(world, '--ignore', clock)
  for (let minute = 0; minute < 4; minute += 1) {
    world.file(`${minute}.png`, screen(minute), after(minute * 60_000))
  }
  world.file('9.png', screen(9, 40), after(300_000))
  t.hasStrict(await scan(world), {
    ingested: 2, suppressed: 3, reasons: { alike_outside_ignored: 3 },
  })
  t.strictSame(rowOf(world, '0.png').screenshot_visual_run?.reason_counts,
    { alike_outside_ignored: 3 })
  t.equal(rowOf(world, '0.png').ignored_sha256, digest)
  t.hasStrict(fileOf(world, '1.png'), {
    reason: 'alike_outside_ignored', measure: 0, ignored_sha256: digest,
    compared: { representative_sha256: sha256(screen(0)), difference: 0 },
  })
  t.hasStrict(fileOf(world, '9.png'), { reason: 'looks_different' }, 'a changed page is news')
  t.equal((await world.run(['state', 'check'])).status, 0)
  const explained = await world.run(['shots', 'explain', `${world.folder}/1.png`])
  const told = explained.stdout.replace(/\s+/g, ' ')
  t.match(told, 'equal to the image before but for pixels in ignored areas, which do not count')
  t.match(told, `ignored: ${clock}, which do not count`)
  t.match((await world.run(['shots', 'status'])).stdout, clock)
  t.strictSame((await world.run(['shots', 'status', '--json'])).json().screenshot_folder.ignored,
    [clock])
  const report = await world.run(['shots', 'report', '--since', after(-1), '--until',
    after(600_000), '--json'])
  t.strictSame(report.json().report.provenance.ignored, { areas: [clock], observations: 1 })
  const page = await world.run(['shots', 'report', '--since', after(-1), '--until', after(600_000)])
  t.match(page.stdout, `ignored areas: ${clock}`)
  t.match(page.stdout, '1 observation standing for images that differ there')
})

t.test('S-071 S-072 an image that is the same as a whole is never told as alike but for ignored areas', async (t) => {
  const world = await begin(t)
  await set(world, '--ignore', clock)
  world.file('0.png', screen(1))
  world.file('1.png', writePng({
    width, height, depth: 8, colour: 2, interlaced: true,
    sample: (x, y) => {
      if (x >= 250 && x < 290 && y >= 10 && y < 22) return (53 + (x >> 2) * 17) % 256
      return y > 60 && y < 68 && x < 200 ? 200 : 240
    },
  }), after(1_000))
  world.file('2.png', screen(1, 1), after(2_000))
  t.hasStrict(await scan(world), { suppressed: 2, reasons: { same_picture: 1, looks_alike: 1 } })
})

t.test('S-071 an image for which other areas were ignored is compared with none, and the next run begins', async (t) => {
  const world = await begin(t)
  world.file('0.png', screen(0))
  await scan(world)
  await set(world, '--ignore', clock)
  world.file('1.png', screen(1), after(1_000))
  world.file('2.png', screen(2), after(2_000))
  t.hasStrict(await scan(world), { ingested: 1, suppressed: 1 })
  t.equal(fileOf(world, '1.png')?.reason, 'ignored_changed')
  await set(world, '--no-ignore')
  // The very bytes that were held back for an area that counts again are looked at anew.
  world.file('again.png', screen(2), after(3_000))
  world.file('same.png', screen(0, 1), after(4_000))
  t.hasStrict(await scan(world), { ingested: 2, duplicate: 3, known: 3 })
  t.equal(fileOf(world, 'again.png')?.reason, 'ignored_changed')
  t.equal(rowOf(world, 'again.png').ignored_sha256, undefined)
  await set(world, '--ignore', '640x400:0,0,40,12')
  world.file('like.png', screen(0, 2), after(5_000))
  t.hasStrict(await scan(world), { reasons: { looks_alike: 1 } }, 'areas of another size')
  t.equal((await world.run(['state', 'check'])).status, 0)
  const explained = await world.run(['shots', 'explain', `${world.folder}/2.png`])
  t.match(explained.stdout.replace(/\s+/g, ' '), 'areas that are no longer the ones in force')
})

t.test('S-071 areas that change between the comparison and the record are noticed, and the pictures compared again', async (t) => {
  for (const [before, then, outcome] of [
    [[], [clock], { ingested: 1, suppressed: 1, reasons: { alike_outside_ignored: 1 } }],
    [[clock], [], { ingested: 2, suppressed: 0, reasons: {} }],
    [[clock], ['320x200:0,60,200,8'], { ingested: 2, suppressed: 0, reasons: {} }],
  ] as const) {
    const world = await begin(t)
    const save = (areas: readonly string[]) =>
      set(world, '--no-ignore', ...areas.flatMap((area) => ['--ignore', area]))
    await save(before)
    world.file('0.png', screen(0))
    // Faint enough for cells to let it pass.
    world.file('1.png', faint(1), after(1_000))
    world.file('0.png', faint(0))
    let steps = 0
    const receipt = await scan(world, {}, async (step) => {
      if (step === 'scan.writing' && (steps += 1) === 1) await save(then)
    })
    t.hasStrict(receipt, outcome, `${before.join()} becomes ${then.join()}`)
    const now = ignoredOf([...then])(width, height)?.sha256
    t.equal(rowOf(world, '0.png').ignored_sha256, now)
    t.equal((await world.run(['state', 'check'])).status, 0)
  }
})

/** A clock whose digits weigh the same in every cell. */
const faint = (time: number): Buffer => writePng({
  width, height, depth: 8, colour: 2,
  sample: (x, y) => {
    const isClock = x >= 256 && x < 288 && y >= 10 && y < 18
    return isClock ? ((x + time) % 8 < 4 ? 120 : 180) : 240
  },
})

t.test('S-070 S-072 JPEGs of a still screen with a clock are one run, whatever wrote them', async (t) => {
  const world = await begin(t)
  await set(world, '--ignore', clock)
  const jpeg = (time: number, quality: number, progressive: boolean, page = 0): Promise<Buffer> =>
    sharp(screen(time, page)).jpeg({ quality, progressive }).toBuffer()
  world.file('0.jpg', await jpeg(0, 90, false))
  world.file('1.jpg', await jpeg(1, 90, false), after(1_000))
  world.file('2.jpg', await jpeg(2, 90, true), after(2_000))
  world.file('3.jpg', await jpeg(3, 80, false), after(3_000))
  world.file('4.jpg', await jpeg(4, 90, false, 60), after(4_000))
  t.hasStrict(await scan(world), {
    ingested: 2, suppressed: 3, reasons: { alike_outside_ignored: 3 },
  })
  t.hasStrict(fileOf(world, '4.jpg'), { outcome: 'ingested' })
})

t.test('S-070 images that change in one small area only are counted, and the command that is told keeps them from being new ones', async (t) => {
  const world = await begin(t)
  const take = async (from: number, to: number) => {
    for (let minute = from; minute < to; minute += 1) {
      world.file(`${minute}.png`, screen(minute), after(minute * 60_000))
    }
    return scan(world)
  }
  const first = await take(0, 2)
  t.strictSame(first.small_changes, { images: 1, area: null, area_images: 0, next: [] })
  const area = '320x200:248,8,48,16'
  const next = [{ command: `sallyport shots setup --ignore ${area}`, needs_person: true }]
  t.strictSame((await take(2, 6)).small_changes, { images: 4, area, area_images: 5, next })
  const status = async () =>
    (await world.run(['shots', 'status', '--json'])).json().screenshot_folder.small_changes
  t.strictSame(await status(), { images: 5, area, area_images: 5, next })
  t.match((await world.run(['shots', 'status'])).stdout, next[0]!.command)
  t.equal((await world.run(['state', 'check'])).status, 0)
  await set(world, ...next[0]!.command.split(' ').slice(3))
  t.strictSame(await status(), { images: 5, area: null, area_images: 0, next: [] },
    'what is ignored is not told again')
  const receipt = await take(6, 10)
  t.hasStrict(receipt, { ingested: 1, suppressed: 3 })
  t.equal(receipt.small_changes, undefined)
  world.file('page.png', writePng({
    width, height, depth: 8, colour: 2, sample: (x, y) => (x * 3 + y) % 256,
  }), after(3_600_000))
  t.equal((await scan(world)).small_changes, undefined, 'another page is no small change')
  t.equal((await status()).images, 5)
  const many = Array.from({ length: 16 }, (_, i) => `320x200:${i * 8},100,4,4`)
  await set(world, '--no-ignore', ...many.flatMap((one) => ['--ignore', one]))
  t.strictSame((await status()).next, [], 'no command is told that would be refused')
})

t.test('S-070 where two pictures were compared the small area is told to the pixel', async (t) => {
  const world = await begin(t)
  for (let minute = 0; minute < 5; minute += 1) {
    world.file(`${minute}.png`, faint(minute), after(minute * 60_000))
  }
  const { small_changes: small } = await scan(world)
  t.hasStrict(small, { images: 4, area: '320x200:256,10,32,8', area_images: 4 })
  t.hasStrict(fileOf(world, '1.png'), { reason: 'picture_differs' })
  t.strictSame(rowOf(world, '1.png').changed_region, { x: 259, y: 10, width: 29, height: 8 })
})
