/** What an operation holds at the place, and who may judge it dead. */
import t from 'tap'
import { must } from '../../support/must.js'
import {
  faultyWay, leasesEnd, moneyAt, shortLease, waitingAsk,
} from '../../support/place/waiting-ask.js'
import { slice } from '../../support/slice.js'
import { until } from '../../support/until.js'

const way = await faultyWay(t)
const { one, two, server, proxy } = way

const sentOf = (question: string): number =>
  one.inferences().filter(({ body }) => body.includes(question)).length

const endLease = (name: string): Promise<unknown> => server.query(
  `update sallyport.leases set ends = clock_timestamp() where name like $1`, [name])

const otherWrites = async (): Promise<unknown> => must(await two.run(['goal', 'add', 'on b']))

const lost = ['contact_begin', 'contact_intent', 'before_first_byte']
  .flatMap((step) => ['lane', 'hold/op%'].map((name) => ({ step, name })))

t.test('nothing is sent by an operation whose guard or lane was lost, up to its first byte', async (t) => {
  for (const { step, name } of slice('lost leases', lost, { axesOf: (of) => [of.step, of.name] })) {
    const ask = waitingAsk(one, step)
    await ask.stopped
    await endLease(name)
    ask.go()
    const ran = await ask.asking
    t.not(ran.status, 0)
    t.match(ran.stderr, 'lease_lost', `${name} at ${step}`)
    t.equal(sentOf(ask.question), 0)
    await endLease('%')
    await otherWrites()
    t.match(moneyAt(two, ask.key), /^(?:released|unknown)$/)
  }
})

/** What another machine makes of an operation whose process was killed. */
const killed = { before_dial: ['reserved', 'released'], contact_intent: ['contacted', 'unknown'] }

for (const [step, [before, after]] of Object.entries(killed)) {
  t.test(`work of another machine that is ${before} is ended once its lease is over, not before`, async (t) => {
    const ask = waitingAsk(one, step, { how: 'kill' })
    await ask.asking
    await otherWrites()
    t.equal(moneyAt(two, ask.key), before)
    await endLease('%')
    await otherWrites()
    t.equal(moneyAt(two, ask.key), after)
    t.equal(sentOf(ask.question), 0)
  })
}

const woken = { before_dial: 'released', before_first_byte: 'unknown' }

for (const [step, end] of Object.entries(woken)) {
  t.test(`a machine that was away at ${step} for longer than its lease sends nothing of what others ended`, async (t) => {
    const ask = waitingAsk(one, step, { env: shortLease })
    await ask.stopped
    proxy.hold()
    await leasesEnd(way)
    await otherWrites()
    const ended = moneyAt(two, ask.key)
    proxy.cut()
    proxy.free()
    ask.go()
    t.equal(ended, end)
    const { status } = await ask.asking
    t.not(status, 0)
    if (end === 'unknown') t.equal(status, 7, 'its bound is held')
    t.equal(sentOf(ask.question), 0)
    await otherWrites()
    t.equal(moneyAt(two, ask.key), end)
    await endLease('%')
  })
}

t.test('a machine that slept while its fence was being taken sends nothing of what others have by then', async (t) => {
  const ask = waitingAsk(one, 'before_first_byte', { env: shortLease })
  await ask.stopped
  proxy.holdReplies()
  ask.go()
  await until('it is taken', async () =>
    (await server.query('select from sallyport.fences where taken')).length > 0)
  ask.child()?.kill('SIGSTOP')
  proxy.free()
  await leasesEnd(way)
  await otherWrites()
  t.equal(moneyAt(two, ask.key), 'unknown')
  ask.child()?.kill('SIGCONT')
  t.not((await ask.asking).status, 0)
  t.equal(sentOf(ask.question), 0)
})

t.test('a machine that was away before a bill for longer than its lease asks for none that others gave up', async (t) => {
  const before = one.billings().length
  const ask = waitingAsk(one, 'billing_1', { env: shortLease })
  await ask.stopped
  proxy.hold()
  await leasesEnd(way)
  await otherWrites()
  t.equal(moneyAt(two, ask.key), 'unknown')
  t.equal(moneyAt(one, ask.key), 'contacted', 'it has not heard of that')
  proxy.cut()
  proxy.free()
  ask.go()
  t.not((await ask.asking).status, 0)
  t.equal(sentOf(ask.question), 1)
  t.equal(one.billings().length, before, 'the provider is asked for no bill')
  await otherWrites()
  t.equal(moneyAt(two, ask.key), 'unknown')
  await endLease('%')
})
