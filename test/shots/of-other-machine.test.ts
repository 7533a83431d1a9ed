/** Files of an image folder are looked at by its machine alone; its rows are read by all. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { handOver, machineBoundCollection } from '../../src/governance/machine-bound.js'
import { analyzeBatch } from '../../src/shots/analysis/batch.js'
import { reanalyzeOne } from '../../src/shots/analysis/reanalyze.js'
import { clearStale } from '../../src/shots/clear-stale.js'
import { folderVariable } from '../../src/shots/constants.js'
import type { ShotsContext } from '../../src/shots/context.js'
import { estimateDay } from '../../src/shots/estimate/estimate.js'
import { explainPath } from '../../src/shots/explain.js'
import { currentFacts, rowClassificationNow } from '../../src/shots/observations/as-of-now.js'
import { openPicture } from '../../src/shots/picture/picture.js'
import { scanFolder } from '../../src/shots/scan/scan.js'
import { saveShotsConfig, showShotsConfig } from '../../src/shots/source/config.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import { readShotsStatus } from '../../src/shots/status/status.js'
import { watchFolder } from '../../src/shots/watch/watch.js'
import { betweenLookAndRecord } from '../support/between.js'
import { onMachine } from '../support/on-machine.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { World, type ImageWorld } from '../world/world.js'

const refused = { kind: 'rejected', code: 'of_other_machine' }

const image = (shade: number): Buffer => greyPng(64, 64, (x, y) => (x * shade + y) % 256)

const listener = { ready: () => undefined, tick: () => undefined, trouble: () => undefined }

/** The context of a machine, over one store; `folder`: what its environment names. */
const on = (ctx: ShotsContext, machine: string, folder?: string): ShotsContext => ({
  ...ctx, gov: { ...ctx.gov, store: onMachine(ctx.gov.store, machine) },
  env: folder === undefined ? ctx.env : { ...ctx.env, [folderVariable]: folder },
})

const boundIn = (world: ImageWorld) => world.view().all(machineBoundCollection)

t.test('a folder is of the machine that saved it: whatever reads its files is refused on another one by name, and changes nothing', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const session = world.session()
  const ctx = world.ctx('write')
  const [a, b] = [on(ctx, 'a'), on(ctx, 'b')]
  const { store } = ctx.gov
  const { folder } = world
  const digest = folderDigestOf(folder)
  await saveShotsConfig(a, session, { screenshot_folder: folder })
  t.strictSame(boundIn(world), [{ id: `shots_folder/${digest}`, doc: { machine: 'a' } }])
  const path = world.file('one.png', image(3))
  t.hasStrict(await scanFolder(a), { ingested: 1 })
  const [row] = world.rows()
  const id = row?.observation_id ?? ''
  const { sequence } = store.read()
  const reason = 'manual_operator_request'
  const attempts: Readonly<Record<string, () => unknown>> = {
    scan: () => scanFolder(b),
    'scan of the same path': () => scanFolder(b, { folder }),
    watch: () => watchFolder(b, listener),
    analyze: () => analyzeBatch(b, { scheduled: false }),
    reanalyze: () => reanalyzeOne(b, session, { target: id, reason }),
    estimate: () => estimateDay(b, { day: '2026-11-20', timeZone: 'UTC' }),
    picture: () => openPicture(b, session, id),
    config: () => saveShotsConfig(b, session, { screenshot_folder: folder }),
  }
  for (const [name, attempt] of Object.entries(attempts)) {
    await t.rejects(async () => attempt(), { ...refused, details: { machine: 'a' } }, name)
  }
  t.equal(store.read().sequence, sequence, 'nothing was written')
  t.equal(showShotsConfig(b, store.read()).folder.problem, 'of_other_machine')
  t.equal(showShotsConfig(a, store.read()).folder.problem, null)
  const site = { clock: world.clock, stateDir: world.place.stateDir }
  const { screenshot_folder: told } = readShotsStatus({ ...site, state: { ctx: b } })
  t.hasStrict(told, { summary_failure: 'of_other_machine', local_scan_status: 'ok' })
  t.match(explainPath(b, store.read(), path).now.why, 'on another machine')
  t.match(explainPath(a, store.read(), path).now.why, 'has not changed')
  await store.transact('test', (tx) => handOver(b.gov.store, tx, 'a'))
  await t.rejects(scanFolder(a), refused)
  t.hasStrict(await scanFolder(b), { ingested: 0 })
  const back = on(ctx, 'a-again')
  await store.transact('test', (tx) => handOver(back.gov.store, tx, 'b'))
  await t.rejects(scanFolder(a), refused)
  t.hasStrict(await scanFolder(a, { folder }), { ingested: 0 }, 'a person names it')
})

