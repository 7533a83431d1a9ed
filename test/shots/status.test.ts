import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync }
  from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { sha256Hex } from '../../src/base/canonical.js'
import { systemClock } from '../../src/base/clock.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import { countLockEvent } from '../../src/shots/lock-counters.js'
import { countImages } from '../../src/shots/status/images.js'
import { digestCollections } from '../../src/shots/digest/digest-rows.js'
import { openStore, type FileStore } from '../../src/state/store.js'
import { stillClock } from '../support/clock.js'
import { after, observationOf, payloadRefOf } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Loose } from '../world/place.js'
import { builtApp } from '../world/process.js'
import { World, type ImageWorld } from '../world/world.js'

const noon = Date.UTC(2026, 10, 20, 12)

const status = async (world: ImageWorld, env = {}): Promise<Loose> => {
  const ran = await world.run(['shots', 'status', '--json'], { env })
  if (ran.status !== 0) throw new Error(ran.stderr)
  return ran.json()
}
const folderOf = async (world: ImageWorld, env = {}): Promise<Loose> =>
  (await status(world, env)).screenshot_folder
const analysisOf = async (world: ImageWorld): Promise<Loose> => (await folderOf(world)).analysis

const succeeded = { analysis_status: 'succeeded', payload: payloadRefOf() } as const

t.test('S-050 S-112 S-126 a fresh place: nothing probed, nothing there, and it says so', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const told = await status(world)
  t.strictSame(
    told.vlm_runtime, { live_probe: { checked: false, reason: 'deferred_fast_metadata' } }
  )
  t.hasStrict(told.screenshot_folder, {
    configured_folder: join(world.workspace, 'artifacts/screenshot-folder'),
    configuration_source: 'default', image_count: null, latest_image_at: null,
    local_scan_status: 'never', last_scan_at: null, stored_artifact_type: 'image',
    summary_status: 'partial', summary_failure: 'folder_missing', newest_item_at: null,
    inspection_endpoint: '/api/observer/screen-artifacts/{observation_id}/analysis',
  })
  t.hasStrict(told.screenshot_folder.analysis, {
    observation_count: 0, total_historical_observation_count: 0, active_backlog: 0,
    metadata_status: 'ok', metadata_failure: null,
  })
  t.hasStrict(told.remote_vision, {
    gateway_state: 'not_set_up', selected_model: null, upstream_allow: [],
    remote_routing_safe: false, capability_proof: { state: 'missing' },
    budget: { budget_microusd: null },
  })
  const words = told.screenshot_folder.inspection_command.split(' ').slice(1)
  t.equal((await world.run(words)).status, 0, 'the inspection that is named answers')
})

t.test('S-108 S-109 S-110 S-111 folder, source, images, scan status and action follow what is', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(32, 32, 1), '2026-11-20T09:00:00.000Z')
  world.file('B.JPG', greyPng(32, 32, 2), '2026-11-20T11:00:00.000Z')
  world.file('note.txt', Buffer.from('x'), '2026-11-20T11:30:00.000Z')
  world.file('.hidden.png', greyPng(32, 32, 3), '2026-11-20T11:40:00.000Z')
  mkdirSync(join(world.folder, 'dir.png'))
  const before = await folderOf(world)
  t.hasStrict(before, {
    configured_folder: world.folder, saved_folder: world.folder, configuration_source: 'settings',
    editable: true, image_count: 2, latest_image_at: '2026-11-20T11:00:00.000Z',
    local_scan_status: 'never', summary_status: 'ok', summary_failure: null,
  })
  const action = before.manual_scan_action.command.split(' ').slice(1)
  const scanned = await world.run([...action, '--json'])
  t.equal(scanned.json().ingested, 2, 'the action, run as shown, scans')
  t.hasStrict(
    await folderOf(world), { local_scan_status: 'ok', analysis: { observation_count: 2 } }
  )
  const other = world.place.path('other')
  mkdirSync(other)
  const env = { SVC_SCREENSHOT_FOLDER: other }
  t.hasStrict(await folderOf(world, env), {
    configured_folder: other, configuration_source: 'environment', editable: false,
    saved_folder: world.folder, image_count: 0, analysis: { counted_root: other },
  })
  await world.run(['shots', 'config', 'set', '--unset', 'screenshot_folder'])
  t.hasStrict(await folderOf(world), { configuration_source: 'default', editable: true })
})

