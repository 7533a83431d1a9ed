import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saveShotsConfig, seenSettings } from '../../src/shots/source/config.js'
import type { Store } from '../../src/state/types.js'
import { failure } from '../support/must.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed, openSettings } from '../world/images.js'
import { World, type ImageWorld } from '../world/world.js'

const show = async (world: ImageWorld, env = {}) => {
  const ran = await world.run(['shots', 'config', 'show', '--json'], { env })
  if (ran.status !== 0) throw new Error(ran.stderr)
  return ran.json()
}
const set = (world: ImageWorld, ...flags: string[]) =>
  world.run(['shots', 'config', 'set', '--json', ...flags])

t.test('S-008 S-009 S-016 nothing that opens a gate has a permissive default', async (t) => {
  const { settings, gateway, folder } = await show(await World.in(t).state()
    .session().images({ saved: false }))
  for (const name of [
    'analysis', 'cloud_upload', 'fallbacks', 'data_collection', 'zdr', 'budget_microusd',
    'budget_requests', 'request_cost_bound_microusd',
  ]) t.strictSame(settings[name], { value: null, source: 'default', saved: null }, name)
  t.equal(gateway, null)
  t.hasStrict(folder, { configuration_source: 'default', saved_folder: null, editable: true })
})

t.test('S-128 S-129 S-130 S-138 S-139 S-140 S-141 S-210 S-211 defaults are shown with their source',
  async (t) => {
  const { settings } = await show(await World.in(t).state().session().images({ saved: false }))
  const values = Object.fromEntries(Object.entries(settings as Record<string, { value: unknown }>)
    .map(([name, one]) => [name, one.value]))
  t.hasStrict(values, {
    ingest_enabled: true, ingest_interval_minutes: 1, ingest_limit: 100,
    digest_enabled: true, digest_interval_minutes: 15, digest_window_minutes: 30,
    digest_max_chars: 6_000, visual_run_refresh_minutes: 30, analysis_limit: 20,
    analysis_interval_seconds: 60, analysis_concurrency: 2, analysis_job_timeout_seconds: 45,
  })
})

t.test('S-128 S-129 S-130 S-132 S-133 S-134 S-135 each variable comes before what is saved',
  async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const saved = await set(
    world, '--ingest-enabled', 'on', '--ingest-interval-minutes', '5', '--ingest-limit', '7',
    '--analysis-limit', '9', '--analysis-concurrency', '3', '--analysis-interval-seconds', '30',
    '--analysis-job-timeout-seconds', '60',
  )
  t.equal(saved.status, 0, saved.stderr)
  t.strictSame(saved.json().settings.ingest_limit, { value: 7, source: 'settings', saved: 7 })
  const env = {
    SCREENSHOT_FOLDER_INGEST_ENABLED: 'disabled', SCREENSHOT_FOLDER_INGEST_INTERVAL_MIN: '2',
    SCREENSHOT_FOLDER_INGEST_LIMIT: '11', SCREENSHOT_FOLDER_ANALYSIS_LIMIT: '12',
    SCREENSHOT_FOLDER_ANALYSIS_CONCURRENCY: '4',
    SCREENSHOT_FOLDER_ANALYSIS_INTERVAL_SECONDS: '13',
    SCREENSHOT_FOLDER_ANALYSIS_JOB_TIMEOUT_SECONDS: '120',
  }
  const { settings } = await show(world, env)
  const told = (name: string) => settings[name]
  t.strictSame(told('ingest_enabled'), { value: false, source: 'environment', saved: true })
  t.strictSame(told('ingest_interval_minutes'), { value: 2, source: 'environment', saved: 5 })
  t.strictSame(told('ingest_limit'), { value: 11, source: 'environment', saved: 7 })
  t.strictSame(told('analysis_limit'), { value: 12, source: 'environment', saved: 9 })
  t.strictSame(told('analysis_concurrency'), { value: 4, source: 'environment', saved: 3 })
  t.strictSame(told('analysis_interval_seconds'), { value: 13, source: 'environment', saved: 30 })
  t.strictSame(
    told('analysis_job_timeout_seconds'), { value: 120, source: 'environment', saved: 60 }
  )
  const odd = await show(world, { SCREENSHOT_FOLDER_INGEST_LIMIT: '1e2' })
  t.strictSame(odd.invalid_variables, ['SCREENSHOT_FOLDER_INGEST_LIMIT'])
  t.equal(odd.settings.ingest_limit.value, 7)
})

