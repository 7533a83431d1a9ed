/** A gateway that refuses: one request is burned, the pass ends, and later ones keep away. */
import type { Test } from 'tap'
import { gapOf } from '../../src/gateway/call/pause.js'
import { retryAfterOf } from '../../src/net/retry-after.js'
import type { RawReply } from '../../src/sandbox/types.js'
import { receiptCollections, receiptHeadId } from '../../src/shots/receipts/receipt-rows.js'
import { checkLedger } from '../support/ledger.js'
import { hour, minute, movedClock, type StillClock } from '../support/clock.js'
import { must } from '../support/must.js'
import { analyze, healthy, holding, rowOf, sent, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World, type AnalysisWorld } from '../world/world.js'

const names = ['a.png', 'b.png', 'c.png'] as const

interface Here {
  readonly world: AnalysisWorld
  readonly clock: StillClock
}

const three = async (t: Test): Promise<Here> => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(holding(...names))
  return { world, clock }
}

const refuse = (
  { world }: Here, status: number, times = 1, headers: Record<string, string> = {},
): void => {
  const type = { 'content-type': 'application/json' }
  const body = '{"error":{"code":1,"message":"no"}}'
  world.sandbox.faults.reply(
    { status, body, headers: { ...type, ...headers } }, { service: 'gateway', times })
}

const statusOf = async ({ world }: Here): Promise<Loose> =>
  (await world.run(['shots', 'status', '--json'])).json().remote_vision

for (const status of [402, 404, 500, 503, 408]) {
  t.test(`S-136 S-137 a reply of ${status} ends the pass: one hold, the rest pending, and the reason says the status everywhere`, async (t) => {
    const here = await three(t)
    const { world } = here
    refuse(here, status, 3)
    const reason = `http_status_${status}`
    const ran = await analyze(world)
    t.hasStrict(ran.json(), {
      status: 'degraded', reason, failed: 1, skipped: 2, held_microusd: 100_000,
      items: [{ outcome: 'failed', reason, due: 'settle' }],
    }, ran.stderr)
    t.equal(sent(world), 1)
    t.equal(rowOf(world, 'a.png').analyzer.reason, reason)
    for (const name of ['b.png', 'c.png']) t.equal(rowOf(world, name).analysis_status, 'pending')
    const listed = await world.run(['shots', 'list', '--json'])
    t.match(listed.stdout, reason)
    t.match((await world.run(['shots', 'status'])).stdout, `1 failed (${reason})`)
    const told = await world.run(['shots', 'report', '--since', '2026-11-01T00:00:00Z'])
    t.match(told.stdout, `answered with status ${status};`)
    const { observation_id: image } = rowOf(world, 'a.png')
    t.hasStrict((await world.run(['ledger', 'reservations', '--json'])).json(), [
      { state: 'unknown', reason, subject: image },
    ])
    t.match((await world.run(['ledger', 'reservations'])).stdout, `${reason}\t${image}\n`)
    t.equal((await statusOf(here)).paused.observation_id, image)
    t.match((await world.run(['shots', 'status'])).stdout,
      new RegExp(`${reason}, 1 refusal in a row, the last of op_\\S+ \\(${image}\\)`))
    await healthy(t, world)
  })
}

t.test('S-136 S-169 a refusal whose body is encoded, too large or cut off ends the pass as a plain one does, and its Retry-After counts', async (t) => {
  const big = { body: ' '.repeat(1_048_577) }
  const cases: readonly RawReply[] = [
    { status: 429, headers: { 'content-encoding': 'gzip', 'retry-after': '7200' }, body: 'no' },
    { status: 429, headers: { 'retry-after': '7200' }, ...big },
    { verbatim: 'HTTP/1.1 429 No\r\nRetry-After: 7200\r\nContent-Length: 9\r\n\r\nno' },
  ]
  for (const refusal of cases) {
    const here = await three(t)
    const { world, clock } = here
    world.sandbox.faults.reply(refusal, { service: 'gateway', times: 3 })
    const ran = await analyze(world)
    t.hasStrict(ran.json(), {
      status: 'degraded', reason: 'http_status_429', failed: 1, skipped: 2, held_microusd: 100_000,
    }, ran.stderr)
    t.equal(sent(world), 1)
    const gap = Date.parse(ran.json().paused_until) - clock.wallMs()
    t.ok(gap <= 2 * hour && gap > 2 * hour - minute, String(gap))
    await healthy(t, world)
  }
})

