/** What becomes of an analysis whose process died. */
import t from 'tap'
import { claimCollection, putClaim } from '../../../src/gateway/call/claims.js'
import { runningCollection } from '../../../src/shots/analysis/analysis-rows.js'
import { settleAnalyses } from '../../../src/shots/analysis/settle.js'
import { shotCollections } from '../../../src/shots/observations/observation-rows.js'
import { greyPng } from '../../support/png.js'
import { must } from '../../support/must.js'
import { World } from '../../world/world.js'

t.test('a row that another operation has by now is not touched by what is left of an earlier one', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(64, 48, 1))
  must(await world.run(['shots', 'scan']))
  const rowNow = () => world.view().all(shotCollections.observations)[0]?.doc
  const before = rowNow()
  if (before === undefined) throw new Error('it was taken in')
  const { observation_id: id } = before
  const first = { operation_id: 'op_first', input_digest: '1'.repeat(64) }
  const leave = (operationId: string, more: object = {}) => world.transact((tx) => {
    tx.put(shotCollections.observations, id, {
      ...before, analyzer: { ...before.analyzer, operation_id: 'op_new', contact: 'claimed' },
    })
    tx.put(runningCollection, id, {
      observation_id: id, input_digest: '0'.repeat(64), operation_id: operationId,
      before: {
        analysis_status: 'pending', reason: null, detail: null, contact: 'none', ...more,
      },
    })
  })
  await leave('op_old')
  t.strictSame(await settleAnalyses(world.gov), { returned: [], uncertain: [id] })
  t.hasStrict(rowNow()?.analyzer, { operation_id: 'op_new', contact: 'claimed' })
  t.strictSame(world.view().all(runningCollection), [], 'what was left is gone')
  await leave('op_new')
  await world.transact((tx, now) => putClaim(tx, {
    input_digest: '0'.repeat(64), slot: 'screenshot', purpose: 'gateway.vision',
    operation_id: 'op_new', grant_id: 'con_x', principal: 'prn_x', root: null,
    claimed_at: now,
  }))
  await settleAnalyses(world.gov)
  t.hasStrict(rowNow()?.analyzer, { operation_id: 'op_new', contact: 'none' },
    'its own goes back to what it was')
  await leave('op_new', { ...first, contact: 'uncertain' })
  await settleAnalyses(world.gov)
  t.hasStrict(rowNow()?.analyzer, { ...first, contact: 'uncertain' },
    'and names the call before it, whose charge is not known')
  await world.transact((tx) => tx.remove(claimCollection, '0'.repeat(64)))
  await leave('op_new')
  await settleAnalyses(world.gov)
  t.equal(rowNow()?.analyzer.contact, 'uncertain', 'its claim is lost: it may have been sent')
})
