/** What a request that is leaving compares itself with. */
import { readdirSync } from 'node:fs'
import t from 'tap'
import { wireFenceOf } from '../../src/contact/fence.js'
import type { Sending } from '../../src/contact/operation.js'
import { revokePolicy } from '../../src/governance/policy/revoke.js'
import { World } from '../world/world.js'

t.test('A-071 A-168 a stop that came and was recorded between two looks ends a request that is leaving', async (t) => {
  const world = await World.in(t).state()
  const { gov } = world
  const party = { principal: 'prn_other', root: 'root_other' }
  const fence = wireFenceOf({
    ctx: { gov }, order: { step: 'test', party: () => party }, run: { operationId: 'op_leaving' },
    taskId: null, fence: null,
  } as unknown as Sending<null>)
  fence.look()
  fence.look()
  const second = world.open('write')
  const revoked = await revokePolicy({
    stateDir: world.place.stateDir, folders: [second.stopsDir], clock: gov.clock,
    by: { principal: null, root: null }, open: async () => ({ ...gov, store: second }),
  })
  t.equal(revoked.why, null)
  t.strictSame(readdirSync(second.stopsDir), [], 'nothing lies in the folder any more')
  t.throws(() => fence.look(), { code: 'policy_revoked' })
})
