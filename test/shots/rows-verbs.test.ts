import { mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { safeParse } from 'valibot'
import { canonicalJson, sha256Hex } from '../../src/base/canonical.js'
import { newId } from '../../src/base/ids.js'
import { registerArtifact } from '../../src/governance/artifacts.js'
import { noteNextPage } from '../../src/cli/commands/shots/next-page-note.js'
import type { VerbDeps } from '../../src/cli/verb.js'
import { decodeReasons, explainReasons } from '../../src/shots/explain-reasons.js'
import { imageReasons } from '../../src/images/types.js'
import { runningCollection } from '../../src/shots/analysis/analysis-rows.js'
import { fileIdOf } from '../../src/shots/observations/observation-store.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import { pageOf } from '../../src/shots/observations/page.js'
import { shotCollections as c, type Observation, type SeenFile }
  from '../../src/shots/observations/observation-rows.js'
import { shotLabels } from '../../src/shots/constants.js'
import { after, observationOf, payloadRefOf } from '../support/observations.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'
import { World, type ImageWorld } from '../world/world.js'

const noon = Date.UTC(2026, 10, 20, 12)
const json = async (world: ImageWorld, ...argv: string[]): Promise<Loose> => {
  const ran = await world.run([...argv, '--json'])
  if (ran.status !== 0) throw new Error(`${argv.join(' ')}: ${ran.stderr}`)
  return ran.json()
}
const idsOf = (rows: readonly Loose[]): string[] =>
  rows.map((row) => row.path.replace('.png', ''))

t.test('S-064 S-067 S-143 S-144 S-165 lists show status, class and readiness as of now', async (t) => {
  const world = await World.still(t, noon).state().session().images()
  const { folder } = world
  const other = world.place.path('other')
  const hour = 3_600_000
  await world.put(
    observationOf(folder, 'blocked.png'),
    observationOf(folder, 'pending.png', { analysis_status: 'pending', captured_at: after(1) }),
    observationOf(folder, 'failed.png', { analysis_status: 'failed', captured_at: after(2) }),
    observationOf(folder, 'done.png', {
      analysis_status: 'succeeded', payload: payloadRefOf(), captured_at: after(hour),
    }),
    observationOf(folder, 'old.png', {
      analysis_status: 'succeeded', captured_at: after(hour + 1),
      payload: payloadRefOf({ prompt_version: 'v0' }),
    }),
    observationOf(folder, 'gone.png', {
      analysis_status: 'pending', classification: 'source_missing', captured_at: after(3),
    }),
    observationOf(other, 'stale.png', { captured_at: after(4) }),
    observationOf(folder, 'archived.png', { archived_at: after(0), captured_at: after(5) }),
  )
  const all: Loose[] = await json(world, 'shots', 'list')
  t.strictSame(idsOf(all), [
    'old', 'done', 'stale', 'gone', 'failed', 'pending', 'blocked',
  ], 'newest capture first, archived ones left out')
  t.equal(new Set(all.map((row) => row.observation_id)).size, 7)
  t.strictSame(Object.fromEntries(all.map((row) => [row.path, [
    row.analysis_status, row.classification, row.report_readiness,
  ]])), {
    'old.png': ['needs_reanalysis', null, 'analysed'],
    'done.png': ['succeeded', null, 'analysed'],
    'stale.png': ['blocked', 'stale_root', 'excluded'],
    'gone.png': ['pending', 'source_missing', 'excluded'],
    'failed.png': ['failed', null, 'facts_only'],
    'pending.png': ['pending', null, 'facts_only'],
    'blocked.png': ['blocked', null, 'facts_only'],
  })
  const listed = async (...flags: string[]) => idsOf(await json(world, 'shots', 'list', ...flags))
  t.strictSame(await listed('--status', 'succeeded'), ['done'])
  t.strictSame(await listed('--status', 'needs_reanalysis'), ['old'])
  t.strictSame(await listed('--status', 'blocked'), ['stale', 'blocked'])
  t.strictSame(await listed('--limit', '2'), ['old', 'done'])
  t.strictSame(await listed('--since', '2026-11-20T11:00:00Z'), ['old', 'done'])
  t.strictSame(await listed('--since', '60m', '--status', 'failed'), [])
  t.strictSame(await listed('--since', '2026-11-21'), [])
  t.strictSame((await listed('--archived')).length, 8)
  const flags = [
    ['--status', 'archived'], ['--since', 'yesterday'], ['--since', '2026-13-01'], ['--limit', '0'],
  ]
  for (const flag of flags) {
    t.equal((await world.run(['shots', 'list', ...flag])).status, 3, flag.join(' '))
  }
  const piped = (await world.run(['shots', 'list', '--limit', '1'])).stdout.trimEnd().split('\t')
  t.strictSame(piped.slice(1), [after(hour + 1), 'needs_reanalysis', '64x48 png', '0', 'old.png'])
})

t.test('a list that was cut says how many there are and how to see more', async (t) => {
  const world = await World.still(t, noon).state().session().images()
  await world.put(...Array.from({ length: 52 }, (_, at) =>
    observationOf(world.folder, `${at}.png`, { captured_at: after(at) })))
  const cut = await world.run(['shots', 'list'])
  t.match(cut.stderr, /50 shown of 52, the newest; more with --after obs_\S+ or --limit N/)
  t.equal(cut.stdout.trimEnd().split('\n').length, 50)
  const whole: Loose[] = await json(world, 'shots', 'list', '--limit', '52')
  const found: Loose[] = []
  let words = 'shots list --limit 20 --paged'.split(' ')
  for (let pages = 1; pages <= 3; pages += 1) {
    const page: Loose = await json(world, ...words)
    found.push(...page.rows)
    t.equal(page.more, pages < 3)
    words = String(page.next_page).split(' ').slice(1).filter((word) => word !== '--json')
  }
  t.strictSame(found, whole, 'page after page')
  const none = await world.run(['shots', 'list', '--after', newId('obs'), '--json'])
  t.equal(none.error().code, 'observation_not_found')
  const json1 = await world.run(['shots', 'list', '--limit', '1', '--since', after(50), '--json'])
  t.equal(json1.json().length, 1)
  t.match(json1.stderr, '1 shown of 2, ')
  t.notMatch((await world.run(['shots', 'list', '--limit', '52'])).stderr, 'shown of')
  t.notMatch((await world.run(['shots', 'list', '--limit', '1', '--quiet'])).stderr, 'shown of')
  for (const [line, said] of [
    ['shots list', '50 unless given'], ['shots digests', '50 unless given'],
    ['shots scan', 'else 100'], ['shots analyze', 'else 20'],
    ['sandbox start', '~/.local/state unless given'], ['gateway setup', 'first 45'],
  ] as const) {
    const help = await world.run([...line.split(' '), '--help'])
    t.match(help.stdout.replace(/\s+/g, ' '), said, line)
  }
})

t.test('counting beyond what is shown stops', (t) => {
  t.strictSame(
    pageOf([1, 2, 3, 4], 1, (one) => one % 2 === 0), { rows: [2], total: 2, counted: true }
  )
  const many = Array.from({ length: 1_003 }, (_, at) => at)
  t.strictSame(pageOf(many, 2), { rows: [0, 1], total: 1_002, counted: false })
  t.strictSame(pageOf([], 2), { rows: [], total: 0, counted: true })
  const said: string[] = []
  const deps = { note: (text: string) => said.push(text) } as unknown as VerbDeps
  noteNextPage(deps, pageOf(many, 2), String)
  noteNextPage(deps, pageOf(many.slice(0, 1_002), 2), String)
  t.strictSame(said, [
    '2 shown of more than 1002, the newest; more with --after 1',
    '2 shown of 1002, the newest; more with --after 1',
  ], 'what was not counted to its end is not told as counted')
  t.end()
})

t.test('S-181 S-182 an observation shows its local facts, and the analysis only when asked', async (t) => {
  const world = await World.still(t, noon).state().session().images()
  const payload = { schema: 'svc.screenshot_analysis.v1', summary: 'MARK-SUMMARY of a screen' }
  const { gov } = world.ctx('write')
  const bytes = Buffer.from(canonicalJson(payload))
  const ref = gov.store.artifacts.write(shotLabels.payload, bytes)
  const artifact = await gov.store.transact('test', (tx) => registerArtifact(tx, after(0), {
    label: shotLabels.payload, ref, owner: 'prn_test', taskId: null, adopted: true,
  }))
  gov.store.close()
  const row = observationOf(world.folder, 'a.png', {
    analysis_status: 'succeeded',
    payload: payloadRefOf({ artifact_id: artifact.artifact_id, sha256: sha256Hex(bytes) }),
  })
  const bare = observationOf(world.folder, 'b.png')
  await world.put(row, bare)
  const told = await json(world, 'shots', 'show', row.observation_id)
  t.hasStrict(told, {
    source: 'screenshot_folder', sha256: row.sha256, bytes: 1234, format: 'png', width: 64,
    height: 48, observation_id: row.observation_id, report_readiness: 'analysed',
    paths: [{ path: 'a.png', path_bytes_base64: null }],
    analysis: { model: 'gateway/acme/screenshot-1', earlier: false },
  })
  const text = await world.run(['shots', 'show', row.observation_id])
  t.notMatch(JSON.stringify(told) + text.stdout, /MARK-SUMMARY/, 'not the semantic analysis')
  const whole = await json(world, 'shots', 'show', row.observation_id, '--analysis')
  t.strictSame(whole.payload, payload)
  const shown = await world.run(['shots', 'show', row.observation_id, '--analysis'])
  t.match(shown.stdout, /MARK-SUMMARY/)
  const none = await world.run(['shots', 'show', bare.observation_id, '--analysis', '--json'])
  t.strictSame([none.status, none.error().code], [6, 'analysis_not_found'])
  for (const id of ['obs_none', 'STATE', '', `${row.observation_id}x`]) {
    const ran = await world.run(['shots', 'show', id, '--json'])
    t.strictSame([ran.status, ran.error().code], [6, 'observation_not_found'], id)
  }
  t.equal((await json(world, 'shots', 'show', bare.observation_id)).width, 64)
})

t.test('S-062 S-068 unknown dimensions are told as such, and a run with all its details', async (t) => {
  const world = await World.in(t).state().session().images()
  const run = {
    representative_path: 'r.png', first_seen: after(0), last_seen: after(9_000),
    suppressed_count: 2, latest_suppressed_path: 'r2.png', reason_counts: { alike: 2 },
  }
  const row = observationOf(world.folder, 'r.png', {
    width: null, height: null, screenshot_visual_run: run, captured_in_future: true,
  })
  await world.put(row)
  const told = await json(world, 'shots', 'show', row.observation_id)
  t.hasStrict(told, { width: null, height: null, suppressed_count: 2, screenshot_visual_run: run })
  const text = (await world.run(['shots', 'show', row.observation_id])).stdout
  t.match(text, /dimensions unknown/)
  t.match(text, /like images: +2, from /)
  t.match(text, /ahead of the clock/)
})

t.test('names from the file system are escaped on a terminal and exact in JSON', async (t) => {
  const world = await World.in(t).state().session().images()
  const name = 'a\u001b[31m\n\u202eb.png'
  const raw = Buffer.from('x\xff.png', 'latin1')
  const odd = observationOf(world.folder, 'odd', {
    paths: [{ name: { text: 'x\ufffd.png', bytes_base64: raw.toString('base64') },
      modified_at: after(0) }],
  })
  const row = observationOf(world.folder, name, { captured_at: after(1) })
  await world.put(row, odd)
  const [first, second] = await json(world, 'shots', 'list')
  t.equal(first.path, name)
  t.strictSame([second.path, second.path_bytes_base64], ['x\ufffd.png', raw.toString('base64')])
  const terminal = { stdout: true, stdin: true }
  for (const argv of [['list'], ['show', row.observation_id]]) {
    const { stdout } = await world.run(['shots', ...argv, '--no-color'], { terminal })
    t.notMatch(stdout, /\u001b\[31m|\u202e/)
    t.match(stdout, /\\u001b\[31m\\n\\u202eb\.png/)
  }
})

const seen = (folder: string, name: string, changes: Partial<SeenFile>): SeenFile => ({
  root_digest: folderDigestOf(folder), name: { text: name, bytes_base64: null }, bytes: 1,
  modified_ns: '0', inode: '0', outcome: 'ingested', reason: null, measure: null,
  observation_id: null, sha256: null, seen_at: after(0),
  ...changes,
})

const putFiles = async (world: ImageWorld, ...files: readonly SeenFile[]): Promise<void> => {
  const { store } = world.ctx('write').gov
  await store.transact('test', (tx) => {
    for (const file of files) tx.put(c.files, fileIdOf(file.root_digest, file.name), file)
  })
  store.close()
}

t.test('S-071 S-072 what became of a file, and why, is explained', async (t) => {
  const world = await World.in(t).state().session().images()
  const { folder } = world
  const row = observationOf(folder, 'a.png')
  await world.put(row)
  await putFiles(
    world,
    seen(folder, 'alike.png', {
      outcome: 'suppressed', reason: 'looks_alike', measure: 1.5, cell: { x: 3, y: 2 },
      observation_id: row.observation_id,
    }),
    seen(folder, 'bad.png', { outcome: 'rejected', reason: 'not_an_image' }),
  )
  for (const name of ['alike.png', 'bad.png', 'new.png', 'x.gif', '.hid.png']) {
    world.file(name, Buffer.from('x'))
  }
  const explain = (path: string) => json(world, 'shots', 'explain', path)
  t.hasStrict(await explain(join(folder, 'alike.png')), {
    outcome: 'suppressed', reason: 'looks_alike', root: folder, current_root: true,
    visual_gate: {
      measure: 1.5, limit: 3, cell_pixels: 8, cell: { x_pixels: 24, y_pixels: 16 },
    },
    observation: { observation_id: row.observation_id },
    now: { exists: true, changed: true, scan_would: 'read' },
  })
  t.hasStrict(await explain('shots/bad.png'), {
    outcome: 'rejected', reason: 'not_an_image', visual_gate: null, observation: null,
  }, 'a path is taken from where one stands')
  t.hasStrict(await explain('shots/new.png'), {
    outcome: 'never_seen', now: { exists: true, changed: null, scan_would: 'read' },
  })
  t.hasStrict((await explain('shots/x.gif')).now, { scan_would: 'not_look_at_it' })
  t.hasStrict((await explain('shots/.hid.png')).now, { scan_would: 'not_look_at_it' })
  t.hasStrict((await explain('shots/none.png')).now, { exists: false, scan_would: 'find_nothing' })
  t.hasStrict(await explain('else/where.png'), { root: null, outcome: 'never_seen' })
  const text = (await world.run(['shots', 'explain', join(folder, 'alike.png')])).stdout
  t.match(text,
    /largest difference of a cell of 8x8 pixels is 1\.5, the limit is 3 of 255 \(at 24,16\)/)
  t.match(text, /because: +no cell differs by more than the limit/)
})

t.test('S-072 an image that could not be looked into is explained with the reason of the decoder', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('first.png', greyPng(64, 48, 1))
  world.file('cut.png', greyPng(64, 48, 2).subarray(0, 90), after(1))
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  const path = join(world.folder, 'cut.png')
  const one = await json(world, 'shots', 'explain', path)
  t.hasStrict(one, { outcome: 'ingested', reason: 'not_decodable', decode_reason: 'truncated' })
  t.match((await world.run(['shots', 'explain', path])).stdout,
    /decoding: +the file ends .*truncated/)
  const whole = join(world.folder, 'first.png')
  t.equal((await json(world, 'shots', 'explain', whole)).decode_reason, null)
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)
})

t.test('S-072 every reason has words of its own, and the page says where', (t) => {
  const page = readFileSync(join(process.cwd(), 'docs/dev/screenshots.md'), 'utf8')
  t.match(page, '`src/shots/explain-reasons.ts` lists every code')
  const reasons = [...Object.entries(explainReasons), ...Object.entries(decodeReasons)]
  for (const [code, words] of reasons) t.match(words, /^\w+ .{8,}[^.]$/, code)
  const known = new Set(reasons.map(([code]) => code))
  for (const reason of imageReasons) t.ok(known.has(reason), reason)
  t.end()
})

t.test('S-025 S-068 a copy of an image does not take its name in list, show, explain and report', async (t) => {
  const world = await World.in(t).state().session().images()
  const bytes = greyPng(64, 48, 1)
  const now = Date.now()
  world.file('a.png', bytes, new Date(now - 60_000).toISOString())
  await world.run(['shots', 'scan'])
  world.file('b.png', bytes, new Date(now - 30_000).toISOString())
  t.equal((await json(world, 'shots', 'scan')).duplicate, 2)
  const [row] = await json(world, 'shots', 'list')
  t.equal(row.path, 'a.png')
  const shown = await json(world, 'shots', 'show', row.observation_id)
  t.strictSame(
    [shown.path, shown.paths.map((one: Loose) => one.path)], ['a.png', ['a.png', 'b.png']]
  )
  const explained = await json(world, 'shots', 'explain', join(world.folder, 'b.png'))
  t.equal(explained.observation.path, 'a.png')
  const { report } = await json(world, 'shots', 'report')
  t.equal(report.facts.observations[0].filename, 'a.png')
})

t.test('S-001 S-069 a scanned file is explained as it was taken, also below, linked and oddly named', async (t) => {
  const world = await World.in(t).state().session().images()
  const { folder } = world
  world.file('a.png', greyPng(64, 48, 1))
  world.file('twin.png', greyPng(64, 48, 1), '2026-11-20T10:00:05.000Z')
  const odd = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('x\xff.png', 'latin1')])
  writeFileSync(odd, greyPng(64, 48, 2))
  utimesSync(odd, 1, 1)
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'sub/c.png'), greyPng(64, 48, 3))
  symlinkSync(join(folder, 'a.png'), join(folder, 'link.png'))
  symlinkSync(folder, world.place.path('way'))
  await json(world, 'shots', 'scan')
  const before = world.view().sequence
  const explain = (path: string) => json(world, 'shots', 'explain', path)
  t.hasStrict(await explain(join(folder, 'a.png')), {
    outcome: 'ingested', now: { changed: false, scan_would: 'skip_known' },
  })
  t.hasStrict(
    await explain('way/twin.png'), { outcome: 'duplicate', path: join(folder, 'twin.png') }
  )
  t.hasStrict(await explain('shots/x\ufffd.png'), {
    outcome: 'ingested', path_bytes_base64: odd.toString('base64'),
  })
  t.match((await explain('shots/link.png')).now.why, /link/)
  t.match((await explain('shots/sub/c.png')).now.why, /recursive is off/)
  await world.run(['shots', 'config', 'set', '--recursive', 'on'])
  t.equal((await explain('shots/sub/c.png')).now.scan_would, 'read')
  utimesSync(join(folder, 'a.png'), 5, 5)
  t.hasStrict((await explain('shots/a.png')).now, { changed: true, scan_would: 'read' })
  await world.run(['logout'])
  t.equal((await world.run(['shots', 'explain', 'shots/a.png'])).status, 0, 'needs no session')
  t.equal(world.view().all(c.files).length, 3)
  t.ok(world.view().sequence >= before)
})

