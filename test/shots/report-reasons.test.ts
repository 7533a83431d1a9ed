/** What a report says of failed and blocked images, of money that is due, and of each hour's. */
import { readFileSync } from 'node:fs'
import { spendByHour, spendCollection } from '../../src/gateway/call/spend.js'
import { observationOf } from '../support/observations.js'
import { must } from '../support/must.js'
import { rowOf, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'

t.test('S-205 a report tells why images failed or are blocked, what takes that away, and the money that waits for a person until it is settled', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const failed = (name: string, reason: string, detail: string | null) => {
    const row = observationOf(world.folder, name, { captured_at: moment(3) })
    return { ...row, analysis_status: 'failed' as const, analyzer: {
      ...row.analyzer, reason, detail,
    } }
  }
  await world.put(
    failed('x.png', 'reply_not_json', 'The reply was not what was asked for.'),
    failed('y.png', 'reply_not_json', 'The reply was not what was asked for.'),
    { ...observationOf(world.folder, 'z.png', { captured_at: moment(3) }) },
    { ...observationOf(world.folder, 'old.png', { captured_at: '2019-01-01T00:00:00.000Z' }) },
  )
  await take(world, 'a.png')
  world.sandbox.faults.set('no_cost', { service: 'gateway', times: 1 })
  t.equal((await world.run(['shots', 'analyze'])).status, 7)
  const report = (...flags: string[]) => world.run(
    ['shots', 'report', '--json', '--since', '2020-01-01', '--until', '2099-01-01', ...flags])
  const ran = await report('--html', 'day.html')
  t.equal(ran.status, 0, ran.stderr)
  const { course } = ran.json().report
  const retry = 'One more request for each, which costs again: '
    + '`sallyport shots reanalyze --failed --reason provider_failure_retry`.'
  t.strictSame(course.reasons.filter((one: { status: string }) => one.status === 'failed'), [
    {
      status: 'failed', reason: 'reply_not_json', count: 2, next: retry, needs_person: true,
      text: 'The reply was not what was asked for.',
    },
    {
      status: 'failed', reason: 'cost_missing', count: 1, next: retry, needs_person: true,
      text: 'It may have been sent and its charge is not known; it is not sent again by itself.',
    },
  ])
  t.hasStrict(course.reasons.filter((one: { status: string }) => one.status === 'blocked'), [
    { reason: 'before_consent', count: 1, needs_person: true },
  ])
  t.strictSame(course.money_due, { unknown_charges: 1, held_microusd: 100_000, overruns: 0 })
  const page = readFileSync(world.place.path('day.html'), 'utf8').replace(/<[^>]*>|\s+/g, ' ')
    .replace(/ +/g, ' ')
  t.ok(page.includes('1 charge is not known, and $0.10 stays held.'))
  t.ok(page.includes('2 The reply was not what was asked for. reply_not_json'))
  const id = world.rows().find((row) => row.analyzer.reason === 'cost_missing')
    ?.analyzer.operation_id ?? ''
  await world.run(['ledger', 'settle', id, '--amount-microusd', '12', '--yes'])
  const after = (await report()).json().report.course
  t.strictSame(after.money_due, { unknown_charges: 0, held_microusd: 0, overruns: 0 })
  const held = (hours: readonly { held_microusd: number }[]) =>
    hours.reduce((sum, one) => sum + one.held_microusd, 0)
  t.strictSame([held(course.spend_hours), held(after.spend_hours)], [100_000, 0])
  const sum = after.spend_hours.reduce(
    (all: number, one: { spent_microusd: number }) => all + one.spent_microusd, 0)
  t.equal(sum, after.spend.spent_microusd, 'the hours are the parts of the day')
})

