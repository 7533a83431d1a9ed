/** How many trips to the server a command costs; making the connection is one of them. */
import { mkdirSync } from 'node:fs'
import t from 'tap'
import { must } from '../../support/must.js'
import { faultyWay } from '../../support/place/waiting-ask.js'
import { askOn } from '../../support/place/machines.js'

/** Lines, and how many trips each may cost. */
const ceilings = [
  ['status', 0], ['ledger show', 0], ['policy show', 0], ['state check', 0],
  ['doctor', 3], ['machine list', 3], ['goal add Tides', 3],
] as const
const askMax = 18
/** What every line that writes begins with; a watcher did so when it was started. */
const connectsAndFollows = 2
const tickMax = 1

t.test('what only reads asks nobody, and what asks has a ceiling of trips', async (t) => {
  const way = await faultyWay(t)
  const trips = async (fn: () => Promise<unknown>): Promise<number> => {
    const before = way.proxy.trips()
    await fn()
    return way.proxy.trips() - before
  }
  for (const [line, max] of ceilings) {
    const count = await trips(async () => must(await way.one.run(line.split(' '))))
    t.ok(count <= max, `${line}: ${count}`)
  }
  const folder = way.one.place.path('pictures')
  mkdirSync(folder)
  must(await way.one.run(['shots', 'config', 'set', '--folder', folder]))
  const scan = await trips(async () => must(await way.one.run(['shots', 'scan'])))
  t.ok(scan <= connectsAndFollows + tickMax, `a tick that finds nothing: ${scan}`)
  for (const again of ['first', 'second']) {
    const count = await trips(async () => must(await askOn(way.one)))
    t.ok(count <= askMax, `${again} ask: ${count}`)
  }
})
