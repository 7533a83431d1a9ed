/** When jobs last ran: one answer, wherever it is asked, however many other jobs ran since. */
import { isoFromMs } from '../../src/base/clock.js'
import { lastRuns } from '../../src/shots/last-runs.js'
import { shotCollections } from '../../src/shots/observations/observation-rows.js'
import { appendReceipt, receiptOf } from '../../src/shots/receipts/append.js'
import {
  receiptCollections, receiptHeadId, type ShotReceipt,
} from '../../src/shots/receipts/receipt-rows.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

/** More than the looks that a head of an earlier program costs. */
const many = 25
const noHead = { number: 0, sha256: null }

t.test('the last analysis is told by status and timers however many scans wrote receipts since', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  must(await world.prove('screenshot'))
  world.file('a.png', image(1))
  must(await world.run(['shots', 'scan', '--json']))
  must(await world.run(['shots', 'analyze', '--json']))
  const store = world.open('write')
  const head = () => store.read().get(receiptCollections.head, receiptHeadId)
  const { at, job } = receiptOf(store.read(), head()?.number ?? 0) as ShotReceipt
  t.equal(job, 'screenshot_folder_analysis')
  const asked = async () => [
    (await world.json(['status'])).last_runs.analyze,
    (await world.json(['timers', 'show'])).last_runs.analyze,
  ]
  t.strictSame(await asked(), [at, at])
  const scan = receiptOf(store.read(), 1) as ShotReceipt & { job: 'screenshot_folder_ingest' }
  await store.transact('scans', (tx) => {
    for (let n = 1; n <= many; n += 1) {
      appendReceipt(tx, isoFromMs(Date.parse(at) + n), scan.job, scan.facts)
    }
  })
  t.strictSame(await asked(), [at, at])
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('a run whose receipt an earlier program wrote is looked for among the newest', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  must(await world.prove('screenshot'))
  world.file('a.png', image(1))
  must(await world.run(['shots', 'scan', '--json']))
  must(await world.run(['shots', 'analyze', '--json']))
  const before = (await world.json(['status'])).last_runs
  await world.open('write').transact('an earlier program', (tx) => {
    const { number, sha256 } = tx.get(receiptCollections.head, receiptHeadId) ?? noHead
    tx.put(receiptCollections.head, receiptHeadId, { number, sha256 })
  })
  t.strictSame((await world.json(['status'])).last_runs, before)
  t.type(before.analyze, 'string')
})

t.test('a look that found nothing new is the last scan in status, timers, the status of images with its folders, and the overview', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  must(await world.run(['shots', 'scan', '--json']))
  const { last_scan_at: first } = (await world.json(['shots', 'status'])).screenshot_folder
  must(await world.run(['shots', 'scan', '--json']))
  const { screenshot_folder: told } = await world.json(['shots', 'status'])
  t.ok(told.last_scan_at > first)
  const at = await serving(t, world)
  t.strictSame([
    told.roots.map(({ last_scan_at: one }: { last_scan_at: string }) => one),
    (await world.json(['status'])).last_runs.scan,
    (await world.json(['timers', 'show'])).last_runs.scan,
    (await at.get('/api/overview')).folder.last_scan_at,
    (await at.get('/api/settings/artifact-storage')).screenshot_folder.last_scan_at,
  ], [[told.last_scan_at], ...Array<string>(4).fill(told.last_scan_at)])
})

t.test('of several folders the newest look is the last scan', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1))
  must(await world.run(['shots', 'scan', '--json']))
  const store = world.open('write')
  const [row] = store.read().all(shotCollections.folders)
  if (row === undefined) throw new Error('a folder that was looked at has a row')
  const { id, doc } = row
  const { scan: newest } = lastRuns(store, store.read())
  t.type(newest, 'string')
  const before = '2026-01-01T00:00:00.000Z'
  await store.transact('other folders', (tx) => {
    for (const digit of ['0', 'f']) {
      tx.put(shotCollections.folders, digit.repeat(id.length), {
        ...doc, last_scan: doc.last_scan === null ? null : { ...doc.last_scan, at: before },
      })
    }
  })
  t.equal(lastRuns(store, store.read()).scan, newest)
  t.equal((await world.json(['timers', 'show'])).last_runs.scan, newest)
})
