/**
 * A machine whose clock is off: it asks, consents and logs in as ever, and what it writes goes by
 * the clock of the server. Nothing expires early, and nothing lives longer.
 */
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../../src/base/clock.js'
import { collections } from '../../../src/governance/rows.js'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, joined } from '../../support/place/machines.js'
import { movingServer } from '../../support/place/moving-server.js'
import { t } from '../../support/tests-in-slices.js'
import { setupFlags } from '../../world/alpha.js'

/** Ten seconds either way, and further than a session allows its clock to step back. */
const offsetsMs = [10_000, -10_000, 600_000] as const
const minuteMs = 60_000

const offBy = (ms: number): Clock => ({ ...systemClock, wallMs: () => systemClock.wallMs() + ms })

/** Two machines, of which the second one's clock is off, and a server whose clock can be moved. */
const machinesOf = async (t: Test, offsetMs: number) => {
  const server = await movingServer(t)
  const one = await firstMachine(t, server.url)
  const two = await joined(t, one)
  const clock = offBy(offsetMs)
  return { server, one, two, clock, run: (...argv: readonly string[]) => two.run(argv, { clock }) }
}

for (const offsetMs of offsetsMs) {
  t.test(`a machine whose clock is ${offsetMs} ms off asks and consents, and its rows tell the server's time`, async (t) => {
    const { one, two, clock, run } = await machinesOf(t, offsetMs)
    const beganMs = systemClock.wallMs()
    must(await run('login'))
    must(await askOn(two, { clock }))
    must(await askOn(one))
    must(await run('goal', 'list'))
    must(await run('goal', 'add', 'Water'))
    one.place.write('key', 'MARK-KEY-0123456789\n')
    must(await two.run(setupFlags(one.place, await one.revision()), { clock }))
    must(await askOn(one))
    must(await askOn(two, { clock }))
    t.equal(one.inferences().length, 4)
    const endedMs = systemClock.wallMs()
    const view = await one.gov.store.fresh()
    const moments = [
      ...view.all(collections.roots).map(({ doc }) => doc.issued_at),
      ...view.all(collections.goals).map(({ doc }) => doc.created_at),
      ...view.all(collections.closedTasks).map(({ doc }) => doc.updated_at),
    ].filter((moment) => Date.parse(moment) >= beganMs)
    t.ok(moments.length >= 6)
    for (const moment of moments) t.ok(Date.parse(moment) <= endedMs, moment)
    t.equal((await two.json(['state', 'check'], { clock })).ok, true)
    const { checks } = await two.json(['doctor'], { clock })
    const told = checks.find(({ name }: { name: string }) => name === 'clock of the server')
    t.hasStrict(told, { result: 'note' })
    t.match(told.text, /^\d+ ms apart; what is written goes by the server's$/)
  })

  t.test(`a session ends by the server's clock, also on a machine whose clock is ${offsetMs} ms off`, async (t) => {
    const { server, run } = await machinesOf(t, offsetMs)
    const add = () => run('goal', 'add', 'Water', '--json')
    must(await run('login', '--ttl', '10m', '--idle', '10m'))
    await server.pass(9 * minuteMs)
    must(await add())
    must(await run('goal', 'list'))
    await server.pass(minuteMs)
    t.strictSame(failure(await add()), { status: 4, code: 'session_expired', out: '' })
    t.equal(failure(await run('goal', 'list', '--json')).code, 'session_expired')
  })
}
