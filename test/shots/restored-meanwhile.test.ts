/** Blocked images that go on, and what becomes of one between the look and the record. */
import t from 'tap'
import { shotsContext } from '../../src/fabric/contexts/shots.js'
import { restoreBlocked } from '../../src/shots/analysis/restore.js'
import { routeStatusOf } from '../../src/shots/gates.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { processWorld } from '../support/service/serving.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

t.test('an image that is archived, or goes on, before the record of the others stays as it is', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const soon = new Date(Date.now() - 60_000).toISOString()
  for (const n of [0, 1, 2]) world.file(`${n}.png`, image(n), soon)
  must(await world.run(['shots', 'scan', '--json']))
  await world.put(...world.rows().map((row) => ({
    ...row, analysis_status: 'blocked' as const,
    analyzer: { ...row.analyzer, reason: 'proof_missing' },
  })))
  const [archived, failed, other] = world.rows()
  if (archived === undefined || failed === undefined) throw new Error('they are there')
  const { store: real } = world.gov
  let isFirst = true
  const store = new Proxy(real, {
    get: (of, name: keyof typeof real) => {
      if (name === 'transact' && isFirst) {
        return async (...given: Parameters<typeof of.transact>) => {
          isFirst = false
          await world.put(
            { ...archived, archived_at: soon, classification: 'stale_root' },
            { ...failed, analysis_status: 'failed' },
          )
          return of.transact(...given)
        }
      }
      const found: unknown = of[name]
      return typeof found === 'function' ? found.bind(of) as unknown : found
    },
  })
  const site = processWorld(world, new AbortController().signal)
  const ctx = shotsContext(site, { ...world.gov, store })
  t.equal(await restoreBlocked(ctx, routeStatusOf(ctx, real.read()), 10), 1)
  const statusOf = (id = '') => world.rows().find((row) => row.observation_id === id)
    ?.analysis_status
  t.strictSame([archived, failed, other].map((row) => statusOf(row?.observation_id)),
    ['blocked', 'failed', 'pending'])
})
