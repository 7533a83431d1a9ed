/** What the calendar finds is what a look at every observation finds, in the same order. */
import t from 'tap'
import fc from 'fast-check'
import { analysisStatuses, classifications } from '../../src/shots/constants.js'
import {
  classificationNow, currentFacts, rowStatusNow, statusNow,
} from '../../src/shots/observations/as-of-now.js'
import {
  countObservations, findObservations, sampleObservations, takeObservations,
  type ObservationFilter,
} from '../../src/shots/observations/find.js'
import { listObservations } from '../../src/shots/observations/list.js'
import { countKeyOf, type Observation } from '../../src/shots/observations/observation-rows.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import { after, observationOf, payloadRefOf } from '../support/observations.js'
import { World } from '../world/world.js'

const anyOf = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values)
const hour = 3_600_000

const byTime = (a: Observation, b: Observation): number => {
  if (a.captured_at !== b.captured_at) return a.captured_at < b.captured_at ? -1 : 1
  return a.observation_id < b.observation_id ? -1 : 1
}

const defined = <T extends object>(record: T): T =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T

t.test('S-065 observations are found by time, status and folder as in a look at all of them', async (t) => {
  const world = await World.in(t).state().session().images()
  const other = world.place.path('other')
  const rows = fc.sample(fc.record({
    folder: fc.constantFrom(world.folder, other), at: fc.nat(12),
    analysis_status: fc.constantFrom(...analysisStatuses),
    classification: fc.constantFrom(null, ...classifications),
    archived_at: fc.constantFrom(null, null, after(0)),
    model: fc.constantFrom(null, 'gateway/acme/screenshot-1', 'gateway/acme/older'),
  }), { numRuns: 120, seed: 5 })
  await world.put(...rows.map(({ folder, at, model, ...rest }, n) =>
    observationOf(folder, `${n}.png`, {
      ...rest, captured_at: after(at * hour / 2),
      payload: model === null ? null : payloadRefOf({ model }),
    })))
  const view = world.view()
  const all = world.rows().sort(byTime)
  t.equal(all.length, 120)
  const filters = fc.sample(fc.record({
    since: anyOf(after(0), after(hour), after(hour * 2 + 1)), until: anyOf(after(hour * 3)),
    statuses: anyOf(['blocked'], ['pending', 'failed'], ['succeeded', 'needs_reanalysis']),
    folderDigest: anyOf(folderDigestOf(world.folder), folderDigestOf(other)),
    archived: anyOf(true), newestFirst: anyOf(true), behindAt: anyOf(0, 40, 41, 60, 119),
  }), { numRuns: 300, seed: 5 })
  for (const given of filters) {
    const { behindAt, ...plain } = given
    const behind = plain.newestFirst === true && behindAt !== undefined ? all[behindAt] : undefined
    const filter = defined({ ...plain, behind }) as ObservationFilter
    const due = all.filter((row) =>
      (filter.since === undefined || row.captured_at >= filter.since)
      && (filter.until === undefined || row.captured_at < filter.until)
      && (filter.statuses?.includes(row.analysis_status) ?? true)
      && (filter.folderDigest === undefined || row.root_digest === filter.folderDigest)
      && (filter.archived === true || row.archived_at === null)
      && (behind === undefined || byTime(row, behind) < 0))
    if (filter.newestFirst === true) due.reverse()
    const ids = (found: Iterable<Observation>): string =>
      [...found].map(({ observation_id: id }) => id).join()
    const right = ids(findObservations(view, filter)) === ids(due)
      && ids(takeObservations(view, filter, 3)) === ids(due.slice(0, 3))
      && ids(sampleObservations(view, filter, (looks) => looks < 5))
        === ids([...due].sort(byTime).reverse().slice(0, 5))
    if (!right) t.fail(JSON.stringify(filter))
    const { until, ...counted } = filter
    const total = [...findObservations(view, counted)].length
    t.ok(until === undefined || total >= due.length)
    t.strictSame([countObservations(view, counted, 1000), countObservations(view, counted, 7)],
      [total, Math.min(total, 8)])
  }
  const ctx = world.ctx('read')
  const now = currentFacts(ctx, view)
  for (const status of analysisStatuses) {
    const page = listObservations(ctx, view, { status, limit: 4 })
    const due = all.filter((row) => row.archived_at === null && rowStatusNow(row, now) === status)
    t.strictSame(page.rows.map((row) => row.observation_id),
      due.reverse().slice(0, 4).map((row) => row.observation_id))
    t.strictSame([page.total, page.counted], [due.length, true])
  }
  const stale = [...findObservations(view, {
    meant: (key) =>
      classificationNow(key, now) === 'stale_root' && statusNow(key, now) === 'pending',
  })]
  t.ok(stale.every((row) => row.analysis_status === 'pending'))
  ctx.gov.store.close()
})

t.test('S-158 what was written down as old is so until its model is in force again, and while there is none', (t) => {
  const key = countKeyOf(observationOf('/shots', 'a.png', {
    analysis_status: 'needs_reanalysis', payload: payloadRefOf({ model: 'gateway/acme/one' }),
  }))
  const told = (model: string | null) => statusNow(key, { folder: null, folderDigest: null, model })
  t.strictSame(['gateway/acme/one', 'gateway/acme/two', null].map(told),
    ['succeeded', 'needs_reanalysis', 'needs_reanalysis'])
  t.end()
})