t.test('S-052 S-184 a saved folder is used by the next scan, and says when the environment '
  + 'hides it', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  world.file('a.png', greyPng(32, 32, 1))
  const saved = await set(world, '--folder', `${world.folder}/../shots/`)
  t.strictSame(saved.json().folder, {
    screenshot_folder: world.folder, configuration_source: 'settings',
    saved_folder: world.folder, editable: true, problem: null,
  })
  t.equal((await world.run(['shots', 'scan', '--json'])).json().ingested, 1)
  const other = world.place.path('other')
  mkdirSync(other)
  const hidden = await world.run(['shots', 'config', 'set', '--folder', other, '--json'], {
    env: { SVC_SCREENSHOT_FOLDER: world.folder },
  })
  t.hasStrict(hidden.json().folder, {
    screenshot_folder: world.folder, configuration_source: 'environment', saved_folder: other,
    editable: false,
  })
  t.match(hidden.stderr, /SVC_SCREENSHOT_FOLDER is set/)
})

t.test('S-055 S-056 S-185 a save takes the settings\' own names and refuses every other',
  async (t) => {
  const world = await World.in(t).state().session().images()
  const before = JSON.stringify(await show(world))
  const file = world.place.path('settings.json')
  const documents: [unknown, string][] = [
    [{ artifact_root: world.folder }, 'settings_invalid'],
    [{ screenshotFolder: world.folder }, 'settings_invalid'],
    [{ SVC_SCREENSHOT_FOLDER: world.folder }, 'settings_invalid'],
    [{ screenshot_folder: 7 }, 'settings_invalid'], [{ screenshot_folder: [] }, 'settings_invalid'],
    [{ screenshot_folder: 'relative' }, 'folder_relative'],
    [{ screenshot_folder: '' }, 'folder_invalid'],
    [{ analysis: true }, 'settings_invalid'], [{ recursive: 'on' }, 'settings_invalid'],
    [{ budget_microusd: 0 }, 'settings_invalid'], [{ budget_requests: '5' }, 'settings_invalid'],
    [[], 'settings_invalid'], ['x', 'settings_invalid'],
  ]
  for (const [document, code] of documents) {
    writeFileSync(file, JSON.stringify(document))
    const ran = await set(world, '--from', file)
    t.strictSame([ran.status, ran.error().code], [3, code], JSON.stringify(document).slice(0, 40))
    t.notMatch(ran.stderr, world.folder, 'no text repeats what was given')
  }
  const texts: [string, string][] = [
    ['{"budget_microusd":1.0}', 'settings_invalid'],
    ['{"budget_microusd":1e3}', 'settings_invalid'],
    ['{"zdr":"on","zdr":"off"}', 'json_duplicate_key'], ['{"zdr":"on"} x', 'not_json'],
    ['{"budget_microusd":Infinity}', 'not_json'], ['{"budget_microusd":NaN}', 'not_json'],
  ]
  for (const [text, code] of texts) {
    const argv = ['shots', 'config', 'set', '--from', '-', '--json']
    const ran = await world.run(argv, { stdin: text })
    t.strictSame([ran.status, ran.error().code], [3, code], text)
  }
  t.equal(JSON.stringify(await show(world)), before, 'nothing was changed by any of them')
})