t.test('two machines have a folder each: neither calls the images of the other stale, nor archives them', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const session = world.session()
  const ctx = world.ctx('write')
  const { store } = ctx.gov
  const other = world.place.path('other')
  mkdirSync(other)
  const [a, b] = [on(ctx, 'first', world.folder), on(ctx, 'b', other)]
  world.file('one.png', image(3))
  writeFileSync(join(other, 'two.png'), image(7))
  t.hasStrict(await scanFolder(a), { ingested: 1 })
  t.hasStrict(await scanFolder(b), { ingested: 1 })
  t.strictSame(new Set(boundIn(world).map(({ doc }) => doc.machine)), new Set(['first', 'b']))
  for (const one of [a, b]) {
    const now = currentFacts(one, store.read())
    t.strictSame(world.rows().map((row) => rowClassificationNow(row, now)), [null, null])
    t.hasStrict(await clearStale(one, session), { archived: 0 })
  }
  await t.rejects(scanFolder(b, { folder: world.folder }), refused)
  await t.rejects(scanFolder(a, { folder: other }), refused)
})

t.test('a folder that another machine scanned between the look and the record is of that one', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const ctx = world.ctx('write')
  const [a, b] = [on(ctx, 'a', world.folder), on(ctx, 'b', world.folder)]
  world.file('one.png', image(3))
  const gov = betweenLookAndRecord(b.gov, () => scanFolder(a))
  await t.rejects(scanFolder({ ...b, gov }), { ...refused, details: { machine: 'a' } })
  t.strictSame(boundIn(world).map(({ doc }) => doc.machine), ['a'])
  t.equal(world.rows().length, 1)
})

t.test('what was scanned or saved before a directory was shared, and the default folder, are of the machine that it began on', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('one.png', image(3))
  const ctx = world.ctx('write')
  t.hasStrict(await scanFolder(ctx), { ingested: 1 })
  t.strictSame(boundIn(world), [], 'a directory has no such row')
  await t.rejects(scanFolder(on(ctx, 'b')), refused)
  t.hasStrict(await scanFolder(on(ctx, 'first')), { ingested: 0 })
  await saveShotsConfig(ctx, world.session(), { screenshot_folder: null })
  await t.rejects(scanFolder(on(ctx, 'b')), refused)
  await t.rejects(scanFolder(on(ctx, 'first')), { code: 'folder_missing' })
  const missing = world.place.path('missing')
  await t.rejects(scanFolder(on(ctx, 'b', missing)), { code: 'folder_missing' })
  await t.rejects(scanFolder(on(ctx, 'first', missing)), refused)
})

t.test('the saved path of another machine counts as it was saved, whatever it leads to here', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const ctx = world.ctx('write')
  const [a, first] = [on(ctx, 'a'), on(ctx, 'first')]
  const path = world.place.path('of-a')
  mkdirSync(path)
  writeFileSync(join(path, 'one.png'), image(3))
  await saveShotsConfig(a, world.session(), { screenshot_folder: path })
  t.hasStrict(await scanFolder(a), { ingested: 1 })
  rmSync(path, { recursive: true })
  symlinkSync(world.folder, path)
  world.file('two.png', image(7))
  const { store } = ctx.gov
  t.equal(currentFacts(first, store.read()).folder, path)
  t.equal(currentFacts(a, store.read()).folder, world.folder, 'it is judged where it lies')
  const before = store.read().sequence
  await t.rejects(scanFolder(first), refused)
  await t.rejects(async () => analyzeBatch(first, { scheduled: false }), refused)
  t.equal(store.read().sequence, before)
})
