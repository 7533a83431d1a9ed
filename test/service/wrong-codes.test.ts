/** Wrong pairing codes: they are answered slowly, and end no code of anybody. */
import { systemClock } from '../../src/base/clock.js'
import { WrongCodes, atOnceMax, keptBackMs, keptBackMsMax } from '../../src/service/wrong-codes.js'
import { codeOf } from '../support/edge/uploading.js'
import { offered } from '../support/service/devices.js'
import { serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('a few wrong codes a minute are refused at once, each further one a second behind the one before, whoever sends them at once', (t) => {
  const wrong = new WrongCodes()
  const asked = Array.from({ length: atOnceMax + 2 }, () => wrong.waitMs(1_000))
  t.strictSame(asked, [...Array<number>(atOnceMax).fill(0), keptBackMs, 2 * keptBackMs])
  t.equal(wrong.waitMs(60_999), keptBackMs)
  t.equal(wrong.waitMs(61_000), 0, 'a new minute')
  const flood = Array.from({ length: 100 }, () => wrong.waitMs(61_000))
  t.equal(Math.max(...flood), keptBackMsMax, 'and nobody for longer than that')
  t.end()
})

t.test('whoever sends wrong codes ends no code of somebody else, who does not wait for them either', async (t) => {
  const world = await World.in(t).state().session()
  const kept: number[] = []
  let release = (): void => undefined
  const later = new Promise<void>((resolve) => (release = resolve))
  const at = await serving(t, { ...world, clock: {
    ...systemClock, sleep: async (ms) => {
      kept.push(ms)
      await later
    },
  } })
  const line = await offered(world, at)
  const pair = (code: string) => at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code, device_name: 'camera' },
  })
  const before = world.view().sequence
  let answered = 0
  const wrong = Array.from({ length: 8 }, () =>
    pair('A'.repeat(22)).finally(() => (answered += 1)))
  await until('those that are kept back', () => kept.length === 3 && answered === 5)
  t.equal((await pair(codeOf(line))).status, 201)
  t.equal(answered, 5)
  t.ok(kept.every((ms, n) => ms > n * keptBackMs - keptBackMs / 2), 'one behind the other')
  release()
  t.strictSame((await Promise.all(wrong)).map(({ status }) => status), Array<number>(8).fill(403))
  t.equal(world.view().sequence, before + 1, 'a wrong one writes nothing')
})

t.test('a refusal that is kept back is given at the end of the service, as the refusal that it is', async (t) => {
  const world = await World.in(t).state().session()
  const lines: string[] = []
  let kept = 0
  const at = await serving(t, { ...world, clock: {
    ...systemClock, sleep: (_, signal) => {
      kept += 1
      return systemClock.sleep(keptBackMsMax, signal)
    },
  } }, { log: { write: (line) => lines.push(line), all: false } })
  await at.get('/api/session')
  const wrong = Array.from({ length: 8 }, () => at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: 'A'.repeat(22), device_name: 'camera' },
  }))
  await until('those that are kept back', () => kept === 3)
  await at.stop()
  const got = await Promise.all(wrong)
  t.strictSame(got.map(({ status }) => status), Array<number>(8).fill(403))
  t.notMatch(lines.join('\n'), '"event":"failed"')
})

t.test('S-042 S-043 a pairing takes its limits and each egress, on a line and over HTTP; none is on unless said', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const flags = ['--allow-cloud-egress', '--max-bytes', '5000', '--max-items', '7']
  const limits = { cloud_egress: true, model_egress: false, bytes_max: 5000, items_max: 7 }
  const file = world.place.path('line')
  const said = await world.run(['edge', 'pair', '--json', '--file', file, ...flags])
  t.hasStrict(said.json(), { limits })
  const model = await world.run([
    'edge', 'pair', '--json', '--file', world.place.path('two'), '--allow-model-egress',
  ])
  t.hasStrict(model.json(), { limits: { cloud_egress: false, model_egress: true } })
  const over = await at.ask('POST', '/api/edge/codes', { body: { name: 'desk', limits } })
  t.equal(over.status, 201, over.bytes.toString())
  t.hasStrict(over.json(), { device_name: 'desk', limits })
  const paired = await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(over.json().pairing), device_name: 'camera' },
  })
  t.hasStrict(paired.json(), { device_name: 'desk', limits })
  const plain = await at.ask('POST', '/api/edge/codes', { body: {} })
  t.hasStrict(plain.json(), { limits: { cloud_egress: false, model_egress: false } })
  t.equal((await at.ask('POST', '/api/edge/codes', { token: null, body: {} })).status, 401)
})