t.test('S-185 a whole document is saved by --from, null forgets a setting', async (t) => {
  const world = await World.in(t).state().session().images()
  const stdin = JSON.stringify({
    analysis: 'on', recursive: true, budget_microusd: 5, digest_enabled: false,
    screenshot_folder: null,
  })
  const ran = await world.run(['shots', 'config', 'set', '--from', '-', '--json'], { stdin })
  t.hasStrict(ran.json(), {
    folder: { configuration_source: 'default', saved_folder: null },
    settings: {
      analysis: { value: 'on', source: 'settings' }, recursive: { value: true },
      budget_microusd: { value: 5 }, digest_enabled: { value: false, source: 'settings' },
    },
  })
  const unset = await set(world, '--unset', 'analysis', 'recursive', '--unset', 'budget_microusd')
  t.hasStrict(unset.json().settings, {
    analysis: { value: null, source: 'default' },
    recursive: { value: false, source: 'default', saved: null },
    budget_microusd: { value: null },
  })
  t.hasStrict(await show(world), { settings: { recursive: { value: false, saved: null } } })
  const off = await set(world, '--recursive', 'off')
  t.hasStrict(off.json().settings.recursive, { value: false, source: 'settings', saved: false })
  const wrong: [string, string][] = [
    ['{"recursive":"on"}', 'field recursive, must be true or false'],
    ['{"zdr":"yes"}', 'field zdr, must be ("on" | "off")'],
    ['{"analysis_limit":5000}', 'field analysis_limit, must be a plain integer from 1 to 1000'],
  ]
  for (const [stdin, text] of wrong) {
    const said = await world.run(['shots', 'config', 'set', '--from', '-'], { stdin })
    t.match(said.stderr.replace(/\s+/g, ' '), text)
  }
  t.match((await set(world, '--unset', 'zdr2')).stderr, 'analysis_limit')
  const variable = { SCREENSHOT_FOLDER_INGEST_ENABLED: 'maybe' }
  const refused = await world.run(['shots', 'scan'], { env: variable })
  t.match(refused.stderr.replace(/\s+/g, ' '), 'must be one of 1, true, on, yes, enabled, 0,')
  for (const flags of [['--unset', 'artifact_root'], ['--fallbacks', 'maybe'],
    ['--budget-microusd', '0x10'], ['--budget-microusd', '1e3'], ['--budget-requests', '-1']]) {
    t.equal((await set(world, ...flags)).status, 3, flags.join(' '))
  }
  t.equal((await set(world, '--artifact-root', world.folder)).status, 2, 'an unknown flag')
  t.equal((await set(world)).status, 2, 'nothing to save')
  t.equal((await set(world, '--zdr', 'on', '--from', '-')).status, 2, '--from stands alone')
  t.equal((await world.run(['shots', 'config', 'change', '--json'])).status, 2)
  t.equal((await world.run(['shots', 'config', 'show', '--zdr', 'on'])).status, 2)
})

t.test('S-009 S-021 who turns uploads on is told what leaves the machine', async (t) => {
  const world = await World.in(t).state().session().images()
  const off = await set(world, '--zdr', 'on')
  t.notMatch(off.stderr, /leave/)
  const on = await set(world, '--cloud-upload', 'on')
  t.match(on.stderr, /whole screenshots leave\s+this machine/)
  t.notMatch((await set(world, '--cloud-upload', 'on')).stderr, /leave/, 'once')
})

t.test('S-185 a folder that is not there is saved and told, but not in the place of one that is', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const [missing, good] = [world.place.path('missing'), world.folder]
  for (const folder of [missing, world.place.path('later')]) {
    const saved = await set(world, '--folder', folder)
    t.equal(saved.status, 0)
    t.match(saved.stderr.replace(/\s+/g, ' '), 'The folder is not there yet: ')
    t.equal((await show(world)).folder.saved_folder, folder)
  }
  t.notMatch((await set(world, '--folder', good)).stderr, /not there/)
  const refused = await set(world, '--folder', missing)
  t.hasStrict(failure(refused), { status: 3, code: 'folder_missing' })
  t.match(refused.stderr, 'Until then the saved one stays.')
  t.equal((await set(world, '--folder', good)).status, 0, 'the same one is never refused')
  t.equal((await show(world)).folder.saved_folder, good)
  const form = await world.run(['shots', 'setup'], {
    terminal: { stdin: true, stdout: true }, answers: [missing, false, true],
  })
  t.equal(form.status, 3, form.stderr)
  t.equal((await show(world)).folder.saved_folder, good)
})

