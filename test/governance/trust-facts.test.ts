import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import type { Gov } from '../../src/governance/context.js'
import { revokePolicy } from '../../src/governance/policy/revoke.js'
import { login } from '../../src/governance/session/login.js'
import { momentOf, type Moment } from '../../src/governance/judge/moment.js'
import { openStore } from '../../src/state/store.js'
import type { Place } from '../world/place.js'
import { World } from '../world/world.js'

const deployment = async (t: Test): Promise<{ place: Place, gov: Gov }> => {
  const place = World.in(t).place
  await place.run(['init', '--json'])
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'write' })
  t.teardown(() => store.close())
  return { place, gov: { store, clock: systemClock, observer: silentObserver, face: 'cli' } }
}

const factsOf = (gov: Gov): Moment => momentOf(gov, gov.store.read())

t.test('A-158 the facts see a revoked policy and a removed or altered witness', async (t) => {
  const { place, gov } = await deployment(t)
  t.hasStrict(factsOf(gov).policy, { block: null, witness: 'ok', head: { revision: 1 } })
  await revokePolicy({
    stateHolds: gov.store.holds, boards: [gov.store.stops], clock: gov.clock,
    by: { principal: null, root: null }, open: async () => gov,
  })
  t.hasStrict(factsOf(gov).policy, {
    block: 'policy_revoked', witness: 'ok', head: { revision: 2 },
  })
  const path = join(place.stateDir, 'witness.log')
  const lines = readFileSync(path, 'utf8')
  for (const [what, text] of [
    ['removed', ''],
    ['altered', lines.replace('"revoked"', '"active"')],
    ['rolled back', `${lines.split('\n')[0]}\n`],
  ] as const) {
    writeFileSync(path, text)
    t.equal(factsOf(gov).policy.block, 'witness_mismatch', what)
  }
  writeFileSync(path, lines)
  t.equal(factsOf(gov).policy.block, 'policy_revoked', 'put back')
})

t.test('A-156 the facts know a root only while it is live', async (t) => {
  const { gov } = await deployment(t)
  const { root } = await login(gov, { idleMs: 60_000, ttlMs: 60_000 })
  t.equal(factsOf(gov).liveRoot(root.root_id).root_id, root.root_id)
  const later: Gov = { ...gov, clock: { ...systemClock, wallMs: () => Date.now() + 61_000 } }
  t.throws(() => factsOf(later).liveRoot(root.root_id), { code: 'session_expired' })
  await login(gov, { idleMs: 60_000, ttlMs: 60_000, replace: true })
  t.throws(() => factsOf(gov).liveRoot(root.root_id), { code: 'session_ended', reason: 'replaced' })
})
