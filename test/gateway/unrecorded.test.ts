/** What a proof that was sent makes of a state lock that others hold. */
import t from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { checkLedger, recover } from '../support/ledger.js'
import { holdLock } from '../support/state/hold-lock.js'
import { World } from '../world/world.js'

t.test('A-192 a lock held past --wait does not cost a proof that was paid for', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const ran = await rig.prove('chat', {
    args: ['--wait', '0'],
    at: (at) => { if (at === 'prove.charge_known') setTimeout(holdLock(rig), 300) },
  })
  t.equal(ran.status, 0, ran.stderr)
  t.equal(rig.calls().length, 1)
  t.equal(checkLedger(t, rig)?.unknown_microusd, 0)
})

t.test('A-124 a lock held past the deadline ends as blocked, never as locked', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  let jumpMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs }
  let release = (): void => undefined
  const ran = await rig.prove('chat', {
    clock, args: ['--wait', '0'],
    at: (at) => {
      if (at !== 'prove.charge_known') return
      release = holdLock(rig)
      jumpMs = 120_000
    },
  })
  release()
  t.equal(ran.status, 7)
  t.hasStrict(ran.error(), { code: 'lock_held', reason: 'outcome_not_recorded' })
  await recover(rig)
  t.ok((checkLedger(t, rig)?.unknown_microusd ?? 0) > 0, 'the bound is a liability')
})
