/** What a request that is leaving compares itself with. */
import { readdirSync } from 'node:fs'
import t from 'tap'
import { wireFenceOf } from '../../src/contact/fence.js'
import type { Sending } from '../../src/contact/operation.js'
import type { Gov } from '../../src/governance/context.js'
import { revokePolicy } from '../../src/governance/policy/revoke.js'
import { noteRecorded } from '../../src/governance/stops/recent.js'
import { World } from '../world/world.js'
import { stopsDirOf } from '../support/stops-dir.js'

const leaving = (gov: Gov) => wireFenceOf({
  ctx: { gov },
  order: { step: 'test', party: () => ({ principal: 'prn_other', root: 'root_other' }) },
  run: { operationId: 'op_leaving' }, taskId: null, fence: null,
} as unknown as Sending<null>)

t.test('A-071 A-168 a request that is leaving ends behind more stops than are told apart, and behind none of another session before', async (t) => {
  const world = await World.in(t).state()
  const fence = leaving(world.gov)
  const stopOthers = (count: number) => world.transact((tx) => {
    for (let n = 0; n < count; n += 1) noteRecorded(tx, { kind: 'root', target: `root_${n}` })
  })
  await fence.look()
  await stopOthers(64)
  await fence.look()
  await stopOthers(1)
  await t.rejects(fence.look(), { code: 'policy_revoked' })
})

t.test('A-071 A-168 a stop that came and was recorded between two looks ends a request that is leaving', async (t) => {
  const world = await World.in(t).state()
  const { gov } = world
  const fence = leaving(gov)
  await fence.look()
  await fence.look()
  const second = world.open('write')
  const revoked = await revokePolicy({
    stateHolds: gov.store.holds, boards: [second.stops], clock: gov.clock,
    by: { principal: null, root: null }, open: async () => ({ ...gov, store: second }),
  })
  t.equal(revoked.why, null)
  t.strictSame(readdirSync(stopsDirOf(second)), [], 'nothing lies in the folder any more')
  await t.rejects(fence.look(), { code: 'policy_revoked' })
})