t.test('S-136 what a gateway refused is settled by its status, and the budget of the day no longer holds it', async (t) => {
  const here = await three(t)
  const { world } = here
  await set(world, '--budget-microusd', '1000000')
  refuse(here, 402)
  await analyze(world)
  const budget = async (): Promise<Loose> =>
    (await world.run(['shots', 'status', '--json'])).json().remote_vision.budget
  t.equal((await budget()).held_microusd, 100_000)
  const line = ['ledger', 'settle', '--where', 'status=402', '--amount', '0usd', '--yes', '--json']
  const settled = await world.run(line)
  const { observation_id: subject } = rowOf(world, 'a.png')
  t.hasStrict(settled.json(), { settled: [{ state: 'settled', charged_microusd: 0, subject }] })
  t.match(settled.stderr, subject, 'the list before it names the image')
  t.equal((await budget()).held_microusd, 0)
  await healthy(t, world)
})

t.test('S-169 after a refusal later passes and ticks contact nobody until its gap is over, and gaps grow until a reply comes', async (t) => {
  const here = await three(t)
  const { world, clock } = here
  refuse(here, 503, 2)
  const gapOf = (one: Loose): number => Date.parse(one.paused_until) - clock.wallMs()
  const first = gapOf((await analyze(world)).json())
  t.ok(first > 4 * minute && first <= 5 * minute, String(first))
  const kept = await analyze(world)
  t.hasStrict(kept.json(), {
    status: 'blocked', reason: 'http_status_503', scanned: 0, failed: 0, blocked: 0,
  })
  t.equal(kept.status, 7)
  t.hasStrict(kept.error(), { code: 'analysis_paused', reason: 'http_status_503' })
  t.match(JSON.stringify(kept.error().next), 'sallyport gateway prove screenshot')
  const before = (await world.run(['shots', 'run', '--once', '--json'])).stdout
  t.match(before, '"paused_until":"20')
  t.match(before, '"job":"screenshot_folder_analysis"')
  t.match(JSON.stringify(await statusOf(here)), '"reason":"http_status_503"')
  t.match((await world.run(['shots', 'status'])).stdout, /paused +until 20.*http_status_503/)
  t.equal(sent(world), 1, 'nothing was sent meanwhile')
  for (const name of ['b.png', 'c.png']) t.equal(rowOf(world, name).analysis_status, 'pending')
  clock.advance(5 * minute + 1000)
  const second = gapOf((await analyze(world)).json())
  t.ok(second > 9 * minute && second <= 10 * minute, String(second))
  t.equal(sent(world), 2, 'one more was tried')
  clock.advance(10 * minute + 1000)
  t.hasStrict((await analyze(world)).json(), { status: 'ok', analyzed: 1, paused_until: null })
  t.equal((await statusOf(here)).paused, null, 'a reply lifts it')
  await healthy(t, world)
})

t.test('S-169 the tick of a job that a refusal keeps away leaves no receipt behind', async (t) => {
  const here = await three(t)
  refuse(here, 402)
  await analyze(here.world)
  const receipts = () => here.world.view().get(receiptCollections.head, receiptHeadId)
  const before = receipts()
  for (let n = 0; n < 3; n += 1) await here.world.run(['shots', 'run', '--once', '--json'])
  t.strictSame(receipts(), before)
})

