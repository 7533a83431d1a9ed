/** What closes something over HTTP is the same stop as from a terminal, with the same answers. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { newestTask } from '../support/board.js'
import { must } from '../support/must.js'
import { chargeOf, largeImage, leavingPicture } from '../support/narrowing.js'
import { holdWrites } from '../support/net/held-writes.js'
import { serving, type Got, type Serving } from '../support/service/serving.js'
import { rowOf, scan, sent } from '../support/shots.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import type { Placed } from '../world/world.js'
import { World, type AnalysisWorld } from '../world/world.js'

const portOf = ({ started }: Serving): number => Number(new URL(started.identity.origin).port)

const settings = '/api/settings/screen-analysis'
const configuration = '/api/settings/model-configuration'

/** What closes the way of a picture. */
const closes: Readonly<Record<string, (service: Serving, world: AnalysisWorld) => Promise<Got>>> = {
  'upload off': (service) => service.ask('PUT', settings, { body: { cloud_upload: 'off' } }),
  'analysis forgotten': (service) => service.ask('PUT', settings, { body: { analysis: null } }),
  'another folder': (service, { place }) => service.ask('PUT', settings, {
    body: { screenshot_folder: place.path('elsewhere') },
  }),
  'the gateway disabled': (service) => service.ask('PUT', configuration, {
    body: { gateway: { enabled: false } },
  }),
  'the slot removed': (service) => service.ask('PUT', configuration, {
    body: { gateway: { slots: { screenshot: null } } },
  }),
  'every route revoked': (service) => service.ask('POST', '/api/policy/revoke'),
}

for (const [name, close] of Object.entries(closes)) {
  t.test(`S-017 S-021 S-168 nothing more of a picture leaves once HTTP has answered: ${name}`, async (t) => {
    const world = await leavingPicture(t)
    mkdirSync(world.place.path('elsewhere'))
    world.file('a.png', largeImage())
    await scan(world)
    const service = await serving(t, world)
    const writes = holdWrites(t, () => writes.left.length < 3, () => portOf(service))
    const analyzing = world.run(['shots', 'analyze', '--json'])
    await until('the fourth piece waits', () => writes.begun() > 3)
    const got = await close(service, world)
    const answeredMs = performance.now()
    writes.go()
    await analyzing
    await service.stop()
    t.equal(got.status, 200, got.bytes.toString())
    t.strictSame(writes.left.filter(({ atMs }) => atMs > answeredMs), [])
    const { analysis_status: status, analyzer } = rowOf(world, 'a.png')
    t.strictSame(got.json().requests,
      [{ operation_id: analyzer.operation_id, task_id: null, sent: 'partly' }])
    t.strictSame([status, analyzer.contact, chargeOf(world, 'a.png'), sent(world)],
      ['failed', 'uncertain', 'unknown', 0])
  })
}

/** What ends a question. */
const ends: Readonly<Record<string, (service: Serving, task: string) => Promise<Got>>> = {
  'alpha disabled': (service) => service.ask('PUT', configuration, {
    body: { alpha_text: { enabled: false } },
  }),
  'a cancel': (service, task) => service.ask('POST', `/api/work-board/tasks/${task}/cancel`),
}

for (const [name, end] of Object.entries(ends)) {
  t.test(`A-074 A-168 nothing of a question leaves once HTTP has answered: ${name}`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const service = await serving(t, rig)
    const writes = holdWrites(t, () => false, () => portOf(service))
    const asking = rig.ask()
    await until('the request waits to be written', () => writes.begun() > 0)
    const { task_id: task, operation_id: operation } = newestTask(rig)
    const got = await end(service, task)
    writes.go()
    t.not((await asking).status, 0)
    await service.stop()
    t.equal(got.status, 200, got.bytes.toString())
    t.strictSame(got.json().requests, [{ operation_id: operation, task_id: task, sent: 'partly' }])
    t.strictSame([writes.left, rig.inferences().length], [[], 0])
  })
}

/** A process of its own that is stopped while it holds a piece; gives what wakes it. */
const stoppedAsk = async (t: Test, { place }: Placed) => {
  const go = place.path('go')
  let pid = 0
  let signal = (_name: NodeJS.Signals): void => undefined
  const asking = place.spawn(['alpha', 'ask', '-', '--json'], {
    stdin: 'MARK: a question', env: { HELD_WRITES_GO_FILE: go },
    nodeArgs: ['--import', new URL('../support/net/held-writes.js', import.meta.url).href],
    onChild: (child) => {
      pid = child.pid ?? 0
      signal = (name) => child.kill(name)
    },
  })
  t.teardown(() => signal('SIGCONT'))
  const fences = join(place.stateDir, 'run', 'fence')
  await until('the request waits to be written', () =>
    existsSync(fences) && readdirSync(fences).some((name) =>
      readFileSync(join(fences, name), 'utf8').includes('"begun"')))
  signal('SIGSTOP')
  return {
    pid,
    wake: async () => {
      signal('SIGCONT')
      await until('it was cut off', () => readdirSync(fences).length === 0)
      writeFileSync(go, '')
      await asking
    },
  }
}

t.test('A-074 a stopped process that holds a question is named over HTTP, and the route is disabled', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const service = await serving(t, rig)
  const stopped = await stoppedAsk(t, rig)
  const got = await service.ask('PUT', configuration, { body: { alpha_text: { enabled: false } } })
  t.equal(got.status, 503, got.bytes.toString())
  t.hasStrict(got.json().error, { code: 'contact_under_way', details: { pid: stopped.pid } })
  await stopped.wake()
  await service.stop()
  t.equal(must(await rig.run(['alpha', 'show', '--json'])).json().alpha_text.status, 'disabled')
  t.equal(rig.inferences().length, 0, 'it saw the stop when it woke')
})