t.test('S-009 S-185 the form asks unchecked, and Enter alone turns nothing on', async (t) => {
  const world = await World.in(t).state().session().images()
  const terminal = { stdin: true, stdout: true }
  const other = world.place.path('others')
  mkdirSync(other)
  const no = await world.run(
    ['shots', 'config', 'set'], { terminal, answers: [other, false, true] })
  t.equal(no.status, 0, no.stderr)
  t.match(no.stderr, /whole screenshots leave/, 'it is said before it is asked')
  const { settings, folder } = await show(world)
  t.equal(settings.analysis.value, null, 'a no saves nothing')
  t.equal(settings.cloud_upload.value, null)
  t.equal(folder.saved_folder, other)
  const [set, typed] = [['shots', 'config', 'set'], 'another value']
  const answers = [
    other, true, true, true, typed, '$0.90', '50', 'leave it unset', '60 s', false, true,
  ]
  const yes = await world.run(set, { terminal, answers })
  t.equal(yes.status, 0, yes.stderr)
  t.hasStrict((await show(world)).settings, {
    analysis: { value: 'on' }, cloud_upload: { value: 'on' }, fallbacks: { value: 'deny' },
    data_collection: { value: 'deny' }, zdr: { value: 'on' }, budget_microusd: { value: 900_000 },
    budget_requests: { value: 50 }, request_cost_bound_microusd: { value: null },
    settle_seconds: { value: 60 }, renew_proof: { value: null },
  })
  t.match(yes.stderr, /With renew_proof on/, 'what it pays for is said before it is asked')
  t.match(yes.stderr, 'budget_microusd: not set -> $0.90 (900,000 µUSD)\n', 'the change is shown')
  t.match(yes.stderr, /No image leaves then: There is no bound on what one request may cost\.\n/)
  const renews = await world.run(set, {
    terminal, answers: [other, 'keep', 'keep', 'leave it unset', 'keep', true, true],
  })
  t.equal(renews.status, 0, renews.stderr)
  t.equal(renews.stderr.split('With renew_proof on').length, 2, 'once')
  t.equal((await show(world)).settings.renew_proof.value, 'on')
  const bad = await world.run(set, {
    terminal, answers: [other, typed, '1e6'],
  })
  t.strictSame([bad.status, (await show(world)).settings.budget_microusd.value], [3, 900_000])
})

t.test('a form saves upon the settings that it showed, or nothing', async (t) => {
  const world = await World.in(t).state().session().images()
  const meanwhile = async (): Promise<boolean> => {
    await world.json(['shots', 'config', 'set', '--analysis-limit', '3'])
    return true
  }
  const late = await world.run(['shots', 'setup', '--json'], {
    terminal: { stdin: true, stdout: true }, answers: [world.place.path('o'), false, meanwhile],
  })
  t.strictSame([late.status, late.error().code], [5, 'settings_changed'])
  t.not((await show(world)).folder.saved_folder, world.place.path('o'))
})

t.test('S-123 S-124 what the gateway owns is shown beside the settings, the key never',
  async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  const shown = await show(world)
  t.hasStrict(shown.gateway, {
    status: 'configured', key_present: true, spend_ceiling_microusd: 10_000_000,
    slots: [
      {
        slot: 'screenshot', model: 'gateway/acme/screenshot-1',
        upstream_allow: ['acme-host', 'other-host'], capability_proof: 'missing',
        purposes: [{ purpose: 'gateway.vision', consent_current: true }],
      },
      {
        slot: 'report',
        purposes: [{ purpose: 'gateway.digest' }, { purpose: 'gateway.report' }],
      },
    ],
  })
  t.notMatch(JSON.stringify(shown), /MARK-GATEWAY-KEY/)
  const text = (await world.run(['shots', 'config', 'show'])).stdout
  t.match(text, /screenshot: gateway\/acme\/screenshot-1; upstream acme-host, other-host/)
  t.match(text, /analysis +on \(settings\)/)
})

