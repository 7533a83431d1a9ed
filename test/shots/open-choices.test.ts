/** What the requirement tables leave open is fixed in one page, and the program keeps to it. */
import type { Test } from 'tap'
import { safeParse } from 'valibot'
import { stateRules } from '../../src/fabric/state-rules.js'
import { reanalyzeReasons, shotLimits } from '../../src/shots/constants.js'
import { observationFactsShape } from '../../src/shots/observations/facts.js'
import { parseSettingsChange, resolveSettings } from '../../src/shots/source/settings.js'
import { shotsStatus } from '../../src/shots/status/status-contract.js'
import { page } from '../support/page.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { allVerbs } from '../world/program.js'
import { World } from '../world/world.js'

const choices = page('docs/decisions/open-choices.md')

/** The sentence in which a row is settled. */
const choice = (id: string): string =>
  new RegExp(`^\\| ${id} \\| (.+) \\|$`, 'm').exec(choices)?.[1] ?? ''

const fieldsIn = (text: string): string[] =>
  (/`\{([^}]*)\}`/.exec(text)?.[1] ?? '').split(',').map((name) => name.trim())
    .filter((name) => name !== '…')

const verbNamed = async (name: string) => {
  const found = (await allVerbs()).find(({ meta }) => meta.name === name)
  if (found === undefined) throw new Error(`no verb ${name}`)
  return found
}

t.test('S-177 the answer to a scan is its receipt, with the fields that the page names', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(32, 32, 1))
  const receipt = (await world.run(['shots', 'scan', '--json'])).json()
  const fields = fieldsIn(choice('S-177'))
  t.ok(fields.length > 12)
  for (const name of fields) t.ok(Object.hasOwn(receipt, name), name)
})

t.test('S-180 a reanalysis takes one field, reason, with one of the four words', async (t) => {
  t.match(choice('S-180'), /\{"reason": R\}/)
  t.equal(reanalyzeReasons.length, 4)
  const { flags } = await verbNamed('shots reanalyze')
  t.strictSame(flags.find(({ long }) => long === '--reason')?.choices, [...reanalyzeReasons])
})

t.test('S-183 the artifact analysis has a path, and the fields of shots show', async (t) => {
  const path = '/api/observer/screen-artifacts/{observation_id}/analysis'
  t.ok(choice('S-183').includes(`GET ${path}`))
  const world = await World.in(t).state().session().images()
  const status = (await world.run(['shots', 'status', '--json'])).json()
  t.equal(status.screenshot_folder.inspection_endpoint, path)
  for (const name of [
    'source', 'sha256', 'bytes', 'format', 'width', 'height', 'observation_id', 'report_readiness',
  ]) t.ok(Object.hasOwn(observationFactsShape.entries, name), name)
})

t.test('S-185 the settings body takes every name of the table in the page, and no other', async (t) => {
  t.match(choice('S-185'), /PUT \/api\/settings\/screen-analysis/)
  const [, settings = ''] = page('docs/dev/screenshots.md').split('## Settings')
  const [table = ''] = settings.split('### Sample')
  const names = [...table.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+)/gm)]
    .flatMap(([, cell]) => [...(cell ?? '').matchAll(/`([a-z_]+)`/g)].map(([, name]) => name ?? ''))
  t.equal(names.length, 28)
  for (const name of names) {
    t.strictSame(parseSettingsChange({ [name]: null }), { [name]: null }, name)
  }
  t.throws(() => parseSettingsChange({ artifact_root: '/x' }), { code: 'settings_invalid' })
})

t.test('S-187 S-212 the settings status is one document that names its schema', async (t) => {
  t.match(choice('S-187'), /GET \/api\/settings\/artifact-storage/)
  t.match(choice('S-212'), /Paths carry no version/)
  const world = await World.in(t).state().session().images()
  const status = (await world.run(['shots', 'status', '--json'])).json()
  t.equal(safeParse(shotsStatus.output, status).success, true)
  t.equal(status.schema_version, 'svc.screenshot_status.v1')
  const paths = [...choices.matchAll(/\/api\/[a-z{}_/-]+/g)].map(([path]) => path)
  t.ok(paths.length >= 4)
  for (const path of paths) t.notMatch(path, /\/v\d/, path)
})

t.test('S-189 clearing has a path and no body', async (t) => {
  t.match(choice('S-189'), /POST \/api\/settings\/screen-analysis\/clear-stale`, no body/)
  const world = await World.in(t).state().session().images()
  const cleared = await world.run(['shots', 'clear-stale', '--yes', '--json'])
  t.strictSame(cleared.json(), {
    schema: 'sallyport.shots.clear-stale.v1',
    current_root: world.folder, archived: 0, skipped_active: 0,
  })
})

t.test('no collection is one of events, as the page says', async (t) => {
  t.match(choice('S-200'), /There are no events/)
  for (const { name } of (await stateRules()).collections) t.notMatch(name, /event/, name)
})

const refusal = async (t: Test, argv: string[]): Promise<[number, string, number]> => {
  const ran = await World.in(t).place.run(argv)
  return [ran.status, ran.error().code, ran.error().status]
}

t.test('S-206 refusals have the exit statuses and codes that the page names', async (t) => {
  t.match(choice('S-206'), /`broad_root` \(422, exit 3\)/)
  const world = await World.in(t).state().session().images()
  const told = async (argv: string[]) => {
    const ran = await world.run(argv, { stdin: '{"artifact_root":"/x"}' })
    const { code, status, ...rest } = ran.error()
    t.strictSame(Object.keys(rest).sort(), ['details', 'hint', 'message', 'next', 'reason'])
    return [ran.status, code, status]
  }
  t.strictSame(await told(['shots', 'scan', '--folder', '/', '--json']), [3, 'broad_root', 422])
  t.strictSame(await told(['shots', 'config', 'set', '--from', '-', '--json']), [
    3, 'settings_invalid', 400,
  ])
  t.strictSame(
    await told(['shots', 'scan', '--from', '-', '--json']), [3, 'scan_input_invalid', 400]
  )
  t.strictSame(await told(['shots', 'show', 'obs_x', '--json']), [6, 'observation_not_found', 404])
  t.strictSame(await refusal(t, ['shots', 'list', '--json']), [10, 'no_state', 503])
})

t.test('S-210 S-211 refresh window, analysis limit and interval are those of the page', async (t) => {
  t.match(choice('S-210'), /30 minutes by default, 1 to 1440/)
  t.match(choice('S-211'), /limit is 20, the interval 60 seconds/)
  const world = await World.in(t).state().session().images()
  const settings = resolveSettings(world.view(), {})
  t.equal(settings.refreshMinutes.value, 30)
  t.equal(shotLimits.visualRunRefreshMinutesMax, 1_440)
  t.equal(settings.analysisLimit.value, 20)
  t.equal(settings.analysisIntervalSeconds.value, 60)
  const set = (minutes: string) => world.run([
    'shots', 'config', 'set', '--json', '--visual-run-refresh-minutes', minutes,
  ])
  t.equal((await set('1440')).json().settings.visual_run_refresh_minutes.value, 1_440)
  t.equal((await set('1441')).status, 3)
})
