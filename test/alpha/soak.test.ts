/** The loop of `npm run soak`, one round a step: real processes, really killed. */
import t from 'tap'
import { askSteps, providerMoments } from '../support/soak/ask-deployment.js'
import { killInLock, showsLocks } from '../support/soak/kill-in-lock.js'
import { killAsks, tableOf } from '../support/soak/kill-asks.js'
import { rounds } from '../support/slice.js'

const perStep = 1
t.test('A-026 A-108 A-124 A-182 killed at any moment: sound, balanced, never sent twice', async (t) => {
  // Rounds at moments that no step names.
  const timed = rounds('timed kills', { short: 1, all: 4 })
  const report = await killAsks(t, { perStep, timed, deployments: 1 })
  t.comment(tableOf(report))
  t.strictSame(report.broken, [])
  for (const step of askSteps) {
    const row = report.rows.find((one) => one.step === step)
    t.ok((row?.by.failpoint ?? 0) >= perStep, `${step}: ${row?.by.failpoint ?? 0} rounds`)
  }
  for (const moment of providerMoments) {
    t.ok((report.moments[moment] ?? 0) >= perStep, `on ${moment}: ${report.moments[moment] ?? 0}`)
  }
  t.ok(report.killed >= perStep * (askSteps.length + providerMoments.length) + timed)
})

t.test('durability 2: killed while they hold the lock, writers leave it free and the state sound', {
  skip: showsLocks() ? false : 'needs /proc',
}, async (t) => {
  const kills = rounds('kills in the lock', { short: 2, all: 5 })
  const { broken, inside } = await killInLock(t, kills)
  t.strictSame([broken, inside], [[], kills])
})