t.test('S-135 S-207 the sample settings of the remote route show 120 seconds', async (t) => {
  const page = readFileSync(join(process.cwd(), 'docs/dev/screenshots.md'), 'utf8')
  const sample = /```json\n(\{[^`]*"analysis_job_timeout_seconds"[^`]*\})\n```/.exec(page)?.[1]
  const document = JSON.parse(sample ?? 'null')
  t.equal(document.analysis_job_timeout_seconds, 120)
  const world = await World.in(t).state().session().images({ saved: false })
  const stdin = JSON.stringify({ ...document, screenshot_folder: world.folder })
  const ran = await world.run(['shots', 'config', 'set', '--from', '-', '--json'], { stdin })
  t.equal(ran.status, 0, ran.stderr)
  t.hasStrict(ran.json().settings.analysis_job_timeout_seconds, { value: 120, source: 'settings' })
})

t.test('S-006 no setting takes capture, cadence, retention or blocklist over from the producer',
  async (t) => {
  const { settings } = await show(await World.in(t).state().session().images({ saved: false }))
  const names = ['screenshot_folder', ...Object.keys(settings)]
  t.notMatch(names.join(' '), /capture|cadence|retention_|block|permission|schedule_capture/)
  t.ok(names.length > 15)
})

t.test('S-185 settings need a session', async (t) => {
  const world = await World.in(t).state().session().images()
  await world.run(['logout'])
  for (const argv of [['show'], ['set', ...openSettings]]) {
    t.equal((await world.run(['shots', 'config', ...argv, '--json'])).status, 4)
  }
})

t.test('S-128 S-130 S-138 S-141 help names every variable that is read, with its default',
  async (t) => {
  const help = await World.in(t).place.run(['help', 'environment'])
  // What goes on in the next line is further in than any name.
  const stdout = help.stdout.replace(/\n {10,}/g, ' ')
  const sources = ['src/shots/source/settings.ts', 'src/shots/constants.ts']
    .map((path) => readFileSync(join(process.cwd(), path), 'utf8')).join('\n')
  const defaults: [string, string][] = [
    ['SVC_SCREENSHOT_FOLDER', ''], ['SCREENSHOT_FOLDER_INGEST_ENABLED', 'enabled'],
    ['SCREENSHOT_FOLDER_INGEST_INTERVAL_MIN', '1'], ['SCREENSHOT_FOLDER_INGEST_LIMIT', '100'],
    ['SCREENSHOT_FOLDER_ANALYSIS_LIMIT', '20'], ['SCREENSHOT_FOLDER_ANALYSIS_CONCURRENCY', '2'],
    ['SCREENSHOT_FOLDER_ANALYSIS_INTERVAL_SECONDS', '60'],
    ['SCREENSHOT_FOLDER_ANALYSIS_JOB_TIMEOUT_SECONDS', '45'],
    ['SCREENSHOT_OBSERVATION_DIGEST_ENABLED', 'true'],
    ['SCREENSHOT_OBSERVATION_DIGEST_INTERVAL_MIN', '15'],
    ['SCREENSHOT_OBSERVATION_DIGEST_WINDOW_MIN', '30'],
    ['SCREENSHOT_OBSERVATION_DIGEST_MAX_CHARS', '6000'],
  ]
  for (const [name, value] of defaults) {
    const line = stdout.split('\n').find((one) => one.includes(` ${name} `)) ?? ''
    t.ok(value === '' ? line !== '' : line.includes(`(${value})`), name)
    const suffix = /(?:INGEST|ANALYSIS|DIGEST)_(.+)$/.exec(name)?.[1] ?? name
    t.ok(sources.includes(suffix), `${name} is read`)
  }
})