const stale = (folder: string, name: string, changes: Partial<Observation> = {}) =>
  observationOf(folder, name, { analysis_status: 'pending', ...changes })

t.test('S-116 S-163 S-164 S-165 clear-stale archives incomplete rows of earlier folders and no other', async (t) => {
  const world = await World.still(t, noon).state().session().images()
  const { folder } = world
  const old = world.place.path('old')
  const dead = newId('op')
  const claimed = (operation: string) => ({
    ...stale(old, 'x').analyzer, contact: 'claimed' as const, operation_id: operation,
  })
  const interrupted = stale(old, 'dead.png', { analyzer: claimed(dead) })
  await world.put(
    stale(old, 'p.png'), stale(old, 'f.png', { analysis_status: 'failed' }),
    stale(old, 'gone.png', { classification: 'source_missing' }),
    stale(old, 'ok.png', { analysis_status: 'succeeded', payload: payloadRefOf() }),
    stale(old, 'retried.png', {
      analysis_status: 'failed', payload: payloadRefOf({ earlier: true }),
    }),
    stale(old, 'claimed.png', { analyzer: claimed(newId('op')) }),
    interrupted,
    stale(folder, 'here.png'), stale(folder, 'gone-here.png', { classification: 'source_missing' }),
  )
  const { store } = world.ctx('write').gov
  await store.transact('test', (tx) => {
    tx.put(runningCollection, interrupted.observation_id, {
      observation_id: interrupted.observation_id, input_digest: sha256Hex('x'),
      operation_id: dead,
      before: { analysis_status: 'pending', reason: null, detail: null, contact: 'none' },
    })
  })
  const kept = () => world.rows().filter((row) => row.archived_at === null)
    .map((row) => row.paths[0]?.name.text).sort()
  const all = kept()
  const mute = await world.run(['shots', 'clear-stale', '--json'])
  t.strictSame([mute.status, kept()], [2, all], 'without somebody to ask it needs --yes')
  const terminal = { stdin: true, stdout: true }
  const no = await world.run(['shots', 'clear-stale'], { terminal, answers: [false] })
  t.strictSame([no.status, kept()], [130, all], 'no is no')
  const ran = await world.run(['shots', 'clear-stale', '--json'], { terminal, answers: [true] })
  t.strictSame(ran.json(), {
    schema: 'sallyport.shots.clear-stale.v1',
    current_root: folder, archived: 4, skipped_active: 1,
  })
  t.strictSame(kept(), [
    'claimed.png', 'gone-here.png', 'here.png', 'ok.png', 'retried.png',
  ])
  const archived = world.rows().filter((row) => row.archived_at !== null)
  t.strictSame([...new Set(archived.map((row) => row.classification))], ['stale_root'])
  t.equal(world.rows().length, 9, 'they stay on disk')
  const env = { SVC_SCREENSHOT_FOLDER: '/' }
  const broad = await world.run(['shots', 'clear-stale', '--yes', '--json'], { env })
  t.strictSame([broad.status, broad.error().code], [3, 'broad_root'], 'no root, nothing is older')
  rmSync(folder, { recursive: true })
  t.equal((await world.run(['shots', 'clear-stale', '--yes'])).status, 0)
})

