/** The wire of one analysis, against a gateway that shares no code with the program. */
import { createServer } from 'node:net'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { analysisContent } from '../../src/shots/analysis/prompt.js'
import { payloadResponseFormat } from '../../src/shots/payload/schema.js'
import { plainAnalysis, startPlainGateway, type PlainGateway } from '../support/plain-gateway.js'
import { greyPng } from '../support/png.js'
import type { Place, Ran } from '../world/place.js'
import { World } from '../world/world.js'
import { openSettings } from '../world/images.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

interface Deployed {
  readonly place: Place
  readonly gateway: PlainGateway
  readonly folder: string
  readonly run: (...argv: string[]) => Promise<Ran>
}

/** A listener that must never hear of anything. */
const bystander = async (t: Test): Promise<{ port: number, heard: () => number }> => {
  let heard = 0
  const server = createServer(() => { heard += 1 })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', () => done())
  })
  t.teardown(() => server.close())
  return { port: (server.address() as { port: number }).port, heard: () => heard }
}

const deploy = async (
  t: Test, env: Readonly<Record<string, string>> = {}, slash = false,
): Promise<Deployed> => {
  const gateway = await startPlainGateway({ dir: t.testdir({}), slash })
  t.teardown(() => gateway.stop())
  const place = World.in(t).place
  const folder = place.path('shots')
  mkdirSync(folder)
  writeFileSync(place.path('key'), 'plain-gateway-key-77\n')
  const run = (...argv: string[]): Promise<Ran> => place.run(argv, { env })
  must(await run('init', '--profile', gateway.profileFile))
  must(await run('login'))
  must(await run(
    'gateway', 'setup', '--slot', 'screenshot', '--model', 'gateway/plain/vision-2',
    '--upstream-allow', 'plain-upstream,second', '--api-key-file', place.path('key'),
    '--spend-ceiling-microusd', '1000000', '--consent', 'gateway.vision',
    '--acknowledge-cloud-egress', '--expected-policy-revision', '1',
  ))
  must(await run('shots', 'config', 'set', '--folder', folder, ...openSettings))
  t.equal(gateway.connections(), 0, 'setting up contacts nobody')
  return { place, gateway, folder, run }
}

t.test('S-004 S-007 S-018 S-191 one request, exact, to the gateway alone', async (t) => {
  const local = await bystander(t)
  const { gateway, folder, run } = await deploy(t, {
    SVC_VLM_BASE_URL: `http://127.0.0.1:${local.port}`,
    SVC_VLM_BACKEND_URL: `http://127.0.0.1:${local.port}`,
    SCREEN_ANALYSIS_PROVIDER: 'local-vlm',
  })
  const bytes = greyPng(320, 200, 7)
  writeFileSync(`${folder}/shot.png`, bytes)
  writeFileSync(`${folder}/shot.png.json`, '{"note":"MARK-SIDECAR"}')
  writeFileSync(`${folder}/manifest.json`, '{"note":"MARK-MANIFEST"}')
  must(await run('shots', 'scan'))
  t.equal(gateway.connections(), 0, 'a scan contacts nobody')
  must(await run('gateway', 'prove', 'screenshot'))
  const ran = must(await run('shots', 'analyze', '--json'))
  t.hasStrict(ran.json(), { analyzed: 1, cost_microusd: 1234 })
  t.equal(gateway.requests.length, 2, 'one proof, one analysis')
  t.equal(gateway.connections(), 2)
  const [, request] = gateway.requests
  t.strictSame([request?.method, request?.path], ['POST', '/api/v1/chat/completions'])
  t.equal(request?.headers.authorization, 'Bearer plain-gateway-key-77')
  t.equal(request?.headers.host, `127.0.0.1:${gateway.port}`)
  t.strictSame(JSON.parse(request?.body ?? ''), {
    model: 'plain/vision-2',
    messages: [
      analysisContent(Buffer.alloc(0), 'image/png').messages[0],
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Describe this screenshot.' },
          {
            type: 'image_url',
            image_url: { url: `data:image/png;base64,${bytes.toString('base64')}` },
          },
        ],
      },
    ],
    max_tokens: 4096,
    stream: false,
    response_format: payloadResponseFormat,
    usage: { include: true },
    provider: {
      only: ['plain-upstream', 'second'], allow_fallbacks: false, data_collection: 'deny',
      zdr: true, require_parameters: true,
    },
  }, 'S-012 S-013 S-014 S-015 every control, nothing else')
  t.notMatch(request?.body, /MARK-|shot\.png|manifest/, 'no name, no sidecar')
  t.equal(local.heard(), 0)
  const [row] = must(await run('shots', 'list', '--json')).json()
  const shown = must(await run('shots', 'show', row.observation_id, '--analysis', '--json'))
  t.strictSame(shown.json().payload, plainAnalysis)
  t.hasStrict(shown.json().analysis, {
    model: 'gateway/plain/vision-2', reply_model: 'plain/vision-2-dated', cost_microusd: 1234,
  })
  t.strictSame(readFileSync(`${folder}/shot.png`), bytes, 'the file is as it was')
})

t.test('S-018 S-191 a gateway that is gone: nobody else is asked, the image waits', async (t) => {
  const local = await bystander(t)
  const env = { SVC_VLM_BASE_URL: `http://127.0.0.1:${local.port}` }
  const { gateway, folder, run } = await deploy(t, env, true)
  writeFileSync(`${folder}/shot.png`, greyPng(64, 48, 8))
  must(await run('shots', 'scan'))
  must(await run('gateway', 'prove', 'screenshot'))
  t.equal(gateway.requests[0]?.path, '/api/v1/chat/completions', 'a base with a slash at its end')
  await gateway.stop()
  const ran = await run('shots', 'analyze', '--json')
  t.hasStrict(ran.json(), { status: 'degraded', analyzed: 0, failed: 0, skipped: 1 })
  t.not(ran.status, 0)
  const [row] = must(await run('shots', 'list', '--json')).json()
  t.equal(row.analysis_status, 'pending', 'provably nothing was sent')
  t.equal(row.reason, 'connect_failed', 'and the reason is told')
  t.equal(local.heard(), 0)
})
