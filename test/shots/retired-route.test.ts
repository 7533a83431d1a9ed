import { readFileSync, readdirSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { stateRules } from '../../src/fabric/state-rules.js'
import { greyPng } from '../support/png.js'
import { t } from '../support/tests-in-slices.js'
import { allVerbs } from '../world/program.js'
import { World } from '../world/world.js'

const filesBelow = (folder: string): string[] => readdirSync(folder, { recursive: true })
  .map((name) => join(folder, String(name)))
  .filter((path) => statSync(path).isFile())

const folder = process.cwd()
const sources = filesBelow(join(folder, 'src'))
const pages = ['README.md', ...filesBelow(join(folder, 'docs'))]
  .map((path) => join(folder, path.replace(`${folder}/`, '')))
  // The requirement tables tell what has to be proved, the retired route included.
  .filter((path) => path.endsWith('.md'))
const textOf = (path: string): string => readFileSync(path, 'utf8')
const topicFile = join(folder, 'src/cli/help/topics.ts')

const topic = async (t: Test, name: string): Promise<string> =>
  (await World.in(t).place.run(['help', name])).stdout.replaceAll(/\s+/g, ' ')

t.test('S-045 the retired route is told as retired and for rollback diagnosis only, nowhere else', async (t) => {
  const told = await topic(t, 'retired-route')
  for (const words of [
    'rollback diagnosis only', 'This route is retired',
    'must not be configured for current analysis',
    'not an active setup path', 'a local analysis wrapper in front of a GPU model server',
  ]) t.ok(told.includes(words), words)
  const mention = /SVC_VLM|local-vlm|SCREEN_ANALYSIS_PROVIDER|GPU|analyze-file/
  for (const path of pages) {
    for (const line of textOf(path).split('\n').filter((one) => mention.test(one))) {
      t.match(line, /retired|rollback diagnosis/, path.slice(folder.length))
    }
  }
  for (const { meta } of await allVerbs()) {
    const shown = [meta.summary, meta.description, ...meta.examples].join('\n')
    t.notMatch(shown, mention, meta.name)
  }
})

t.test('S-047 S-048 S-049 S-050 endpoints, settings names and lanes are recorded word by word', async (t) => {
  const told = await topic(t, 'retired-route')
  for (const words of [
    '/health, /health/backend, /queue/status, /health/chat, POST /v1/analyze-file (multipart '
      + 'upload) and POST /v1/analyze (base64 payload)',
    'SVC_VLM_BASE_URL, SVC_VLM_BACKEND_URL, SVC_VLM_API_KEY, SVC_VLM_FEEDER_WINDOW (default 2), '
      + 'SCREEN_ANALYSIS_PROVIDER=local-vlm',
    'Default concurrency: 2',
    'chat_thinking (interactive), report_thinking (high) and screenshot_fast (normal), dispatched '
      + 'work-conserving with the highest ready lane first and never interrupting a running job, '
      + 'over direct HTTP and never tunnels',
    'vlm_runtime.live_probe.checked=false with reason deferred_fast_metadata',
  ]) t.ok(told.includes(words), words)
})

t.test('S-046 S-047 S-049 no code reads a retired name, calls a retired path or makes a tunnel', async (t) => {
  const retired = new RegExp([
    'SVC_VLM', 'SCREEN_ANALYSIS_PROVIDER', 'local-vlm', '/health/(?:backend|chat)',
    '/queue/status', '/v1/analyze', 'chat_thinking', 'report_thinking', 'screenshot_fast',
    'ngrok', 'cloudflared', `'CONNECT'`, '[tT]unnel[A-Z(]', '[a-z]Tunnel',
  ].join('|'))
  const found = sources.filter((path) => path !== topicFile && retired.test(textOf(path)))
  t.strictSame(found, [])
  t.ok(sources.length > 100)
})

const listening = async (t: Test): Promise<{ url: string, seen: () => number }> => {
  let count = 0
  const server: Server = createServer((_request, response) => response.end('{}'))
  server.on('connection', () => (count += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen: () => count }
}

t.test('S-018 S-046 all five retired settings activate nothing and reach nobody', async (t) => {
  const { url, seen } = await listening(t)
  const env = {
    SVC_VLM_BASE_URL: url, SVC_VLM_BACKEND_URL: url, SVC_VLM_API_KEY: 'key',
    SVC_VLM_FEEDER_WINDOW: '2', SCREEN_ANALYSIS_PROVIDER: 'local-vlm',
  }
  const world = await World.in(t, { env }).state().session().images()
  world.file('a.png', greyPng(64, 48, 1))
  const config = () => world.run(['shots', 'config', 'show', '--json'])
  const shown = (await config()).json()
  await world.run(['shots', 'config', 'set', '--analysis', 'on', '--cloud-upload', 'on'])
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  await world.run(['shots', 'analyze', '--json'])
  await world.run(['shots', 'status', '--json'])
  t.strictSame(world.rows().map((row) => row.analysis_status), ['blocked'])
  t.equal(seen(), 0, 'no connection')
  t.strictSame(Object.keys((await config()).json()), Object.keys(shown))
  t.equal((await world.run(['shots', 'status', '--json'])).json().remote_vision.gateway_state,
    'not_set_up')
})

t.test('S-022 S-023 neither a durable queue nor a vendor-side hold is claimed or kept', async (t) => {
  for (const { name } of (await stateRules()).collections) {
    t.notMatch(name, /queue|admission|cost_reservation/, name)
  }
  const world = await World.in(t).state().session().images()
  const status = (await world.run(['shots', 'status', '--json'])).stdout
  t.notMatch(status, /queue|reservation|admission/i)
  const claims =
    /durabl\w* queue|queue\w* durabl|persistent queue|provider(?:-side)? cost (?:reservation|hold)/i
  const page = textOf(join(folder, 'docs/screenshots.md')).replaceAll(/\s+/g, ' ')
  t.notMatch(page, claims)
  t.match(page, /There is no queue of requests on disk, and no hold of money at a vendor/)
  const help: string[] = []
  for (const { meta } of await allVerbs()) {
    if (meta.name.startsWith('shots')) help.push(`${meta.summary}\n${meta.description}`)
  }
  t.notMatch(help.join('\n'), /queue/i)
  t.ok(help.length >= 10)
})

t.test('S-006 the verbs of the folder source are these: none captures, schedules captures, deletes or blocks', async (t) => {
  const verbs = (await allVerbs()).map(({ meta }) => meta.name)
    .filter((name) => name.startsWith('shots '))
  t.strictSame(verbs.sort(), [
    'analyze', 'clear-stale', 'day', 'digest', 'estimate', 'list', 'reanalyze', 'report', 'run',
    'scan', 'setup', 'show', 'status',
  ].map((verb) => `shots ${verb}`))
})
