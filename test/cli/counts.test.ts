/**
 * What verbs ask of the disk and of Node, counted and not timed: a ceiling for each that reads,
 * over a state of nothing and over one of years (`test/support/cli/ceilings.ts`).
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  imageOf, seedAsks, seedImages, seedingGov, seedSessions, seedTexts,
} from '../../bench/seed.js'
import { isoFromMs } from '../../src/base/clock.js'
import {
  ceilings, overCeiling, uncounted, type Ceiling, type Counts,
} from '../support/cli/ceilings.js'
import { rounds, slice } from '../support/slice.js'
import type { Loose, Place } from '../world/place.js'
import { shippedApp } from '../world/process.js'
import { allRecords } from '../world/program.js'
import { World } from '../world/world.js'

const counting = join(process.cwd(), 'test/support/cli/counting.cjs')
const start = Date.UTC(2026, 10, 20, 10)
/** Has no divisor with the numbers of images: the order of capture is none of the ids. */
const stride = 7919
const texts = 20

/** A state with a session and a folder of images that were seen, none of them or many. */
const stateOf = async (t: Test, images: number): Promise<Place> => {
  const { place } = await World.in(t).state({ owner: 'ada' }).session()
  const folder = place.path('images')
  mkdirSync(folder)
  await place.json(['shots', 'config', 'set', '--folder', folder])
  if (images === 0) return place
  const gov = seedingGov(place)
  const now = isoFromMs(start)
  await seedImages(gov.store, folder, now, [0, images], (n) =>
    imageOf(folder, (n * stride) % images, start))
  let seen = 0
  await seedTexts(gov.store, now, ({ captured_at: at }) => {
    seen += 1
    return seen % (images / texts) === 0 ? `${at}: a harbour at low tide.` : null
  })
  await seedAsks(gov, 0, images / 100)
  await seedSessions(gov, images / 50)
  gov.store.close()
  return place
}

/** The newest row of each kind, as lines name it. */
const namesIn = async (place: Place): Promise<Readonly<Record<string, string>>> => {
  const first = async (line: string): Promise<Loose> => (await place.json(line.split(' ')))[0] ?? {}
  return {
    task: (await first('task list')).id ?? 'task_x',
    row: (await first('audit list')).id ?? 'aud_x',
    goal: (await first('goal list')).id ?? 'goal_x',
    image: (await first('shots list --limit 1')).observation_id ?? 'obs_x',
    text: (await first('shots list --status needs_reanalysis')).observation_id
      ?? (await first('shots list --status succeeded')).observation_id ?? 'obs_x',
  }
}

const countsOf = async (place: Place, argv: readonly string[]): Promise<Counts> => {
  const told = place.path('counts.json')
  const script = join(await shippedApp(), 'sallyport.js')
  const { status } = spawnSync(process.execPath, ['--require', counting, script, ...argv], {
    cwd: place.cwd, env: { ...place.env, SALLYPORT_COUNTS: told },
  })
  if (status === 2) throw new Error(`it is no line of the program: ${argv.join(' ')}`)
  return JSON.parse(readFileSync(told, 'utf8')) as Counts
}

/** What each line asks for more than it may. */
const overIn = async (
  place: Place, chosen: readonly Ceiling[], kind: 'empty' | 'full',
): Promise<readonly string[]> => {
  const names = await namesIn(place)
  const over: string[] = []
  for (const ceiling of chosen) {
    const argv = ceiling.line.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '')
    over.push(...overCeiling(ceiling, kind, await countsOf(place, argv.split(' '))))
  }
  return over
}

t.test('every verb that reads has its ceilings, and every other one is named with what it does', async (t) => {
  const verbs = (await allRecords()).map(({ meta }) => meta.name).sort()
  const counted = verbs.filter((name) =>
    ceilings.some(({ line }) => line === name || line.startsWith(`${name} `)))
  const named = Object.keys(uncounted)
  t.strictSame([...counted, ...named].sort(), verbs)
})

t.test('no verb that reads asks for more of the disk or of Node than it is known to, whatever there is of rows', async (t) => {
  const images = rounds('images', { short: 2_000, all: 100_000 })
  const chosen = slice('lines', ceilings, {
    axesOf: ({ line, always }) => [always ? line : line.split(' ', 1)[0] ?? ''],
    idOf: ({ line }) => line.replaceAll(' ', '_'),
  })
  t.strictSame(await overIn(await stateOf(t, 0), chosen, 'empty'), [], 'of nothing')
  t.strictSame(await overIn(await stateOf(t, images), chosen, 'full'), [], `of ${images} images`)
})
