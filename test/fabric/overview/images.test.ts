/**
 * The page and the report of a day tell of the same: where the page says that nothing waits, no
 * report of it says that something waits for a person.
 */
import { mkdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Waiting } from '../../../src/governance/waiting.js'
import { readOverview } from '../../../src/fabric/overview/overview.js'
import { shotsContext } from '../../../src/fabric/contexts/shots.js'
import { waitingCount } from '../../../src/observations/html/standing.js'
import type { ScreenReport } from '../../../src/observations/report.js'
import { reportPeriod } from '../../../src/shots/report/period.js'
import { reportShots } from '../../../src/shots/report/report.js'
import type { Observation } from '../../../src/shots/observations/observation-rows.js'
import { must } from '../../support/must.js'
import { image } from '../../support/png.js'
import { processWorld, serving } from '../../support/service/serving.js'
import { forImages } from '../../world/gateway.js'
import { allowed, type Images } from '../../world/images.js'
import type { SignedIn } from '../../world/session.js'
import type { Stateful } from '../../world/state.js'
import type { Loose, RunOptions } from '../../world/place.js'
import { World, type Placed } from '../../world/world.js'

type Begun = Placed & Stateful & SignedIn & Images

const soon = (): string => new Date(Date.now() - 60_000).toISOString()

interface Told {
  readonly page: readonly Waiting[]
  readonly report: number
  readonly all: readonly Waiting[]
}

const told = (all: readonly Waiting[], report: ScreenReport): Told => ({
  page: all.filter(({ what }) => what === 'images' || what === 'budget'),
  report: waitingCount(report), all,
})

/** What the page tells of images, and how many things the report of the day tells. */
const both = async (world: Begun): Promise<Told> => {
  const site = processWorld(world, new AbortController().signal)
  const gov = { ...world.gov, store: world.open() }
  const { report } = await reportShots(shotsContext(site, gov), {
    period: reportPeriod(world.clock.wallMs(), { timeZone: 'UTC' }), html: null, conclude: null,
  })
  return told((await readOverview(gov, world.session(), site)).waiting, report)
}

/** The same as the routes tell it. */
const served = async (t: Test, world: Begun): Promise<Told> => {
  const at = await serving(t, world)
  const { waiting } = await at.get('/api/overview')
  return told(waiting, (await at.get('/api/observer/screenshot-report')).report)
}

const settings = (world: Begun, ...flags: readonly string[]) =>
  world.run(['shots', 'config', 'set', ...flags]).then(must)

const scanned = async (world: Begun, ...names: readonly string[]): Promise<void> => {
  for (const [n, name] of names.entries()) world.file(name, image(n), soon())
  must(await world.run(['shots', 'scan', '--json']))
}

/** Every image becomes this. */
const become = async (world: Begun, change: (row: Observation) => Observation): Promise<void> =>
  world.put(...world.rows().map(change))

const failedBy = (reason: string) => (row: Observation): Observation =>
  ({ ...row, analysis_status: 'failed', analyzer: { ...row.analyzer, reason } })

const blockedBy = (reason: string) => (row: Observation): Observation =>
  ({ ...row, analysis_status: 'blocked', analyzer: { ...row.analyzer, reason } })

const closed = (t: Test) => World.in(t).state().session().images()
const open = (t: Test) => World.in(t).sandbox().state().session().gateway(forImages).images(allowed)

t.test('images of which nobody said whether they are analysed wait on the page as in the report; once a person switched that off they wait in neither', async (t) => {
  const world = await closed(t)
  await scanned(world, 'a.png', 'b.png')
  const unset = await served(t, world)
  t.strictSame(unset, await both(world))
  t.strictSame(unset.page, [{
    of: 'shots', what: 'images', count: 2,
    text: '2 images are not analysed: Analysis is not switched on.',
    command: 'sallyport shots setup --analysis on',
  }])
  t.equal(unset.report, 1)
  await settings(world, '--analysis', 'off')
  t.strictSame(await both(world), { page: [], report: 0, all: [] })
})

