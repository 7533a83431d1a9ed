/** What no consent names is sent to no model, however wide every other gate stands open. */
import { waitingImages } from '../../../src/shots/waiting.js'
import { cameraOf, captured, takeIn } from '../../support/edge/captured.js'
import { must } from '../../support/must.js'
import { after } from '../../support/observations.js'
import { image } from '../../support/png.js'
import { nextImage, rowOf, sent, take } from '../../support/shots.js'
import { t } from '../../support/tests-in-slices.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import { World } from '../../world/world.js'

const egress = { cloud_egress: true, model_egress: true }

t.test('S-042 S-043 a capture of a device that nobody named is sent to no model where pairing, upload, settings and consent allow all that there is', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const camera = await cameraOf(world, egress)
  await camera.store(image(1), 0, { policy: egress })
  await camera.store(image(2), 60_000, { policy: egress })
  await takeIn(world)
  await take(world, 'of-the-folder.png')
  const [first] = captured(world)
  const id = first?.observation_id ?? ''
  must(await world.run(['shots', 'analyze', '--json']))
  t.equal(sent(world), 1, 'the image of the folder')
  t.equal(rowOf(world, 'of-the-folder.png').analysis_status, 'succeeded')
  const before = world.sandbox.log.all().length
  const reason = ['--reason', 'manual_operator_request', '--json']
  const refused = await world.run(['shots', 'reanalyze', id, ...reason])
  t.hasStrict(refused.error(), { code: 'reanalysis_refused', reason: 'device_not_named' })
  for (const line of [
    ['shots', 'reanalyze', '--blocked', ...reason, '--yes'],
    ['shots', 'reanalyze', '--failed', '--reason', 'provider_failure_retry', '--json', '--yes'],
    ['shots', 'analyze', '--include', 'unsettled', '--json'],
    ['shots', 'run', '--once', '--json'],
  ]) await world.run(line)
  const bodies = world.sandbox.log.all().slice(before).map((one) => JSON.stringify(one)).join('')
  for (const body of [image(1), image(2)]) {
    t.notOk(bodies.includes(body.toString('base64').slice(0, 60)))
  }
  t.equal(sent(world), 1)
  for (const row of captured(world)) {
    t.hasStrict(row, {
      analysis_status: 'blocked', payload: null,
      analyzer: { reason: 'device_not_named', attempts: 0, contact: 'none' },
    })
  }
})

t.test('S-024 captures wait for nobody, are counted by themselves, and are told with their device by list, show, explain, status and report', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('1.png', nextImage(), after(0))
  must(await world.run(['shots', 'scan']))
  const alone = must(await world.run(['shots', 'status', '--json'])).json()
  const camera = await cameraOf(world)
  const { artifact_id: artifact } = await camera.store(image(1), 60_000)
  await takeIn(world)
  const [row] = captured(world)
  const id = row?.observation_id ?? ''
  const status = must(await world.run(['shots', 'status', '--json'])).json()
  const { analysis, roots } = status.screenshot_folder
  t.equal(analysis.device_observation_count, 1)
  t.strictSame({ ...analysis, device_observation_count: 0, total_historical_observation_count: 1 },
    alone.screenshot_folder.analysis, 'no number of the folder is another one')
  t.equal(roots.length, 1)
  t.match(must(await world.run(['shots', 'status'])).stdout, /of devices +1 observed/)
  const listed = must(await world.run(['shots', 'list', '--json'])).json()
  t.hasStrict(listed[0], {
    observation_id: id, source: 'edge', path: artifact, device_id: camera.id,
    device_name: 'camera', classification: null, report_readiness: 'facts_only',
    analysis_status: 'blocked', reason: 'from_device',
  })
  t.hasStrict(listed[1], { source: 'screenshot_folder', device_id: null, device_name: null })
  t.match(must(await world.run(['shots', 'list'])).stdout, /device camera/)
  const shown = must(await world.run(['shots', 'show', id])).stdout
  t.match(shown, /device: +camera \(edge_dev_/)
  t.notMatch(shown, /folder/)
  const told = must(await world.run(['explain', id, '--json'])).stdout
  t.match(told, /A paired device captured it/)
  t.match(told, artifact)
  const waiting = waitingImages(world.ctx(), world.view())
  t.strictSame(waiting.map(({ reason, count }) => [reason, count]), [['analysis_off', 1]],
    'the image of the folder alone')
  const report = must(await world.run(
    ['shots', 'report', '--since', after(-1), '--until', after(120_000), '--json'])).json()
  t.hasStrict(report.report.provenance, {
    sources: ['edge', 'screenshot_folder'], observation_count: 2,
  })
  must(await world.run(['shots', 'clear-stale', '--json', '--yes']))
  t.equal(captured(world)[0]?.archived_at, null)
  must(await world.run(['state', 'check']))
})

t.test('what a device captured is carried by a backup, and not taken in anew behind its restore', async (t) => {
  const world = await World.in(t).state().session().images()
  const camera = await cameraOf(world)
  await camera.store(image(1))
  await takeIn(world)
  await camera.store(image(2))
  const at = world.place.path('backup')
  must(await world.run(['state', 'backup', at]))
  const before = captured(world)
  must(await world.run(['state', 'restore', at, '--yes']))
  must(await world.run(['login']))
  t.strictSame(captured(world), before)
  t.hasStrict(await takeIn(world), { taken: { ingested: 1 }, left: 0 })
  t.equal(captured(world).length, 2)
  must(await world.run(['state', 'check']))
})

t.test('an owner takes along what its own devices captured, and no other owner does', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('1.png', image(9), after(0))
  must(await world.run(['shots', 'scan']))
  const camera = await cameraOf(world)
  await camera.store(image(1))
  await camera.store(image(1))
  await takeIn(world)
  const taken = async (): Promise<string> =>
    must(await world.run(['state', 'export', '--jsonl'])).stdout
  const mine = await taken()
  t.match(mine, captured(world)[0]?.observation_id ?? 'none')
  const file = world.place.write('passphrase', 'correct horse')
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await world.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  const theirs = await taken()
  t.match(theirs, '1.png', 'every owner reads the rows of the folder')
  t.notMatch(theirs, /edge_art_|edge:edge_dev|device_name/)
  t.notMatch(theirs, captured(world)[0]?.observation_id ?? 'none')
  const explained = await world.run(['explain', captured(world)[0]?.observation_id ?? '', '--json'])
  t.not(explained.status, 0)
})
