/** The screenshot source over HTTP: the checks of its rows, with a request in place of the verb. */
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { allowed } from '../world/images.js'
import type { Teardown } from '../world/place.js'
import { World } from '../world/world.js'

const scanPath = '/api/observer/screenshot-folder/scan'

const setup = async (t: Teardown) => {
  const world = await World.in(t).state().session().images()
  return { world, at: await serving(t, world) }
}

t.test('S-172 S-173 S-174 S-175 S-176 S-194 the scan endpoint takes an optional object of two fields, and reads files only', async (t) => {
  const { world, at } = await setup(t)
  for (const n of [1, 2, 3, 4, 5]) world.file(`${n}.png`, image(n))
  const listed = () => readdirSync(world.folder).map((name) => {
    const { mtimeMs, mode, size } = statSync(join(world.folder, name))
    return [name, mtimeMs, mode, size]
  })
  const before = listed()
  for (const [what, body] of [
    ['an array', []], ['a text', '"x"'], ['a number', '7'], ['null', 'null'],
    ['an unknown field', { foo: 1 }], ['a legacy field', { artifact_root: '/x' }],
    ['half a limit', { limit: 1.5 }], ['a limit as text', { limit: '2' }],
    ['a limit of true', { limit: true }], ['1e0', '{"limit":1e0}'], ['1.0', '{"limit":1.0}'],
    ['a folder that is no text', { screenshot_folder: 7 }],
    ['a key twice', '{"limit":1,"limit":2}'],
  ] as const) {
    const got = await at.ask('POST', scanPath, { body })
    t.equal(got.status, 400, what)
  }
  t.strictSame(world.rows(), [], 'nothing was taken in')
  const two = await at.ask('POST', scanPath, { body: { limit: 2 } })
  t.equal(two.status, 200)
  t.hasStrict(two.json(), { scanned: 5, ingested: 2, deferred: 3 })
  const rest = await at.ask('POST', scanPath)
  t.hasStrict(rest.json(), { ingested: 3 }, 'no body is an empty object')
  t.hasStrict((await at.ask('POST', scanPath, { body: {} })).json(), { ingested: 0, known: 5 })
  t.equal(world.rows().length, 5)
  t.strictSame(listed(), before)
  const refused = await at.ask('POST', scanPath, {
    body: {}, headers: { 'Content-Type': 'text/plain' },
  })
  t.equal(refused.status, 415)
})

t.test('S-112 S-181 S-182 S-183 S-186 S-187 local facts of an image and the status, by the endpoint that the status names', async (t) => {
  const { world, at } = await setup(t)
  world.file('one.png', image(1))
  must(await world.run(['shots', 'scan']))
  const id = world.rows()[0]?.observation_id ?? ''
  const status = await at.get('/api/settings/artifact-storage')
  t.hasStrict(status.screenshot_folder, { configured_folder: world.folder })
  t.ok(status.screenshot_folder.analysis)
  t.ok(status.remote_vision ?? status.vision ?? status.remote_vision_profile, 'the profile, too')
  const endpoint = status.screenshot_folder.inspection_endpoint
  t.match(endpoint, /analysis$/)
  const path = endpoint.replace(/^GET /, '').replace(/\{\w+\}/, id)
  const facts = await at.get(path)
  t.strictSame(facts, JSON.parse(must(await world.run(['shots', 'show', id, '--json'])).stdout))
  t.matchStrict(facts, {
    source: 'screenshot_folder', sha256: /^[0-9a-f]{64}$/, bytes: Number, format: 'png',
    width: Number, observation_id: id, report_readiness: String,
  })
  t.notOk('payload' in facts)
  const other = `${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}`
  t.equal((await at.ask('GET', path.replace(id, other))).status, 404)
})

t.test('S-184 S-185 the folder is saved, a broad one and an unknown name are refused', async (t) => {
  const { world, at } = await setup(t)
  const path = '/api/settings/screen-analysis'
  const other = world.place.path('other')
  mkdirSync(other)
  must(await world.run(['shots', 'config', 'set', '--folder', world.folder]))
  for (const [body, status] of [
    [{ screenshot_folder: '' }, 400], [{ screenshot_folder: 7 }, 400],
    [{ artifact_root: other }, 400], [{ screenshot_folder: '/' }, 400],
    [{ screenshot_folder: world.place.env['HOME'] }, 400], [[], 400],
  ] as const) {
    const got = await at.ask('PUT', path, { body })
    t.ok(got.status === status || got.status === 422, `${JSON.stringify(body)}: ${got.status}`)
  }
  const saved = await at.ask('PUT', path, { body: { screenshot_folder: other } })
  t.equal(saved.status, 200)
  const shown = JSON.parse(must(await world.run(['shots', 'config', 'show', '--json'])).stdout)
  const nothingLeft = { requests: [] }
  t.strictSame(saved.json(), { ...shown, ...nothingLeft })
  t.match(JSON.stringify(shown), other)
})

