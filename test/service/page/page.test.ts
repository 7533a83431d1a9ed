/** The page of a real service: how it is opened, who gets nothing, what it shows and can do. */
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { offerPairing } from '../../../src/edge/pairing.js'
import { systemClock } from '../../../src/base/clock.js'
import { dropLastUse, readLastUse, touchLastUse } from '../../../src/governance/session/last-use.js'
import { hour, movedClock } from '../../support/clock.js'
import { codeOf } from '../../support/edge/uploading.js'
import { must } from '../../support/must.js'
import { image } from '../../support/png.js'
import { askPage, codeIn, openPage } from '../../support/service/paging.js'
import { standInReply } from '../../support/service/reply.js'
import { processWorld, serving, type Got, type Serving } from '../../support/service/serving.js'
import { t } from '../../support/tests-in-slices.js'
import { Service } from '../../../src/service/service.js'
import { touchEveryMs } from '../../../src/service/perform.js'
import { Threads } from '../../../src/service/threads.js'
import { PageDesk } from '../../../src/service/page/desk.js'
import { pageEndpoints } from '../../../src/service/page/endpoints.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'

const overview = '/api/overview'
const scan = '/api/observer/screenshot-folder/scan'
const settings = '/api/settings/screen-analysis'
const revokeAll = '/api/policy/revoke'
const deviceId = 'edge_dev_01890000-0000-7000-8000-000000000000'

/** Everything that the page answers with a run token. */
const routes = [
  ['GET', overview], ['POST', scan], ['PUT', settings], ['POST', revokeAll],
  ['POST', `/api/edge/devices/${deviceId}/revoke`], ['POST', '/api/page/report'],
  ['POST', '/api/page/close'],
] as const

const bodyFor = (path: string): object | undefined => {
  if (path === scan) return {}
  return path === settings ? { screenshot_folder: '/nowhere' } : undefined
}

const setup = async (t: Teardown, env: Readonly<Record<string, string>> = {}) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).state().session().images()
  const at = await serving(t, world, { page: world.session().root.root_id, env })
  return { world, at, clock }
}

const pairDevice = async (
  world: Awaited<ReturnType<typeof setup>>['world'], at: Serving,
): Promise<{ readonly credential: string; readonly device_id: string }> => {
  const { origin, pin } = at.started.identity
  const gov = { ...world.gov, store: world.open('write') }
  const { pairing } = await offerPairing(gov, world.session(), { origin, pin })
  return (await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(pairing), device_name: 'camera' },
  })).json()
}

const codeIs = (got: Got): unknown => got.json().error?.code

t.test('a private file leads a browser to the page with a code that works once, within a minute', async (t) => {
  const { at, clock } = await setup(t)
  const file = at.started.offered?.openFile ?? ''
  t.equal(statSync(file).mode & 0o777, 0o600)
  const code = codeIn(file)
  t.equal(at.started.offered?.code, code)
  t.notOk(JSON.stringify(at.started.page).includes(code), 'what is told of it holds no code')
  const open = (body: unknown) => askPage(at, 'POST', '/api/page/open', { body })
  for (const [body, status] of [
    [{ code: 'A'.repeat(22) }, 401], [{ code: 'short' }, 400], [{ code: 7 }, 400], [{}, 400],
    [{ code, more: 1 }, 400], ['no', 400],
  ] as const) t.equal((await open(body)).status, status, JSON.stringify(body))
  t.ok(existsSync(file), 'no wrong code takes it away')
  const opened = await open({ code })
  t.equal(opened.status, 201)
  t.strictSame(Object.keys(opened.json()), ['schema', 'token', 'at', 'commands'])
  t.notOk(existsSync(file), 'a file whose code is used is gone')
  t.equal(codeIs(await open({ code })), 'page_code_refused', 'a second time')
  const { open_file: next } = (await at.ask('POST', '/api/page/offers')).json()
  const late = codeIn(next)
  clock.advance(60_000)
  t.equal(codeIs(await open({ code: late })), 'page_code_refused', 'after a minute')
  t.equal((await askPage(at, 'GET', overview, { token: opened.json().token })).status, 200)
})

