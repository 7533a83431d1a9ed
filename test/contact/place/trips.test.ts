/** How many trips to the server a command costs; making the connection is one of them. */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { must } from '../../support/must.js'
import { faultyWay } from '../../support/place/waiting-ask.js'
import { askOn } from '../../support/place/machines.js'
import { until } from '../../support/until.js'

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

t.test('a watcher that goes on asks the server once for each look that finds nothing', async (t) => {
  const way = await faultyWay(t)
  const folder = way.one.place.path('pictures')
  mkdirSync(folder)
  must(await way.one.run(['shots', 'config', 'set', '--folder', folder, '--recursive', 'on']))
  let [said, watcher] = ['', undefined as ChildProcess | undefined]
  const ended = way.one.place.spawn(['shots', 'watch', '--json', '--verbose'], {
    onChild: (child) => {
      watcher = child
      child.stderr?.on('data', (bytes: Buffer) => { said += bytes.toString('utf8') })
    },
  })
  const looks = (): number => said.split('scan.done').length - 1
  await until('it looked once', () => looks() > 0)
  const before = { looks: looks(), trips: way.proxy.trips() }
  for (let number = 1; number <= 5; number += 1) {
    mkdirSync(join(folder, `empty-${number}`))
    await until(`look ${number} more`, () => looks() >= before.looks + number)
  }
  const [looked, asked] = [looks() - before.looks, way.proxy.trips() - before.trips]
  t.ok(asked <= looked * tickMax, `${asked} trips of ${looked} looks`)
  watcher?.kill('SIGTERM')
  t.equal((await ended).status, 0)
})