t.test('a day is told by the route as by the verb, to a session alone, and writes no file', async (t) => {
  const { world, at } = await setup(t)
  const path = '/api/shots/day?day=yesterday&from=14:00&to=16:00&time_zone=UTC'
  const got = await at.ask('GET', path)
  t.equal(got.status, 200)
  const line = ['shots', 'day', 'yesterday', '--from', '14:00', '--to', '16:00']
  const told = await world.run([...line, '--time-zone', 'UTC', '--json'])
  t.strictSame(got.json(), told.json())
  t.equal((await at.ask('GET', path, { token: null })).status, 401)
  for (const more of ['csv=day.csv', 'ical=day.ics', 'week=1']) {
    const wrong = await at.ask('GET', `/api/shots/day?${more}`)
    t.equal(wrong.json().error.code, 'http_query', more)
  }
})

t.test('areas that do not count are saved, added, refused and told', async (t) => {
  const { at } = await setup(t)
  const path = '/api/settings/screen-analysis'
  const [one, two] = ['1920x1080:0,0,40,10', '1920x1080:1800,0,120,40']
  t.equal((await at.ask('PUT', path, { body: { ignore: [one] } })).status, 200)
  const saved = await at.ask('PUT', path, { body: { add_ignore: [two] } })
  t.strictSame(saved.json().settings.ignore.value, [one, two])
  const whole = await at.ask('PUT', path, { body: { add_ignore: ['64x48:0,0,64,48'] } })
  t.ok([400, 422].includes(whole.status), `${whole.status}`)
  t.equal(whole.json().error.code, 'ignore_too_large')
  const status = await at.ask('GET', '/api/settings/artifact-storage')
  t.strictSame(status.json().screenshot_folder.ignored, [one, two])
  t.equal((await at.ask('PUT', path, { body: { ignore: null } })).status, 200)
  const report = await at.ask('GET', '/api/observer/screenshot-report')
  t.strictSame(report.json().report.provenance.ignored, { areas: [], observations: 0 })
})

t.test('S-178 S-188 reanalysis and clear-stale are for this machine itself: what was forwarded is refused', async (t) => {
  const { world, at } = await setup(t)
  const obs = '/api/observer/screen-artifacts/obs_01890000-0000-7000-8000-000000000000/reanalyze'
  const clear = '/api/settings/screen-analysis/clear-stale'
  const before = world.rows()
  for (const header of [
    'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded', 'X-Real-IP', 'Via',
    'X-Client-IP', 'True-Client-IP', 'CF-Connecting-IP', 'X-Original-Forwarded-For',
    'X-Envoy-External-Address',
  ]) {
    for (const path of [obs, clear]) {
      const got = await at.ask('POST', path, {
        headers: { [header]: '127.0.0.1' },
        body: path === obs ? { reason: 'manual_operator_request' } : undefined,
      })
      t.equal(got.status, 403, `${header} ${path}`)
      t.hasStrict(got.json(), { error: { code: 'http_peer' } })
    }
  }
  t.strictSame(world.rows(), before)
  t.equal((await at.ask('POST', clear)).status, 200)
})

t.test('S-179 S-180 S-189 exactly one of four reasons, and nothing is sent for any other', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway().images(allowed)
  const at = await serving(t, world)
  world.file('one.png', image(1))
  must(await world.run(['shots', 'scan']))
  const id = world.rows()[0]?.observation_id ?? ''
  const path = `/api/observer/screen-artifacts/${id}/reanalyze`
  const sent = () => world.sandbox.log.all({ service: 'gateway' }).length
  const before = sent()
  for (const body of [
    {}, { reason: 'because' }, { reason: ['manual_operator_request'] }, { reason: null },
    { reason: 'manual_operator_request', target: id },
    '{"reason":"manual_operator_request","reason":"provider_failure_retry"}',
  ]) {
    t.equal((await at.ask('POST', path, { body })).status, 400, JSON.stringify(body))
  }
  t.equal(sent(), before)
  for (const reason of [
    'prompt_version_changed', 'model_version_changed', 'provider_failure_retry',
    'manual_operator_request',
  ]) {
    const got = await at.ask('POST', path, { body: { reason } })
    t.not(got.status, 400, `${reason}: its form is accepted, ${got.status}`)
  }
})