t.test('every route refuses whoever has no run token of this process, with a session or a credential too', async (t) => {
  const { world, at } = await setup(t)
  const { credential } = await pairDevice(world, at)
  const run = await openPage(at)
  const closed = run
  const before = JSON.stringify([world.rows(), await at.get('/api/policy')])
  const wrong = [
    null, 'wrong', `spr_${'A'.repeat(43)}`, at.token(), credential, run.toLowerCase(),
  ]
  for (const [method, path] of routes) {
    for (const token of wrong) {
      const got = await askPage(at, method, path, { token, body: bodyFor(path) })
      t.equal(got.status, 401, `${method} ${path} ${String(token).slice(0, 6)}`)
      t.equal(codeIs(got), 'page_token_refused')
    }
  }
  for (const path of ['/api/status', '/api/session', '/openapi.json', '/healthz', '/api/policy']) {
    t.equal((await askPage(at, 'GET', path, { token: run })).status, 404, `${path} is not here`)
  }
  for (const path of ['/', '/page.js', '/api/page/open']) {
    t.equal((await at.ask('GET', path)).status, 404, `${path} is not by TLS`)
  }
  t.equal((await at.ask('GET', '/api/status', { token: run })).status, 401)
  t.equal((await askPage(at, 'POST', '/api/page/close', { token: run })).status, 200)
  for (const [method, path] of routes) {
    t.equal((await askPage(at, method, path, { token: closed, body: bodyFor(path) })).status, 401)
  }
  t.equal(JSON.stringify([world.rows(), await at.get('/api/policy')]), before)
})

t.test('another Host, Origin, site, peer, or what was forwarded gets nothing; a person may arrive from anywhere', async (t) => {
  const { world, at } = await setup(t)
  const token = await openPage(at)
  const { port, origin } = new URL(at.started.page?.url ?? '')
  const tls = at.started.identity.port
  const asked = async (path: string, headers: Record<string, string>) =>
    (await askPage(at, 'GET', path, { token, headers })).status
  for (const path of ['/', '/page.js', overview]) {
    for (const [status, headers] of [
      [421, { Host: `evil.example:${port}` }], [421, { Host: `127.0.0.1:${tls}` }],
      [421, { Host: '127.0.0.1' }], [403, { Origin: 'null' }],
      [403, { Origin: 'https://evil.example' }], [403, { Origin: `https://127.0.0.1:${port}` }],
      [403, { Origin: `http://127.0.0.1:${tls}` }], [403, { 'Sec-Fetch-Site': 'cross-site' }],
      [403, { 'Sec-Fetch-Site': 'same-site' }], [403, { 'X-Forwarded-For': '127.0.0.1' }],
      [403, { Forwarded: 'for=127.0.0.1' }], [403, { Via: '1.1 proxy' }],
    ] as const) t.equal(await asked(path, headers), status, `${path} ${JSON.stringify(headers)}`)
    t.equal(await asked(path, { Origin: origin, 'Sec-Fetch-Site': 'same-origin' }), 200)
  }
  const arrival = {
    'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document',
  }
  t.equal(await asked('/', arrival), 200, 'from the private file')
  t.equal(await asked('/', { ...arrival, 'Sec-Fetch-Dest': 'iframe' }), 403)
  t.equal(await asked('/', { ...arrival, 'Sec-Fetch-Mode': 'cors' }), 403)
  t.equal(await asked('/?x=1', arrival), 403)
  t.equal(await asked(overview, arrival), 403)
  t.equal(await asked('/', { ...arrival, Origin: 'null' }), 403)
  t.equal(await peerStatus(world, '10.0.0.7'), 403, 'another machine')
  t.equal(await peerStatus(world, '127.0.0.1'), 200)
})

/** What a peer of this address is answered. */
const peerStatus = async (
  world: Awaited<ReturnType<typeof setup>>['world'], remoteAddress: string,
): Promise<number> => {
  const { stateDir, configDir } = world.place
  const service = new Service({
    world: processWorld(world, new AbortController().signal), place: { stateDir, configDir },
    threads: new Threads({ stateDir, configDir, home: '/', env: {}, execArgv: [] }),
    endpoints: [], page: pageEndpoints(new PageDesk(world.clock, stateDir)),
  })
  const { response, written } = standInReply()
  await service.handle({
    method: 'GET', url: '/', headers: { host: 'localhost:1' }, rawHeaders: ['Host', 'localhost:1'],
    complete: true, socket: { remoteAddress },
  } as unknown as IncomingMessage, response, {
    hosts: ['localhost:1'], scheme: 'http', landing: '/',
  })
  await service.stop()
  return written.status ?? 0
}