t.test('S-162 a folder that is in force again makes its rows current again', async (t) => {
  const world = await World.in(t).state().session().images()
  const other = world.place.path('other')
  await world.put(
    observationOf(world.folder, 'a.png', { classification: 'stale_root' }),
    observationOf(other, 'b.png'),
  )
  const classes = async (env = {}): Promise<Loose> => Object.fromEntries(
    (await world.run(['shots', 'list', '--json'], { env })).json()
      .map((row: Loose) => [row.path, row.classification]))
  t.strictSame(await classes(), { 'a.png': null, 'b.png': 'stale_root' })
  t.strictSame(
    await classes({ SVC_SCREENSHOT_FOLDER: other }), { 'a.png': 'stale_root', 'b.png': null }
  )
  t.strictSame(await classes({ SVC_SCREENSHOT_FOLDER: '/' }), {
    'a.png': 'stale_root', 'b.png': null,
  }, 'without a folder what was written stands')
})

t.test('S-143 S-144 there is no sixth status and no third class', async (t) => {
  const row = observationOf('/x', 'a.png')
  const taken = (changes: object): boolean =>
    safeParse(c.observations.schema, { ...row, ...changes }).success
  for (const status of ['pending', 'blocked', 'succeeded', 'failed', 'needs_reanalysis']) {
    t.equal(taken({ analysis_status: status }), true, status)
  }
  for (const status of ['archived', 'degraded', 'stale_root', 'queued', '', null]) {
    t.equal(taken({ analysis_status: status }), false, String(status))
  }
  for (const name of ['source_missing', 'stale_root', null]) {
    t.equal(taken({ classification: name }), true, String(name))
  }
  for (const name of ['archived', 'missing', '']) t.equal(taken({ classification: name }), false)
  t.equal(taken({ status: 'pending' }), false, 'nor another field for it')
})