t.test('S-169 Retry-After, in seconds or as a date of the gateway\'s own clock, says how long; nonsense says nothing, and no time is longer than a day', async (t) => {
  const day = 24 * hour
  const nowMs = Date.UTC(2026, 10, 20, 12)
  const at = (ms: number): string => new Date(ms).toUTCString()
  const table: readonly (readonly [Record<string, string>, number])[] = [
    [{ 'retry-after': '7' }, 7_000], [{ 'retry-after': '3600' }, hour],
    [{ 'retry-after': '99999999999' }, day], [{ 'retry-after': '9'.repeat(400) }, day],
    [{ 'retry-after': '0' }, 5 * minute],
    [{ 'retry-after': '-7' }, 5 * minute], [{ 'retry-after': 'soon' }, 5 * minute],
    [{ 'retry-after': '1e3' }, 5 * minute], [{ 'retry-after': '1.5' }, 5 * minute],
    [{ 'retry-after': '2027-01-01' }, 5 * minute], [{ 'retry-after': '' }, 5 * minute],
    [{ 'retry-after': at(nowMs + 3 * hour) }, 3 * hour],
    [{ 'retry-after': at(nowMs + 400 * day) }, day],
    [{ 'retry-after': at(nowMs - hour) }, 5 * minute],
    [{ 'retry-after': at(5 * hour), 'date': at(4 * hour) }, hour],
    [{ 'retry-after': at(5 * hour), 'date': 'today' }, 5 * minute],
  ]
  for (const [headers, expected] of table) {
    const pairs = Object.entries(headers).map(([name, value]) => [name, [value]] as const)
    const retryAfter = retryAfterOf({ headers: new Map(pairs) })
    t.equal(gapOf({ status: 429, retryAfter }, 1, nowMs), expected, JSON.stringify(headers))
  }
  const gaps = [1, 2, 3, 6, 7, 8, 2_000]
    .map((refusals) => gapOf({ status: 503, retryAfter: null }, refusals, nowMs) / minute)
  t.strictSame(gaps, [5, 10, 20, 160, 320, 360, 360])
  const here = await three(t)
  refuse(here, 429, 1, { 'Retry-After': '7200' })
  const until = Date.parse((await analyze(here.world)).json().paused_until)
  const gap = until - here.clock.wallMs()
  t.ok(gap <= 2 * hour && gap > 2 * hour - minute, String(gap))
})

t.test('S-136 a refusal ends the pass also where its time is over before it is written down', async (t) => {
  const here = await three(t)
  const { world, clock } = here
  refuse(here, 429, 3, { 'Retry-After': '1' })
  const ran = await world.run(['shots', 'analyze', '--json'], {
    at: (step) => { if (step === 'analyze.finished') clock.advance(5_000) },
  })
  t.hasStrict(ran.json(), { status: 'degraded', reason: 'http_status_429', failed: 1, skipped: 2 })
  t.equal(sent(world), 1)
  await set(world, '--renew-proof', 'on')
  clock.advance(21 * hour)
  const before = world.calls().length
  await world.run(['shots', 'analyze', '--json'], {
    at: (step) => { if (step === 'prove.finished') clock.advance(5_000) },
  })
  t.equal(world.calls().length, before + 1, 'the proof alone')
})

for (const status of [400, 413]) {
  t.test(`S-136 a reply of ${status} may be about one image: the pass goes on after the first, and ends with the second in a row`, async (t) => {
    const here = await three(t)
    refuse(here, status, 3)
    t.hasStrict((await analyze(here.world)).json(), {
      status: 'degraded', reason: `http_status_${status}`, failed: 2, skipped: 1,
    })
    t.equal(sent(here.world), 2)
    const other = await three(t)
    refuse(other, status)
    t.hasStrict((await analyze(other.world)).json(), {
      failed: 1, analyzed: 2, skipped: 0, paused_until: null,
    })
  })
}

t.test('S-136 an error in a reply of 200 that tells no charge may be about one image: the second in a row ends the pass', async (t) => {
  const here = await three(t)
  const { world } = here
  const say = (cost: string): void => world.sandbox.faults.reply(
    { body: `{"error":{"code":402,"message":"no"},"usage":{${cost}}}` },
    { service: 'gateway', times: 3 })
  say('')
  t.hasStrict((await analyze(world)).json(), { status: 'degraded', failed: 2, skipped: 1 })
  t.equal(sent(world), 2)
  t.equal((await statusOf(here)).paused.reason, 'error_member')
  const other = await three(t)
  other.world.sandbox.faults.reply(
    { body: '{"error":{"code":1},"usage":{"cost":0.001}}' }, { service: 'gateway', times: 3 })
  t.hasStrict((await analyze(other.world)).json(), { failed: 3, skipped: 0, paused_until: null },
    'one that is billed is of its request')
})