t.test('what the page asks by itself is no use of the session; what a person does in it is', async (t) => {
  const { world, at, clock } = await setup(t)
  const token = await openPage(at)
  const { stateDir } = world.place
  const root = world.session().root.root_id
  // A thread goes by the machine's clock; by that one, too, the last use is long enough ago.
  dropLastUse(stateDir, root)
  touchLastUse(stateDir, root, systemClock.wallMs() - 2 * touchEveryMs)
  const used = readLastUse(stateDir, root)
  t.not(used, null)
  clock.advance(10 * 60_000)
  for (const look of ['first', 'second', 'third']) {
    t.equal((await askPage(at, 'GET', overview, { token })).status, 200, look)
  }
  t.equal(readLastUse(stateDir, root), used, 'three looks')
  clock.advance(18 * 60_000)
  t.equal((await askPage(at, 'GET', overview, { token })).status, 200)
  clock.advance(2 * 60_000)
  const idle = await askPage(at, 'GET', overview, { token })
  t.equal(codeIs(idle), 'session_idle', 'looking kept nothing alive')
  await at.stop()
  must(await world.run(['login']))
  const again = await serving(t, world, { page: world.session().root.root_id })
  const opened = await openPage(again)
  clock.advance(10 * 60_000)
  const body = { screenshot_folder: world.folder }
  t.equal((await askPage(again, 'PUT', settings, { token: opened, body })).status, 200)
  const noted = readLastUse(stateDir, world.session().root.root_id)
  t.ok((noted ?? 0) > (used ?? 0) + 30 * 60_000, 'a folder was saved')
})

t.test('a session that ended ends its page, also a page that was offered and not opened yet', async (t) => {
  const { world, at } = await setup(t)
  const token = await openPage(at)
  const { open_file: file } = (await at.ask('POST', '/api/page/offers')).json()
  const code = codeIn(file)
  must(await world.run(['logout']))
  for (const [method, path] of routes.slice(0, -1)) {
    const got = await askPage(at, method, path, { token, body: bodyFor(path) })
    t.equal(got.status, 401, `${method} ${path}`)
    t.equal(codeIs(got), 'session_ended')
  }
  const opened = await askPage(at, 'POST', '/api/page/open', { body: { code } })
  t.equal(codeIs(opened), 'session_ended')
})

t.test('S-110 the page shows the status of the scan and its action, and the action scans', async (t) => {
  const { world, at } = await setup(t)
  const token = await openPage(at)
  const folder = async () => (await askPage(at, 'GET', overview, { token })).json().folder
  t.hasStrict(await folder(), {
    local_scan_status: 'never', newest_item_at: null, inspection_endpoint: String(
      '/api/observer/screen-artifacts/{observation_id}/analysis'),
    stored_artifact_type: 'image', manual_scan_action: { method: 'POST', path: scan },
  })
  const taken = new Date(Math.floor(systemClock.wallMs() / 1_000) * 1_000 - 40 * hour)
  world.file('1.png', image(1), taken.toISOString())
  const { manual_scan_action: action } = await folder()
  const got = await askPage(at, action.method, action.path, { token, body: {} })
  t.hasStrict(got.json(), { scanned: 1, ingested: 1 })
  t.equal(world.rows().length, 1)
  const after = await folder()
  t.hasStrict(after, {
    local_scan_status: 'ok', image_count: 1, newest_item_at: taken.toISOString(),
  })
  const hours = Math.floor(after.newest_item_age_seconds / 3_600)
  t.equal(hours, 40, 'it counts from when it was taken, not from when it was found')
  if (process.getuid?.() !== 0) {
    chmodSync(world.folder, 0)
    await askPage(at, 'POST', scan, { token, body: {} })
    chmodSync(world.folder, 0o700)
  } else {
    renameSync(world.folder, `${world.folder}.away`)
    await askPage(at, 'POST', scan, { token, body: {} })
  }
  t.not((await folder()).local_scan_status, 'ok', 'a folder that cannot be read')
})

t.test('S-111 the saved folder can be edited where no variable overrides it, and nothing else can be saved', async (t) => {
  const { world, at } = await setup(t)
  const token = await openPage(at)
  const save = (body: unknown) => askPage(at, 'PUT', settings, { token, body })
  const shown = async (of = at, as = token) =>
    (await askPage(of, 'GET', overview, { token: as })).json().folder
  const other = world.place.path('other')
  mkdirSync(other)
  t.hasStrict(await shown(), { editable: true, saved_folder: world.folder })
  t.equal((await save({ screenshot_folder: other })).status, 200)
  t.hasStrict(await shown(), { editable: true, saved_folder: other, configured_folder: other })
  const before = must(await world.run(['shots', 'config', 'show', '--json'])).stdout
  for (const body of [
    { cloud_upload: 'on' }, { screenshot_folder: other, analysis: 'on' },
    { screenshot_folder: other, budget_microusd: 1 }, { screenshot_folder: null }, {}, [], 'x',
  ]) t.equal((await save(body)).status, 400, JSON.stringify(body))
  for (const body of [{ screenshot_folder: world.folder }, { limit: 1 }, { artifact_root: 'x' }]) {
    t.equal((await askPage(at, 'POST', scan, { token, body })).status, 400, JSON.stringify(body))
  }
  t.equal(must(await world.run(['shots', 'config', 'show', '--json'])).stdout, before)
  await at.stop()
  const fixed = await serving(t, world, {
    page: world.session().root.root_id, env: { SVC_SCREENSHOT_FOLDER: other },
  })
  t.hasStrict(await shown(fixed, await openPage(fixed)), {
    editable: false, configured_folder: other, configuration_source: 'environment',
  })
})