t.test('S-110 S-121 a folder that cannot be read is marked, with the failure, and the rest is told', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(32, 32, 1))
  await world.run(['shots', 'scan', '--json'])
  rmSync(world.folder, { recursive: true })
  writeFileSync(world.folder, 'a file now')
  const partial = { summary_status: 'partial', image_count: null, latest_image_at: null }
  t.hasStrict(await folderOf(world), {
    ...partial, summary_failure: 'folder_not_directory', analysis: { observation_count: 1 },
  })
  t.not((await world.run(['shots', 'scan', '--json'])).status, 0)
  t.hasStrict(await folderOf(world), { local_scan_status: 'failed' })
  rmSync(world.folder)
  t.hasStrict(await folderOf(world), { ...partial, summary_failure: 'folder_missing' })
  const env = { SVC_SCREENSHOT_FOLDER: '/' }
  t.hasStrict(await folderOf(world, env), {
    ...partial, configured_folder: '/', configuration_source: 'environment', editable: false,
    summary_failure: 'broad_root', analysis: { counted_root: null, metadata_status: 'ok' },
  })
  mkdirSync(world.folder)
  chmodSync(world.folder, 0o000)
  t.teardown(() => chmodSync(world.folder, 0o700))
  const told = await folderOf(world)
  // Whoever may read everything is not kept out by a mode.
  if (process.getuid?.() !== 0) t.hasStrict(
    told, { ...partial, summary_failure: 'folder_unreadable' }
  )
  else t.equal(told.image_count, 0)
})

t.test('S-109 S-126 a huge folder is counted within the budget and marked', async (t) => {
  const dir = t.testdir({ sub: { 'c.png': '' }, 'a.png': '', 'b.JPEG': '', 'x.txt': '' })
  const now = () => 0
  const budget = { entriesMax: 100, entriesFree: 50, msMax: 10, now }
  t.hasStrict(countImages(dir, false, budget), { images: 2, failure: null })
  t.hasStrict(countImages(dir, true, budget), { images: 3, failure: null })
  const few = countImages(dir, true, { ...budget, entriesMax: 2 })
  t.equal(few.failure, 'folder_too_large')
  t.ok(few.images <= 2)
  let ms = 0
  for (let n = 0; n < 300; n += 1) writeFileSync(join(dir, `${n}.png`), '')
  const slow = countImages(dir, false, {
    entriesMax: 1e9, entriesFree: 100, msMax: 10, now: () => (ms += 100),
  })
  t.equal(slow.failure, 'folder_too_large')
  t.ok(slow.images > 90 && slow.images < 200, 'the first ones are always looked at')
})

t.test('S-109 S-126 the images of a folder too large to be counted are those of the last scan, which is named', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let n = 0; n < 4_200; n += 1) writeFileSync(join(world.folder, `${n}.txt`), '')
  world.file('a.png', greyPng(32, 32, 1), '2026-11-20T09:00:00.000Z')
  world.file('b.png', greyPng(32, 32, 2), '2026-11-20T11:00:00.000Z')
  let ms = 0
  let passesMs = 1_000
  const clock = { ...systemClock, monotonicMs: () => (ms += passesMs) }
  const look = async (): Promise<Loose> =>
    (await world.run(['shots', 'status', '--json'], { clock })).json().screenshot_folder
  t.hasStrict(await look(), {
    summary_status: 'partial', summary_failure: 'folder_too_large', image_count_at: null,
  })
  t.equal((await world.run(['shots', 'scan'])).status, 0)
  const told = await look()
  t.hasStrict(told, {
    summary_status: 'ok', summary_failure: null, image_count: 2,
    latest_image_at: '2026-11-20T11:00:00.000Z', image_count_at: told.last_scan_at,
  })
  const text = (await world.run(['shots', 'status'], { clock })).stdout
  t.ok(text.includes(`counted by the scan of ${String(told.last_scan_at)}`), text)
  passesMs = 0
  t.hasStrict(await look(), { image_count: 2, image_count_at: null },
    'where there is time for it: now')
})