t.test('S-185 the table of settings in the docs names every field, its flag and its default',
  async (t) => {
  const text = readFileSync('docs/dev/screenshots.md', 'utf8')
  const rows = new Map(text.replaceAll('| |', '|  |').split('\n').map((line) => line.split(' | '))
    .filter((cells) => cells.length === 6)
    .map((cells) => [cells[0]?.replace(/[|` ]/g, '') ?? '', cells] as const))
  const world = await World.in(t).state().session().images({ saved: false })
  const { settings } = await show(world)
  const help = (await world.run(['shots', 'config', '--help'])).stdout
  for (const [name, one] of Object.entries<{ value: string | number | boolean | null }>(settings)) {
    const [, takes, flag, , fallback] = rows.get(name) ?? []
    t.ok(takes, name)
    t.match(help, flag?.replaceAll('`', '').split(' ')[0] ?? 'no flag')
    t.equal(fallback, one.value === null ? 'not set' : String(one.value), name)
  }
})

/** A store that says when it is asked to stop something, and lets others in before a record. */
const watched = (store: Store, { onStop = () => undefined, before = async () => undefined }: {
  readonly onStop?: () => void
  readonly before?: () => Promise<unknown>
}): Store => {
  const over = <T extends object>(real: T, name: string, own: unknown): T => new Proxy(real, {
    get: (target, asked) => {
      if (asked === name) return own
      const value: unknown = Reflect.get(target, asked, target)
      return typeof value === 'function' ? value.bind(target) as unknown : value
    },
  })
  const stops = over(store.stops, 'put', async (...args: Parameters<Store['stops']['put']>) => {
    onStop()
    return store.stops.put(...args)
  })
  return over(over(store, 'stops', stops), 'transact',
    async (...args: Parameters<Store['transact']>) => {
      await before()
      return store.transact(...args)
    })
}

t.test('what was decided on settings of before is refused before anything is stopped for it, and once more in its record', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  const [ctx, session] = [world.ctx('write'), world.session()]
  const { store } = ctx.gov
  const through = (own: Store) => ({ ...ctx, gov: { ...ctx.gov, store: own } })
  const others = (limit: number) => saveShotsConfig(ctx, session, { analysis_limit: limit })
  const closes = { cloud_upload: 'off' }
  const changed = { kind: 'conflict', code: 'settings_changed' }
  let stops = 0
  const counting = watched(store, { onStop: () => (stops += 1) })
  const shown = seenSettings(ctx, store.read())
  await others(3)
  await t.rejects(saveShotsConfig(through(counting), session, closes, shown), changed)
  t.equal(stops, 0, 'nothing that is under way was stopped')
  const racing = watched(store, { before: () => others(4) })
  await t.rejects(saveShotsConfig(through(racing), session, closes,
    seenSettings(ctx, store.read())), changed)
  t.hasStrict((await show(world)).settings, {
    cloud_upload: { value: 'on' }, analysis_limit: { value: 4 },
  })
  await saveShotsConfig(through(counting), session, closes)
  t.equal(stops, 1, 'what is decided on what stands stops it')
  store.close()
})

t.test('what somebody else opened meanwhile is not closed by a save that stopped nothing for it', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  const [ctx, session] = [world.ctx('write'), world.session()]
  const { store } = ctx.gov
  const closes = { cloud_upload: 'off' }
  await saveShotsConfig(ctx, session, closes)
  const racing = watched(store, {
    before: () => saveShotsConfig(ctx, session, { cloud_upload: 'on' }),
  })
  await t.rejects(saveShotsConfig({ ...ctx, gov: { ...ctx.gov, store: racing } }, session, closes),
    { kind: 'conflict', code: 'settings_changed' })
  t.hasStrict((await show(world)).settings, { cloud_upload: { value: 'on' } })
  store.close()
})

t.test('who types no word of a switch is never led to its opposite', async (t) => {
  const world = await World.in(t).state().session().images()
  for (const word of ['no', 'n', '0', 'o', 'false']) {
    const ran = await world.run(['shots', 'setup', '--cloud-upload', word])
    t.equal(ran.status, 3)
    t.notMatch(ran.stderr, 'Did you mean', word)
  }
})