t.test('a report tells the charges of its images that nobody knows, and those above their bound, also where a later call described the image', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const due = async (...period: string[]): Promise<unknown> =>
    (await world.json(['shots', 'report', '--since', '2020-01-01', ...period]))
      .report.course.money_due
  for (const [name, day, fault, value] of [
    ['a.png', 20, 'no_cost', undefined], ['b.png', 21, 'usage_cost', 200_000],
  ] as const) {
    await take(world, name, `2026-11-${day}T10:00:00.000Z`)
    world.sandbox.faults.set(fault, {
      service: 'gateway', times: 1, ...(value === undefined ? {} : { value }),
    })
    t.equal((await world.run(['shots', 'analyze'])).status, 7)
    must(await world.run(['shots', 'reanalyze', `${world.folder}/${name}`, '--reason',
      'provider_failure_retry']))
    t.equal(rowOf(world, name).analysis_status, 'succeeded')
  }
  t.strictSame(await due(), { unknown_charges: 1, held_microusd: 100_000, overruns: 1 })
  t.strictSame(await due('--until', '2026-11-21T00:00Z'),
    { unknown_charges: 1, held_microusd: 100_000, overruns: 0 }, 'those of its images alone')
})

t.test('every blocked image of a period is told by its reason, however many newer ones there are', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const blocked = (name: string, reason: string, second: number) => {
    const row = observationOf(world.folder, name, {
      captured_at: new Date(Date.UTC(2026, 10, 20, 8, 0, second)).toISOString(),
    })
    return { ...row, analyzer: { ...row.analyzer, reason } }
  }
  await world.put(
    blocked('old.png', 'image_truncated', 0),
    ...Array.from({ length: 1_001 }, (_, n) => blocked(`${n}.png`, 'image_damaged', 1 + n)),
  )
  const ran = await world.run(['shots', 'report', '--json', '--since', '2026-11-20T08:00Z',
    '--until', '2026-11-20T09:00Z'])
  t.hasStrict(ran.json().report.course.reasons, [
    { reason: 'image_damaged', count: 1_001 }, { reason: 'image_truncated', count: 1 },
  ])
})

t.test('what opens by itself waits for nobody, and two reports of one state say the same', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const row = observationOf(world.folder, 'z.png', {
    captured_at: moment(3), observed_at: '2099-01-01T00:00:00.000Z',
  })
  await world.put({ ...row, analyzer: { ...row.analyzer, reason: 'analysis_off' } })
  const report = async () => (await world.run(['shots', 'report', '--json', '--since', moment(20),
    '--until', moment(0)])).json().report
  const [first, second] = [await report(), await report()]
  t.hasStrict(first.course.reasons, [{ reason: 'reason_gone', count: 1, needs_person: false }])
  t.strictSame({ ...first, made_at: '' }, { ...second, made_at: '' })
})

t.test('spend by the hour is that of the hours that begin in the period, of these purposes, and in one of two neighbours', (t) => {
  const rows = [
    ['2026-11-20T08', 'gateway.vision', 1, 0], ['2026-11-20T09', 'gateway.vision', 2, 5],
    ['2026-11-20T09', 'gateway.report', 3, 0], ['2026-11-20T10', 'gateway.vision', 0, 0],
    ['2026-11-20T11', 'gateway.vision', 7, 0], ['2026-11-20T10', 'gateway.ask', 9, 0],
  ].map(([hour, purpose, settled_microusd, held_microusd]) => ({
    id: '', doc: { hour, purpose, requests: 1, settled_microusd, held_microusd },
  }))
  const view = {
    all: (collection: { name: string }) => (collection.name === spendCollection.name ? rows : []),
  } as unknown as Parameters<typeof spendByHour>[0]
  const told = (since: string, until: string) =>
    spendByHour(view, new Set(['gateway.vision', 'gateway.report']), {
      since: `2026-11-20T${since}:00.000Z`, until: `2026-11-20T${until}:00.000Z`,
    })
  const nine = { at: '2026-11-20T09:00:00.000Z', settledMicrousd: 5, heldMicrousd: 5 }
  const eight = { at: '2026-11-20T08:00:00.000Z', settledMicrousd: 1, heldMicrousd: 0 }
  t.strictSame(told('09:00', '11:00'), [nine])
  t.strictSame(told('08:00', '09:30'), [eight, nine])
  t.strictSame(told('09:30', '11:00'), [], 'the hour is of the period before')
  t.end()
})