t.test('S-169 a person may ask at once: a proof that succeeds lifts the pause, and an image that is asked for by name goes out', async (t) => {
  const here = await three(t)
  const { world, clock } = here
  refuse(here, 402)
  await analyze(world)
  must(await world.prove('screenshot'))
  t.equal((await statusOf(here)).paused, null)
  t.hasStrict((await analyze(world)).json(), { status: 'ok', analyzed: 2 })
  const { observation_id: id } = rowOf(world, 'a.png')
  refuse(here, 402)
  const again = ['shots', 'reanalyze', id, '--reason', 'provider_failure_retry', '--json']
  t.hasStrict((await world.run(again)).json(), { failed: 1, reason: 'http_status_402' })
  t.hasStrict((await world.run(again)).json(), { analyzed: 1, status: 'ok' })
  t.equal((await statusOf(here)).paused, null)
  clock.stepWall(-400 * 24 * hour)
  await healthy(t, world)
})

t.test('a clock that was set back a year does not hold a pause for a year', async (t) => {
  const here = await three(t)
  refuse(here, 402)
  await analyze(here.world)
  t.not((await statusOf(here)).paused, null)
  here.clock.stepWall(-366 * 24 * hour)
  t.equal((await statusOf(here)).paused, null)
})

t.test('S-152 a renewal of the proof that is refused ends the pass before any image, and none is tried while the pause lasts', async (t) => {
  const here = await three(t)
  const { world, clock } = here
  await set(world, '--renew-proof', 'on')
  clock.advance(21 * hour)
  refuse(here, 401, 5)
  const before = world.calls().length
  t.hasStrict((await analyze(world)).json(), {
    reason: 'http_status_401', failed: 0,
    proof_renewal: { outcome: 'failed', reason: 'http_status_401' },
  })
  t.equal(world.calls().length, before + 1)
  await analyze(world)
  t.equal(world.calls().length, before + 1, 'neither proof nor image')
})

t.test('S-139 a digest that is refused ends the tick, and the next one writes nothing until the pause is over', async (t) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const windows = [2, 3, 4, 5]
  await world.analysed(
    ...windows.map((back) => ({ name: `${back}.png`, at: moment(back, 1) })))
  refuse({ world, clock }, 402, 9)
  const ran = await world.digest()
  t.hasStrict(ran.json(), {
    status: 'degraded', reason: 'http_status_402', failed: 1, written: 0,
    windows: [{ outcome: 'failed', reason: 'http_status_402' }],
  })
  t.match(ran.json().paused_until, /^20/)
  t.equal(world.asked().length, 1)
  const kept = await world.digest()
  t.hasStrict(kept.json(), {
    status: 'blocked', reason: 'http_status_402', failed: 0, receipt_id: null,
  })
  t.equal(kept.status, 7)
  t.hasStrict(kept.error(), { code: 'digest_paused', reason: 'http_status_402' })
  const once = await world.run(['shots', 'run', '--once', '--json'])
  t.match(once.stderr, '"digest_paused"')
  t.equal(world.asked().length, 1)
  world.sandbox.faults.clear()
  for (const n of [1, 2, 3]) world.say(`Text ${n}.`, { after: n - 1 })
  clock.advance(6 * minute)
  t.hasStrict((await world.digest()).json(), { status: 'ok', written: 3, not_repeated: 1 })
  checkLedger(t, world)
})

t.test('S-139 S-106 a digest that needs no call comes back while those before it wait for the gateway, and a refusal ends the tick however short its time', async (t) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const [one] = await world.analysed({ name: 'reused.png', at: moment(2, 1) })
  world.say('Of the first analysis.')
  await world.digest()
  const payload = world.rows()[0]!.payload!
  await world.reanalysed(one!, { activity: 'writing' })
  world.say('Of the second.')
  t.hasStrict((await world.digest()).json(), { updated: 1 })
  await world.change(one!.observation_id, { payload })
  await world.analysed(...[4, 5, 6, 7, 8, 9].map((back) => ({
    name: `${back}.png`, at: moment(back, 1),
  })))
  refuse({ world, clock }, 402, 9, { 'Retry-After': '1' })
  const asked = world.asked().length
  const ran = await world.run(['shots', 'digest', '--json'], {
    at: (step) => { if (step === 'digest.finished') clock.advance(5_000) },
  })
  t.hasStrict(ran.json(), { failed: 1, updated: 0 })
  t.equal(world.asked().length, asked + 1)
  world.sandbox.faults.clear()
  refuse({ world, clock }, 402)
  t.hasStrict((await world.digest()).json(), { failed: 1, updated: 0 })
  t.hasStrict((await world.digest()).json(), { status: 'blocked', updated: 1, written: 0 })
  t.equal(world.asked().length, asked + 2)
  checkLedger(t, world)
})
