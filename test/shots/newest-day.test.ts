/** Whose turn it is among images that wait: today's before those of the days before. */
import fc from 'fast-check'
import { newestDayFirst } from '../../src/shots/observations/newest-day.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import type { View } from '../../src/state/types.js'
import { must } from '../support/must.js'
import { observationOf } from '../support/observations.js'
import { analyze, nextImage, rowOf, scan, sent, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'

const stage = (t: Parameters<typeof World.in>[0]) => World.in(t).sandbox().state().session()
  .gateway(forImages).images(allowed).proof('screenshot')

/** Three days, two images each, taken in after days away. */
const holiday = async (world: AnalysisWorld): Promise<void> => {
  for (const day of [18, 19, 20]) {
    for (const hour of ['09', '10']) {
      world.file(`${day}-${hour}.png`, nextImage(), `2026-11-${day}T${hour}:00:00.000Z`)
    }
  }
  await scan(world)
}

const analysed = (world: AnalysisWorld): string[] => world.rows()
  .filter((row) => row.analysis_status === 'succeeded')
  .map((row) => row.paths[0]?.name.text ?? '').sort()

t.test('S-132 after days away a pass takes today first, says what waits and since when, and the rest follows', async (t) => {
  const world = await stage(t)
  await holiday(world)
  const first = await analyze(world, '--limit', '1')
  t.hasStrict(first.json(), {
    analyzed: 1, waiting: 5, waiting_since: '2026-11-18T09:00:00.000Z',
  })
  t.strictSame(analysed(world), ['20-09.png'], 'the oldest of the newest day')
  const told = must(await world.run(['shots', 'analyze', '--limit', '2']))
  t.match(told.stdout, '; 3 wait, the oldest since 2026-11-18T09:00:00.000Z')
  t.strictSame(analysed(world), ['19-09.png', '20-09.png', '20-10.png'])
  t.hasStrict((await analyze(world)).json(), { analyzed: 3, waiting: 0, waiting_since: null })
  t.equal(sent(world), 6)
})

t.test('S-205 images whose reason is gone return in the same order', async (t) => {
  const world = await stage(t)
  await set(world, '--analysis', 'off')
  await holiday(world)
  t.equal(rowOf(world, '18-09.png').analysis_status, 'blocked')
  await set(world, '--analysis', 'on')
  t.hasStrict((await analyze(world, '--limit', '2')).json(), { restored: 2, analyzed: 2 })
  t.strictSame(analysed(world), ['20-09.png', '20-10.png'])
})

t.test('whatever times images have, each comes once: later days before earlier ones, and each day in its order', async (t) => {
  const world = await World.in(t).state().session().images()
  const times = fc.sample(fc.date({
    min: new Date('2026-03-27T00:00:00Z'), max: new Date('2026-04-02T00:00:00Z'),
    noInvalidDate: true,
  }), { numRuns: 60, seed: 5 })
  await world.put(...times.map((time, i) => observationOf(world.folder, `${i}.png`, {
    captured_at: time.toISOString(), analysis_status: 'pending',
  })))
  const filter = {
    statuses: ['pending'] as const, folderDigest: folderDigestOf(world.folder),
  }
  for (const zone of ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'America/Santiago']) {
    const ctx = world.ctx()
    const found = [...newestDayFirst({ env: { TZ: zone } }, ctx.gov.store.read(), filter)]
      .map((row) => row.captured_at)
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit',
    })
    const dayOf = (at: string): string => format.format(new Date(at))
    const expected = times.map((time) => time.toISOString()).sort((a, b) =>
      (dayOf(a) === dayOf(b) ? (a < b ? -1 : 1) : dayOf(a) < dayOf(b) ? 1 : -1))
    t.strictSame(found, expected, zone)
    ctx.gov.store.close()
  }
})

/** A view that refuses to be asked for ever. */
const patient = (view: View, most: number): View => {
  let left = most
  return new Proxy(view, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        if ((left -= 1) < 0) throw new Error('it is asked without end')
        return Reflect.apply(member, target, args)
      }
    },
  })
}

t.test('S-132 images of before the year 1, and of a night in which midnight comes twice, come once each', async (t) => {
  const world = await World.in(t).state().session().images()
  const times = [
    '0000-01-01T00:00:00.000Z', '0000-06-01T00:00:00.000Z', '0000-06-01T23:59:59.999Z',
    // One minute of the 29th, an hour of the 28th once more, and then the 29th.
    '2006-10-29T02:29:59.000Z', '2006-10-29T02:30:00.000Z', '2006-10-29T02:30:30.000Z',
    '2006-10-29T02:31:00.000Z', '2006-10-29T03:29:59.000Z', '2006-10-29T03:30:00.000Z',
  ]
  for (const count of times.keys()) {
    const at = times[count] ?? ''
    await world.put(observationOf(world.folder, `${count}.png`, {
      captured_at: at, analysis_status: 'pending',
    }))
    const filter = { statuses: ['pending'] as const, folderDigest: folderDigestOf(world.folder) }
    for (const zone of ['UTC', 'America/St_Johns', 'America/New_York']) {
      const ctx = world.ctx()
      const view = patient(ctx.gov.store.read(), 1_000)
      const found = [...newestDayFirst({ env: { TZ: zone } }, view, filter)]
        .map((row) => row.captured_at)
      t.strictSame(found.sort(), times.slice(0, count + 1), `${zone}, up to ${at}`)
      ctx.gov.store.close()
    }
  }
})
