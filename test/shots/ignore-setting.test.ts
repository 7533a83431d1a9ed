/** What may be ignored, how it is named, added, taken back and refused. */
import fc from 'fast-check'
import {
  areaText, changedIgnore, ignoredOf, ignoreLimits, isAreaText, toldAreaOf,
} from '../../src/shots/source/ignored.js'
import { settingsCollection, settingsId } from '../../src/shots/source/settings.js'
import { greyPng } from '../support/png.js'
import { set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { World, type ImageWorld } from '../world/world.js'

const begin = async (test: Parameters<typeof World.in>[0]): Promise<ImageWorld> =>
  World.in(test).state().session().images()

const [one, two, three] =
  ['1280x720:1200,0,80,20', '1920x1080:0,0,40,10', '1920x1080:1800,0,120,40'] as const

const shown = async (world: ImageWorld) =>
  (await world.run(['shots', 'config', 'show', '--json'])).json().settings.ignore

const code = async (world: ImageWorld, ...flags: string[]): Promise<string> => {
  const ran = await world.run(['shots', 'config', 'set', '--json', ...flags])
  t.equal(ran.status, 3, ran.stderr)
  return ran.error().code
}

t.test('areas are added, taken back one by one and all at once, and shown in order', async (t) => {
  const world = await begin(t)
  t.strictSame(await shown(world), { value: null, source: 'default', saved: null })
  const said = await set(world, '--ignore', three, one)
  t.match(said.stderr.replace(/\s+/g, ' '), 'They hide nothing: an image that is analysed is sent')
  t.strictSame(await shown(world), { value: [one, three], source: 'settings', saved: [one, three] })
  await set(world, '--ignore', two, '--ignore', three)
  t.strictSame((await shown(world)).value, [one, two, three], 'each once')
  t.match((await world.run(['shots', 'config', 'show'])).stdout, three)
  await set(world, '--no-ignore', one, '--ignore', '1280x720:0,0,8,8')
  t.strictSame((await shown(world)).value, ['1280x720:0,0,8,8', two, three])
  await set(world, '--no-ignore', '0,0,40,10')
  t.strictSame((await shown(world)).value, ['1280x720:0,0,8,8', three], 'of whichever size')
  await set(world, '--no-ignore', '--ignore', two)
  t.strictSame((await shown(world)).value, [two], 'all of before')
  await set(world, '--no-ignore')
  t.strictSame(await shown(world), { value: null, source: 'default', saved: null })
  await set(world, '--ignore', two)
  await set(world, '--unset', 'ignore')
  t.equal((await shown(world)).value, null)
  t.notMatch((await set(world, '--ingest-limit', '7')).stderr, /hide nothing/)
})

t.test('an area without a size is one of the newest image of the folder', async (t) => {
  const world = await begin(t)
  t.equal(await code(world, '--ignore', '0,0,8,8'), 'ignore_size_unknown')
  world.file('a.png', greyPng(64, 48, 1))
  await world.run(['shots', 'scan'])
  await set(world, '--ignore', '0,0,8,8')
  t.strictSame((await shown(world)).value, ['64x48:0,0,8,8'])
})

t.test('what cannot be an area, or would ignore too much, is refused and nothing is saved', async (t) => {
  const world = await begin(t)
  await set(world, '--ignore', two)
  for (const text of ['', '1,2,3', '01,0,1,1', '1920x1080:1,1,0,5', '1920x1080:1,1,5,0', '-1,0,5,5',
    '1920X1080:1,1,1,1', '1920x1080: 1,1,1,1', '0x0:0,0,1,1', '1e2,0,1,1', '1.5,0,1,1',
    '1920x1080:1,1,1,1\n', '999999999,0,1,1']) {
    t.equal(await code(world, '--ignore', text), 'ignore_malformed', JSON.stringify(text))
  }
  t.equal(await code(world, '--ignore', '1920x1080:1900,0,21,1'), 'ignore_outside')
  t.equal(await code(world, '--ignore', '1920x1080:0,1080,1,1'), 'ignore_outside')
  t.equal(await code(world, '--ignore', '64x48:0,0,64,48'), 'ignore_too_large', 'the whole screen')
  t.equal(await code(world, '--ignore', '64x48:0,0,64,13'), 'ignore_too_large')
  t.equal(await code(world, '--ignore', '64x48:0,0,64,8', '64x48:0,40,64,5'), 'ignore_too_large',
    'together')
  const many = Array.from({ length: 17 }, (_, i) => `1920x1080:${i * 10 + 100},0,5,5`)
  t.equal(await code(world, '--ignore', ...many.slice(0, 16)), 'ignore_too_many')
  const sizes = Array.from({ length: 8 }, (_, i) => `${640 + i}x480:0,0,5,5`)
  t.equal(await code(world, '--ignore', ...sizes), 'ignore_too_many')
  t.equal(await code(world, '--no-ignore', three), 'ignore_not_found')
  t.strictSame((await shown(world)).value, [two])
  t.equal(await code(world, '--ignore', ...many.slice(0, 15), ...sizes.slice(0, 7),
    '64x48:0,0,64,6', '--no-ignore', '640x480:0,0,5,5'), 'ignore_not_found',
  'with all of the rest in order')
  await set(world, '--no-ignore', '--ignore', '64x48:0,0,64,12')
  t.strictSame((await shown(world)).value, ['64x48:0,0,64,12'], 'a quarter is not too much')
  const refused = await world.run(['shots', 'config', 'set', '--ignore', 'sk-secret', '--json'])
  t.notMatch(refused.stdout + refused.stderr, /sk-secret/)
})

t.test('a document names the whole list, or what is added to it and taken from it', async (t) => {
  const world = await begin(t)
  const save = (document: object) => world.run(
    ['shots', 'config', 'set', '--from', '-', '--json'], { stdin: JSON.stringify(document) })
  t.equal((await save({ ignore: [three, two] })).status, 0)
  t.strictSame((await shown(world)).value, [two, three])
  t.equal((await save({ add_ignore: [one], remove_ignore: [two] })).status, 0)
  t.strictSame((await shown(world)).value, [one, three])
  t.equal((await save({ ignore: 'all' })).error().code, 'settings_invalid')
  t.equal((await save({ ignore: null })).status, 0)
  t.equal((await shown(world)).value, null)
})

t.test('two who add an area at once both find theirs', async (t) => {
  const world = await begin(t)
  await Promise.all([one, two, three].map((area) => set(world, '--ignore', area)))
  t.strictSame((await shown(world)).value, [one, two, three])
})

t.test('settings of an earlier version ignore nothing', async (t) => {
  const world = await begin(t)
  await set(world, '--ingest-limit', '7')
  const older = { ...world.view().get(settingsCollection, settingsId)! }
  delete older.ignore
  await world.transact((tx) => void tx.put(settingsCollection, settingsId, older))
  t.equal((await shown(world)).value, null)
  const status = await world.run(['shots', 'status', '--json'])
  t.strictSame(status.json().screenshot_folder.ignored, [])
  await set(world, '--ignore', one)
  t.strictSame((await shown(world)).value, [one])
})

t.test('an area is read from its text and no other, and its digest asks for no order', async (t) => {
  const part = fc.integer({ min: 1, max: 99_999_999 })
  fc.assert(fc.property(part, part, fc.nat(99_999_999), part, (screenWidth, width, x, height) => {
    const text = areaText({ screenWidth, screenHeight: width, x, y: 0, width, height })
    const told = toldAreaOf(text)
    return isAreaText(text) && told?.x === x && told.height === height
      && told.screen?.width === screenWidth && told.screen.height === width
  }))
  fc.assert(fc.property(fc.string(), (text) =>
    toldAreaOf(text) === null || /^[\dx:,]+$/.test(text)))
  const [here, turned] = [[two, three], [three, two]].map((areas) => ignoredOf(areas)(1920, 1080))
  t.equal(here?.sha256, turned?.sha256)
  t.not(here?.sha256, ignoredOf([two])(1920, 1080)?.sha256)
  t.equal(ignoredOf([two])(1920, 1081), null)
  t.equal(ignoredOf([two])(null, null), null)
  t.equal(changedIgnore([two], {}, () => null), undefined)
  t.equal(ignoreLimits.areasPerSizeMax, 16)
})