t.test('S-113 S-114 S-115 S-117 S-119 S-165 the numbers are those of the rows', async (t) => {
  const world = await World.still(t, noon).state().session().images()
  const { folder } = world
  const run = {
    representative_path: 'r.png', first_seen: after(0), last_seen: after(3_000),
    suppressed_count: 3, latest_suppressed_path: 'r3.png', reason_counts: { alike: 3 },
  }
  await world.put(
    observationOf(folder, 'p1.png', { analysis_status: 'pending' }),
    observationOf(folder, 'p2.png', { analysis_status: 'pending', captured_at: after(60_000) }),
    observationOf(folder, 'm1.png', {
      analysis_status: 'pending', classification: 'source_missing',
    }),
    observationOf(folder, 'm2.png', {
      analysis_status: 'failed', classification: 'source_missing',
    }),
    observationOf(folder, 'f.png', { analysis_status: 'failed' }),
    observationOf(folder, 'b.png'),
    observationOf(folder, 'r.png', { ...succeeded, screenshot_visual_run: run }),
    observationOf(folder, 'old.png', { ...succeeded, archived_at: after(0) }),
  )
  const told = await analysisOf(world)
  t.hasStrict(told, {
    counted_root: folder, observation_count: 7, total_historical_observation_count: 8,
    status_mix: { pending: 3, blocked: 1, succeeded: 1, failed: 2, needs_reanalysis: 0 },
    active_backlog: 2, active_failures: 1, source_missing_count: 2,
    stale_cleanup: { stale_root_count: 0, archived_count: 1 },
    visual_run_count: 1, visual_suppression_count: 3,
    latest_observation_at: after(60_000), latest_analyzed_at: payloadRefOf().analyzed_at,
  })
  const mix: number[] = Object.values(told.status_mix)
  t.equal(mix.reduce((sum, n) => sum + n, 0), told.observation_count)
})

t.test('S-113 S-116 S-162 S-163 a changed root makes incomplete rows stale; history keeps all', async (t) => {
  const world = await World.in(t).state().session().images()
  const other = world.place.path('other')
  mkdirSync(other)
  await world.put(
    observationOf(world.folder, 'a.png'), observationOf(world.folder, 'b.png', succeeded),
    observationOf(world.folder, 'c.png', { analysis_status: 'failed' }),
  )
  await world.run(['shots', 'config', 'set', '--folder', other])
  const told = await folderOf(world)
  t.hasStrict(told.analysis, {
    counted_root: other, observation_count: 0, total_historical_observation_count: 3,
    active_failures: 0, stale_cleanup: { stale_root_count: 2, archived_count: 0 },
  })
  t.hasStrict(told.roots, [{
    root: world.folder, current: false, observation_count: 3, stale_root_count: 2,
  }])
  t.strictSame(
    world.rows().map((row) => row.classification), [null, null, null], 'nothing was written'
  )
  t.equal((await world.run(['shots', 'clear-stale', '--yes', '--json'])).json().archived, 2)
  t.hasStrict(await analysisOf(world), {
    total_historical_observation_count: 3,
    stale_cleanup: { stale_root_count: 0, archived_count: 2 },
  })
})

t.test('the folder in force is among the folders that are told, however many have newer images', async (t) => {
  const world = await World.in(t).state().session().images()
  const newer = Array.from({ length: 20 }, (_, n) =>
    observationOf(`/elsewhere/${n}`, 'a.png', { captured_at: '2026-11-21T10:00:00.000Z' }))
  await world.put(observationOf(world.folder, 'a.png'), ...newer)
  const { roots } = await folderOf(world)
  t.equal(roots.length, 20)
  t.hasStrict(roots[0], { root: world.folder, current: true, observation_count: 1 })
})

t.test('S-118 lock retries and lock failures are counted apart, beside the log', async (t) => {
  const world = await World.in(t).state().session().images()
  t.strictSame((await analysisOf(world)).db_lock, { retry_count: 0, failure_count: 0 })
  for (const kind of ['retry', 'retry', 'failure'] as const) {
    countLockEvent(world.place.stateDir, kind)
  }
  t.strictSame((await analysisOf(world)).db_lock, { retry_count: 2, failure_count: 1 })
})

t.test('S-120 digest count and time are those of the stored episodes', async (t) => {
  const world = await World.in(t).state().session().images()
  const { gov } = world.ctx('write')
  await gov.store.transact('test', (tx) => tx.put(digestCollections.head, 'the', {
    count: 4, first_day: '2026-11-19', last_day: '2026-11-20', latest_window_end: after(0),
    latest_at: after(5_000),
  }))
  t.hasStrict(await analysisOf(world), { digest_count: 4, latest_digest_at: after(5_000) })
})