t.test('S-050 S-146 status, list, show, explain and settings make no network handle', async (t) => {
  const world = await World.in(t).state().session().images()
  const row = observationOf(world.folder, 'a.png')
  await world.put(row)
  const hook = join(process.cwd(), 'test/support/watch-sockets.mjs')
  const file = world.place.path('sockets.json')
  for (const argv of [
    ['status', '--json'], ['list'], ['show', row.observation_id], ['explain', 'shots/a.png'],
    ['config', 'show'],
  ]) {
    const { status, stderr } = await world.place.spawn(['shots', ...argv], {
      nodeArgs: ['--import', hook], env: { SOCKETS_SEEN_FILE: file }, coverage: false,
    })
    t.equal(status, 0, stderr)
    t.strictSame(JSON.parse(readFileSync(file, 'utf8')), [], `${argv[0]} opens nothing`)
    rmSync(file)
  }
})

t.test('a file that was taken in, and archived since, is explained as one that a scan reads', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(64, 48, 1))
  world.file('twin.png', greyPng(64, 48, 1), '2026-11-20T10:00:05.000Z')
  await json(world, 'shots', 'scan')
  const other = world.place.path('other')
  mkdirSync(other)
  await json(world, 'shots', 'config', 'set', '--folder', other)
  await json(world, 'shots', 'clear-stale', '--yes')
  await json(world, 'shots', 'config', 'set', '--folder', world.folder)
  for (const name of ['a.png', 'twin.png']) {
    const { now } = await json(world, 'shots', 'explain', join(world.folder, name))
    t.hasStrict(now, { changed: false, scan_would: 'read' })
    t.match(now.why, 'archived')
  }
  t.hasStrict(await json(world, 'shots', 'scan'), { ingested: 1 })
  const { now } = await json(world, 'shots', 'explain', join(world.folder, 'a.png'))
  t.hasStrict(now, { changed: false, scan_would: 'skip_known' })
})
