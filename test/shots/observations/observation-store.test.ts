/** What is noted beside an observation, in the record that changes it. */
import t from 'tap'
import { nowIso } from '../../../src/governance/context.js'
import {
  digestDueCollection, dropDigestDue, dueHoursBefore,
} from '../../../src/shots/digest/due.js'
import { putObservation } from '../../../src/shots/observations/observation-store.js'
import type { Observation } from '../../../src/shots/observations/observation-rows.js'
import { image } from '../../support/png.js'
import { rowOf, scan } from '../../support/shots.js'
import { World } from '../../world/world.js'

const late = '2099-01-01T00:00:00.000Z'
const hour = '2026-11-20T10:00:00.000Z'

const payloadOf = ({ sha256 }: Observation, digest = sha256): Observation['payload'] => ({
  artifact_id: 'art_x', sha256: digest, model: 'gateway/acme/screenshot-1',
  reply_model: 'screenshot-1', prompt_version: '1', schema_version: '1', analyzed_at: hour,
  operation_id: 'op_x', cost_microusd: 1, earlier: false,
})

t.test('an hour is due for the digest job once an analysis in it comes about, is another one, or goes away', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1), '2026-11-20T10:20:00.000Z')
  await scan(world)
  const due = (): string[] => world.view().all(digestDueCollection).map(({ id }) => id)
  t.strictSame(due(), [], 'nothing is made of what waits')
  const { gov } = world.ctx('write')
  const change = async (part: Partial<Observation>): Promise<string[]> => {
    await gov.store.transact('test', (tx) =>
      dropDigestDue(tx, dueHoursBefore(tx, late, Number.MAX_SAFE_INTEGER)))
    await gov.store.transact('test', (tx) =>
      putObservation(tx, nowIso(gov), { ...rowOf(world, 'a.png'), ...part }))
    return due()
  }
  const row = rowOf(world, 'a.png')
  const described = { analysis_status: 'succeeded', payload: payloadOf(row) } as const
  t.strictSame(await change(described), [hour], 'it came about')
  const told = { ...row.analyzer, detail: 'x' }
  t.strictSame(await change({ analyzer: told }), [], 'it stayed')
  t.strictSame(await change({ payload: payloadOf(row, '0'.repeat(64)) }), [hour], 'another one')
  t.strictSame(await change({ archived_at: late }), [hour], 'it went away')
  gov.store.close()
})

t.test('S-161 what an observation is of does not change: another hash, folder or time is a defect', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', image(1), '2026-11-20T10:20:00.000Z')
  await scan(world)
  const row = rowOf(world, 'a.png')
  const { gov } = world.ctx('write')
  for (const change of [
    { sha256: '0'.repeat(64) }, { root: `${row.root}/other` }, { captured_at: late },
  ]) {
    await t.rejects(gov.store.transact('test', (tx) =>
      putObservation(tx, nowIso(gov), { ...row, ...change })),
    new TypeError('hash, folder and capture time of an observation never change'))
  }
  t.strictSame(rowOf(world, 'a.png'), row)
  gov.store.close()
})