t.test('the page revokes every route and a device; what that device sends is refused at once', async (t) => {
  const { world, at } = await setup(t)
  const token = await openPage(at)
  const { credential, device_id: device } = await pairDevice(world, at)
  const body = image(1)
  const head = Buffer.from(JSON.stringify({
    schema: 'sallyport.edge.upload.input.v1', request_id: randomUUID(), sequence: 7,
    captured_at: '2026-11-20T10:00:00.000Z', bytes: body.length, mime: 'image/png',
    sha256: createHash('sha256').update(body).digest('hex'), purpose: 'screen_capture',
    policy: { cloud_egress: false, model_egress: false },
  })).toString('base64url')
  const send = () => at.ask('POST', '/api/edge/artifacts', {
    token: credential, body,
    headers: { 'Content-Type': 'image/png', 'Sallyport-Edge-Upload': head },
  })
  t.equal((await send()).status, 201)
  const look = async () => (await askPage(at, 'GET', overview, { token })).json()
  t.hasStrict((await look()).devices, [{ device_name: 'camera', last_sequence: 7, revoked: false }])
  const revoke = `/api/edge/devices/${device}/revoke`
  t.hasStrict((await askPage(at, 'POST', revoke, { token })).json(), { ended: true })
  t.equal((await send()).status, 401)
  t.hasStrict((await look()).devices, [{ revoked: true, ended_reason: 'revoked' }])
  t.hasStrict((await askPage(at, 'POST', revokeAll, { token })).json(), { state: 'revoked' })
  const now = await look()
  t.hasStrict(now.policy, { state: 'revoked', usable: false })
  t.hasStrict(now.waiting[0], { what: 'policy', command: 'sallyport setup' })
})

t.test('the day is the page of the report builder, shown once under a path that then shows nothing', async (t) => {
  const { world, at, clock } = await setup(t)
  world.file('1.png', image(1), new Date().toISOString())
  must(await world.run(['shots', 'scan']))
  const token = await openPage(at)
  const offer = async () =>
    String((await askPage(at, 'POST', '/api/page/report', { token })).json().path)
  const path = await offer()
  t.match(path, /^\/report\/[A-Za-z0-9_-]{22}$/)
  const got = await askPage(at, 'GET', path)
  t.equal(got.status, 200)
  t.match(got.bytes.toString(), /<h2 id="timeline">Timeline/)
  t.match(got.bytes.toString(), /1\.png/)
  t.match(got.headers['content-security-policy'], /default-src 'none'.*sandbox/)
  t.equal((await askPage(at, 'GET', path)).status, 410, 'a second time')
  const late = await offer()
  clock.advance(60_000)
  t.equal((await askPage(at, 'GET', late)).status, 410, 'after a minute')
  const early = await offer()
  must(await world.run(['logout']))
  t.equal((await askPage(at, 'GET', early)).status, 410, 'its session has ended')
})

t.test('no file of the page has a script, a style or an address in it, and each may load its own alone', async (t) => {
  const { at } = await setup(t)
  const page = await askPage(at, 'GET', '/')
  const text = page.bytes.toString()
  t.notMatch(text, /<script(?! type="module" src="\/page\.js")|<style|\sstyle=|\son\w+=|https?:/)
  t.hasStrict(page.headers, {
    'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff', 'cross-origin-opener-policy': 'same-origin',
    'set-cookie': undefined,
  })
  const policy = String(page.headers['content-security-policy'])
  for (const part of [
    "default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'",
    "connect-src 'self'", "base-uri 'none'", "require-trusted-types-for 'script'",
  ]) t.match(policy, part)
  t.notMatch(policy, 'unsafe')
  for (const [path, type] of [
    ['/page.js', /javascript/], ['/page.css', /css/], ['/icon.svg', /svg/],
  ] as const) {
    const file = await askPage(at, 'GET', path)
    t.match(file.headers['content-type'], type)
    t.equal(file.headers['x-content-type-options'], 'nosniff')
    t.notMatch(file.bytes.toString(), /https?:\/\/(?!www\.w3\.org\/2000\/svg)/)
    t.notMatch(file.bytes.toString(), /localStorage|sessionStorage|indexedDB|document\.cookie/)
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
    t.equal((await askPage(at, method, '/')).status, 405, method)
  }
})