t.test('an upload that a person switched off waits for nobody, one that was never set does', async (t) => {
  const world = await closed(t)
  await settings(world, '--analysis', 'on')
  await scanned(world, 'a.png')
  const unset = await both(world)
  t.strictSame([unset.page.length, unset.report], [1, 1])
  t.match(unset.page[0]?.text, 'Cloud upload is not switched on')
  await settings(world, '--cloud-upload', 'off')
  t.strictSame(await both(world), { page: [], report: 0, all: [] })
})

t.test('failed images, damaged ones, ones in a subfolder and ones from before the consent wait in both, and the page leads to a look', async (t) => {
  const world = await open(t)
  await scanned(world, 'a.png')
  t.equal((await both(world)).page.some(({ what }) => what === 'budget'), false)
  for (const [change, command] of [
    [failedBy('http_status_402'), 'sallyport shots list --status failed'],
    [blockedBy('image_damaged'), 'sallyport shots list --status blocked'],
    [blockedBy('before_consent'), 'sallyport shots list --status blocked'],
  ] as const) {
    await become(world, change)
    const { page, report } = await both(world)
    t.strictSame(page.map((one) => [one.count, one.command]), [[1, command]])
    t.equal(report, 1)
  }
})

t.test('a budget that is overspent waits in both; one that is used up and frees itself waits in neither', async (t) => {
  const world = await open(t)
  must(await world.prove('screenshot'))
  await scanned(world, 'a.png', 'b.png')
  must(await world.run(['shots', 'analyze', '--json']))
  t.strictSame(await both(world), { page: [], report: 0, all: [] })
  await become(world, blockedBy('budget_exhausted'))
  await settings(world, '--budget-requests', '1')
  t.strictSame(await both(world), { page: [], report: 0, all: [] }, 'it frees itself')
  await settings(world, '--budget-microusd', '1', '--request-cost-bound-microusd', '1')
  const over = await both(world)
  t.match(over.page[0]?.text, /^The budget of the day is overspent by \$/)
  t.equal(over.page[0]?.command, 'sallyport shots setup --budget USD')
  t.strictSame([over.page.length, over.report], [1, 1])
})

t.test('images of a folder that is not in force any more, or cannot be used, wait as far as a report holds them', async (t) => {
  const world = await open(t)
  must(await world.prove('screenshot'))
  await scanned(world, 'a.png')
  must(await world.run(['shots', 'analyze', '--json']))
  await become(world, failedBy('http_status_500'))
  const shown = async (options: RunOptions = {}): Promise<Loose> =>
    must(await world.run(['shots', 'report', '--json'], options)).json().report.course.reasons[0]
  const other = world.place.path('other')
  mkdirSync(other)
  await settings(world, '--folder', other)
  const moved = await both(world)
  t.strictSame(moved, { page: [], report: 0, all: [] }, 'no step would send them again')
  const [row] = world.rows()
  const steps = async (): Promise<string> =>
    JSON.stringify((await must(world.run(['explain', row?.observation_id ?? '', '--json']))).json())
  t.notMatch(await steps(), 'shots reanalyze', 'nor is one named for the image')
  t.equal((await shown()).count, 1, 'the report says that it failed')
  t.match((await shown()).next, 'not in force')
  await settings(world, '--unset', 'screenshot_folder')
  const none = await both(world)
  t.strictSame(none, { page: [], report: 0, all: [] }, 'another one is in force')
  t.match((await shown({ env: { SVC_SCREENSHOT_FOLDER: 'nowhere' } })).next,
    '`sallyport shots setup --folder DIR`')
  await settings(world, '--folder', world.folder)
  t.match((await shown()).next, 'shots reanalyze --failed')
  t.match(await steps(), 'shots reanalyze')
  await become(world, (one) => ({ ...one, archived_at: new Date().toISOString() }))
  t.notMatch(await steps(), 'shots reanalyze', 'an archived one is not sent again')
  await become(world, (one) => ({ ...one, archived_at: null }))
  await settings(world, '--unset', 'screenshot_folder')
  await become(world, blockedBy('image_damaged'))
  const damaged = await both(world)
  t.strictSame([damaged.page.length, damaged.report], [1, 1])
})
