/** A directory that was copied while its machine goes on: two hosts with one id. */
import { cpSync } from 'node:fs'
import t from 'tap'
import { must } from '../../support/must.js'
import { faultyWay, leasesEnd, moneyAt, waitingAsk } from '../../support/place/waiting-ask.js'
import { askOn } from '../../support/place/machines.js'
import { timeOf } from '../../support/speed.js'
import { World } from '../../world/world.js'

const way = await faultyWay(t)
const { one, two } = way

/** Longer than all that happens while its process keeps it. */
const itsLease = { TEST_PLACE_LEASE_MS: String(Math.max(20_000, timeOf(200))) }

const sentOf = (question: string): number =>
  one.inferences().filter(({ body }) => body.includes(question)).length

for (const step of ['reserved', 'contact_intent', 'before_first_byte']) {
  t.test(`a copy of a machine does not end what it holds at ${step}, and sends nothing of it`, async (t) => {
    const ask = waitingAsk(two, step, { env: itsLease })
    await ask.stopped
    const copy = await World.in(t)
    cpSync(two.place.stateDir, copy.place.stateDir, { recursive: true })
    cpSync(two.place.configDir, copy.place.configDir, { recursive: true })
    const before = moneyAt(two, ask.key)
    must(await copy.run(['goal', 'add', 'of the copy']))
    t.equal(moneyAt(copy, ask.key), before, 'it is not judged to be dead')
    const again = await copy.run(
      ['alpha', 'ask', '-', '--json', '--idempotency-key', ask.key], { stdin: ask.question })
    t.not(again.status, 0)
    const other = await askOn(copy, { args: ['--wait-turn', '1'] })
    t.not(other.status, 0, 'the lane is taken')
    t.equal(sentOf(ask.question), 0)
    ask.go()
    must(await ask.asking)
    t.equal(sentOf(ask.question), 1)
    await leasesEnd(way)
    must(await askOn(copy))
    t.equal(moneyAt(copy, ask.key), 'settled')
  })
}

t.test('a revoke that is typed at a copy names what the machine is sending', async (t) => {
  const ask = waitingAsk(two, 'replied', { env: itsLease })
  one.sandbox.faults.set('delay', { times: 1, value: 200 })
  await ask.stopped
  const copy = await World.in(t)
  cpSync(two.place.stateDir, copy.place.stateDir, { recursive: true })
  cpSync(two.place.configDir, copy.place.configDir, { recursive: true })
  const revoked = must(await copy.run(['policy', 'revoke', '--json'])).json()
  t.equal(revoked.requests.length, 1)
  ask.go()
  await ask.asking
  t.equal(sentOf(ask.question), 1)
})