t.test('a place with a gateway', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)

  t.test('S-156 S-157 S-158 an analysis of another prompt, schema or model shows as needs_reanalysis', async (t) => {
    const { folder } = world
    const made = (name: string, changes = {}) => observationOf(folder, name, {
      analysis_status: 'succeeded', payload: payloadRefOf(changes),
    })
    await world.put(
      made('now.png'),
      made('prompt.png', { prompt_version: 'svc.screenshot_analysis.prompt.v0' }),
      made('schema.png', { schema_version: 'svc.screenshot_analysis.v0' }),
      made('model.png', { model: 'gateway/acme/earlier' }),
    )
    const stored = world.view().sequence
    t.hasStrict(await analysisOf(world), { status_mix: { succeeded: 1, needs_reanalysis: 3 } })
    const listed = await world.run(['shots', 'list', '--json', '--status', 'needs_reanalysis'])
    t.strictSame(listed.json().map(({ path }: Loose) => path).sort(), [
      'model.png', 'prompt.png', 'schema.png',
    ])
    t.equal(world.view().sequence, stored, 'looking wrote nothing')
  })

  t.test('S-123 S-124 S-125 the remote vision profile follows the configuration, and is safe only whole', async (t) => {
    const unproved = (await status(world)).remote_vision
    t.hasStrict(unproved, {
      gateway_state: 'configured', selected_model: 'gateway/acme/screenshot-1',
      upstream_allow: ['acme-host', 'other-host'],
      cloud_consent: {
        analysis: 'on', cloud_upload: 'on', egress_acknowledged: true, vision_consent_current: true,
      },
      budget: { period: 'rolling_day', budget_microusd: 1_000_000, budget_requests: 100 },
      capability_proof: { state: 'missing', receipt: null },
      remote_routing_safe: false, unsafe_reasons: ['proof_missing'],
    })
    const proved = await world.run(['gateway', 'prove', 'screenshot', '--json'])
    t.equal(proved.status, 0, proved.stderr)
    const safe = await status(world)
    t.hasStrict(safe.remote_vision, {
      capability_proof: { state: 'current', receipt: { slot: 'screenshot', outcome: 'succeeded' } },
      remote_routing_safe: true, unsafe_reasons: [],
    })
    t.notMatch(JSON.stringify(safe), /MARK-GATEWAY-KEY/, 'the key appears nowhere')
    const aged = stillClock(Date.now() + 25 * 3_600_000)
    const old = (await world.run(['shots', 'status', '--json'], { clock: aged })).json()
    t.hasStrict(old.remote_vision, {
      capability_proof: { state: 'stale' }, remote_routing_safe: false,
    })
    const gates: [string, string[], string[]][] = [
      ['analysis_off', ['--analysis', 'off'], ['--analysis', 'on']],
      ['cloud_upload_off', ['--cloud-upload', 'off'], ['--cloud-upload', 'on']],
      ['fallbacks_not_denied', ['--fallbacks', 'allow'], ['--fallbacks', 'deny']],
      ['data_collection_not_denied', ['--data-collection', 'allow'], ['--data-collection', 'deny']],
      ['zdr_not_on', ['--zdr', 'off'], ['--zdr', 'on']],
      ['budget_not_set', ['--unset', 'budget_microusd'], ['--budget-microusd', '1000000']],
      ['budget_below_bound', ['--budget-microusd', '5'], ['--budget-microusd', '1000000']],
    ]
    for (const [reason, close, open] of gates) {
      await world.run(['shots', 'config', 'set', ...close])
      const { remote_routing_safe: isSafe, unsafe_reasons: reasons } =
        (await status(world)).remote_vision
      t.strictSame([isSafe, reasons], [false, [reason]], reason)
      await world.run(['shots', 'config', 'set', ...open])
    }
    await world.run(['policy', 'revoke'])
    const { remote_vision: revoked } = await status(world)
    t.equal(revoked.remote_routing_safe, false)
  })
})

t.test('the newest item has an age, and --max-age fails when it is too old', async (t) => {
  const clock = stillClock(noon)
  const world = await World.in(t, { clock }).state().session().images()
  const check = (age: string) =>
    world.run(['shots', 'status', '--json', '--max-age', age], { clock })
  const empty = await check('365d')
  t.strictSame(
    [empty.status, empty.error().code], [7, 'newest_item_too_old'], 'nothing is never fresh'
  )
  t.equal(empty.json().screenshot_folder.newest_item_at, null, 'the status is printed all the same')
  await world.put(observationOf(world.folder, 'a.png', { captured_at: after(3_600_000) }))
  t.equal((await folderOf(world)).newest_item_age_seconds, 3_600)
  t.equal((await check('1h')).status, 0)
  t.equal((await check('59m')).status, 7)
  t.equal((await check('soon')).status, 3)
  t.match((await world.run(['shots', 'status'])).stdout, /newest item +1h ago/)
  const ahead = { captured_at: '2030-01-01T00:00:00.000Z', captured_in_future: true }
  await world.put(observationOf(world.folder, 'ahead.png', ahead))
  const told = await check('59m')
  t.strictSame([told.status, told.error().details.age_seconds], [7, 3_600],
    'one of a clock that was ahead hides nothing')
  t.equal(told.json().screenshot_folder.analysis.latest_observation_at, ahead.captured_at)
  await world.put(observationOf(world.folder, 'now.png', { captured_at: after(7_199_999) }))
  t.equal((await check('59m')).status, 0)
})

