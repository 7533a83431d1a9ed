/** How far a long work has come, as people read it. */
import t from 'tap'
import { silentObserver, type Work } from '../../src/base/observer.js'
import { countsText, drawProgress, stepText } from '../../src/cli/progress.js'
import { scanGlobals } from '../../src/cli/globals.js'
import { describingDeps } from '../../src/cli/describing.js'
import { scanFolder } from '../../src/shots/scan/scan.js'
import { greyPng } from '../support/png.js'
import { World } from '../world/world.js'

t.test('counts are told with their rate and the time left, once there is a rate', async (t) => {
  const cases: readonly [Work, number, string][] = [
    [{ what: 'intake', done: 412, of: 1_200 }, 13_290, 'intake 412/1,200 · 31/s · 26 s'],
    [{ what: 'intake', done: 100, of: 53_260 }, 3_333, 'intake 100/53,260 · 30/s · 29 min'],
    [{ what: 'intake', done: 3, of: 12 }, 999, 'intake 3/12'],
    [{ what: 'intake', done: 0, of: 12 }, 5_000, 'intake 0/12'],
    [{ what: 'analysis', done: 3, of: null }, 6_000, 'analysis 3 · 0.5/s'],
    [{ what: 'intake', done: 12, of: 12 }, 4_000, 'intake 12/12 · 3.0/s · 0 s'],
  ]
  for (const [work, elapsedMs, text] of cases) t.equal(countsText(work, elapsedMs), text)
})

t.test('steps are told in words: each of a save is a part of saving', (t) => {
  for (const step of ['save.revoked', 'save.accounting']) t.equal(stepText(step), 'Saving …')
  t.equal(stepText('lane.taken'), 'lane taken')
  t.end()
})

t.test('a scan counts the files that it reads, up to all that it may read', async (t) => {
  const world = await World.in(t).state().session().images()
  for (const name of ['a.png', 'b.png', 'c.png']) {
    world.file(name, greyPng(64, 48, (x, y) => (x * name.charCodeAt(0) + y) & 0x7f))
  }
  const told: Work[] = []
  const ctx = world.ctx('write')
  const observer = { ...silentObserver, counts: (work: Work) => void told.push(work) }
  await scanFolder({ ...ctx, gov: { ...ctx.gov, observer } }, { limit: 2 })
  ctx.gov.store.close()
  t.strictSame(told, [1, 2].map((done) => ({ what: 'intake', done, of: 2 })))
})

t.test('where stderr is no terminal nothing is counted aloud', async (t) => {
  const deps = describingDeps()
  // Every stream of these throws when it is touched.
  const quiet = drawProgress(deps, scanGlobals([]).globals)
  await quiet.at('scan.walked')
  t.equal(quiet.counts?.({ what: 'intake', done: 1, of: 2 }), undefined)
  t.doesNotThrow(() => quiet.clear())
})