t.test('an image of the future alone is no newest item', async (t) => {
  const world = await World.still(t, noon).state().session().images()
  await world.put(observationOf(world.folder, 'ahead.png', {
    captured_at: '2030-01-01T00:00:00.000Z', captured_in_future: true,
    screenshot_visual_run: null,
  }))
  t.equal((await folderOf(world)).newest_item_at, null)
  t.equal((await world.run(['shots', 'status', '--max-age', '365d'])).status, 7)
})

const digests = (dir: string): string => readdirSync(dir, { recursive: true })
  .map((name) => join(dir, String(name)))
  .filter((path) => statSync(path).isFile())
  .map((path) => {
    const { mtimeMs, mode } = statSync(path)
    return [path, mtimeMs, mode, sha256Hex(readFileSync(path))].join(' ')
  })
  .sort().join('\n')

t.test('S-126 status needs no session, changes no byte of the state, and ignores a held lock', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(32, 32, 1))
  await world.run(['shots', 'scan'])
  await world.run(['logout'])
  const script = join(await builtApp(), 'sallyport.js')
  const env = { ...world.place.env }
  const seen = () => digests(world.place.stateDir) + digests(world.place.configDir)
  const { store } = world.ctx('write').gov
  const held = await store.transact('test', () => {
    const before = seen()
    const ran = spawnSync(process.execPath, [script, 'shots', 'status'], { env, encoding: 'utf8' })
    return { ran, same: seen() === before }
  })
  t.equal(held.ran.status, 0, held.ran.stderr)
  t.match(held.ran.stdout, /observations +1 of this folder, 1 ever/)
  t.equal(held.same, true, 'no byte, no time and no mode changed')
})

t.test('S-122 S-126 damaged observations are marked with the failure, and status still answers', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(32, 32, 1))
  await world.run(['state', 'compact'])
  await world.run(['shots', 'scan'])
  // A run of its own for what the scan wrote: the settings lie in the one before.
  const { stateDir: dir, configDir } = world.place
  const store = openStore({ dir, configDir, mode: 'write' }) as FileStore
  await store.exclusive('fold', () => store.checkpoint())
  store.close()
  const parts = join(world.place.stateDir, 'collections')
  for (const name of readdirSync(parts).filter((one) => one.endsWith('.seg'))) {
    const bytes = readFileSync(join(parts, name))
    const at = bytes.indexOf('["shot_counts"')
    if (at >= 0) writeFileSync(join(parts, name), bytes.fill('x', at + 4, at + 9))
  }
  const told = await world.run(['shots', 'status', '--json'])
  t.equal(told.status, 12, told.stderr)
  t.ok(told.json().damage)
  const { analysis, ...folder } = told.json().screenshot_folder
  t.hasStrict(folder, { configured_folder: world.folder, image_count: 1, summary_status: 'ok' })
  t.hasStrict(analysis, { metadata_status: 'partial', observation_count: null, status_mix: null })
  t.ok(analysis.metadata_failure)
  for (const name of readdirSync(join(world.place.stateDir, 'wal'))) {
    writeFileSync(join(world.place.stateDir, 'wal', name), 'damaged\n')
  }
  writeFileSync(join(world.place.stateDir, 'STATE'), 'damaged')
  const env = { SVC_SCREENSHOT_FOLDER: world.folder }
  const blind = await world.run(['shots', 'status', '--json'], { env })
  t.equal(blind.status, 12, blind.stderr)
  t.match(blind.stderr, 'What is shown is only what is left.')
  t.ok(blind.json().damage, 'a state that does not open at all is marked as well')
  t.hasStrict(blind.json().screenshot_folder, {
    configured_folder: world.folder, image_count: 1,
    analysis: { metadata_status: 'partial', total_historical_observation_count: null },
  })
  t.hasStrict(blind.json().remote_vision, { gateway_state: 'unknown', remote_routing_safe: false })
  t.ok(blind.stdout.length < 10_000, 'a short fallback')
})

t.test('status without a state directory says so', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  rmSync(world.place.stateDir, { recursive: true })
  t.equal((await world.run(['shots', 'status'])).status, 10)
  t.equal(folderDigestOf('/x').length, 64)
})
