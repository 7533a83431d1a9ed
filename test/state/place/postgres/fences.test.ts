/** Whoever sends sees the stop, or whoever stops sees the fence; often both, never neither. */
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PlacedStore } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'

const server = await startPostgres(t)
const rounds = 500
const facts = Buffer.from('facts')

const two = async (t: Test) => {
  const store = new PlacedStore(t, server)
  const { place, machine } = await store.founded()
  return { store, machine, sender: place, stopper: (await store.joined(place, 'other')).place }
}

t.test('a stop and a piece that is about to leave never miss each other', async (t) => {
  const { sender, stopper } = await two(t)
  await Promise.all([sender.follow(7, 1), stopper.follow(7, 1)])
  const seen = { both: 0, stop: 0, fence: 0, neither: 0 }
  const late = async (turns: number) => {
    for (let number = 0; number < turns; number += 1) await turn()
  }
  for (let round = 0; round < rounds; round += 1) {
    const [operation, stop] = [`op_${round}`, `stp_${round}`]
    const [byStopper, bySender] = await Promise.all([
      (async () => {
        await late(round % 7)
        await stopper.putStop(stop, facts)
        const fences = await stopper.fencesSince(stop)
        return fences.some((one) => one.taken && one.operation === operation)
      })(),
      (async () => {
        await late(round % 11)
        const stops = await sender.takeFence(operation, facts)
        return stops.some(({ id }) => id === stop)
      })(),
    ])
    if (byStopper) seen[bySender ? 'both' : 'fence'] += 1
    else seen[bySender ? 'stop' : 'neither'] += 1
    await stopper.dropStop(stop)
    await sender.giveFence(operation, facts, true)
  }
  t.equal(seen.neither, 0, JSON.stringify(seen))
  t.equal(seen.both + seen.stop + seen.fence, rounds)
})

t.test('what was given before a stop is not told of, what was given since is', async (t) => {
  const { machine, sender, stopper } = await two(t)
  for (const name of ['before', 'since', 'taken']) await sender.takeFence(name, facts)
  await sender.giveFence('before', Buffer.from('b'), false)
  await stopper.putStop('stp_1', facts)
  await stopper.putStop('stp_1', Buffer.from('given twice'))
  await sender.giveFence('since', Buffer.from('s'), true)
  const fences = await stopper.fencesSince('stp_1')
  t.strictSame([...fences].sort((a, b) => (a.operation < b.operation ? -1 : 1)), [
    { operation: 'since', machine, taken: false, closed: true, facts: Buffer.from('s') },
    { operation: 'taken', machine, taken: true, closed: false, facts },
  ])
  t.strictSame(await sender.takeFence('before', facts), [{ id: 'stp_1', body: facts }])
  await stopper.dropStop('stp_1')
  await stopper.dropStop('stp_1')
  t.strictSame(await sender.takeFence('before', facts), [])
  t.equal((await stopper.fencesSince('stp_1')).length, 3, 'of a stop that is gone all are told')
})

t.test('the fence of an operation that has ended is not taken again', async (t) => {
  const { sender, stopper } = await two(t)
  await sender.giveFence('op_1', facts, true)
  await t.rejects(sender.takeFence('op_1', facts), { kind: 'failed', code: 'fence_lost' })
  await sender.giveFence('op_1', facts, false)
  await stopper.putStop('stp_1', facts)
  t.strictSame((await stopper.fencesSince('stp_1')).length, 0)
  t.strictSame(await sender.takeFence('op_2', facts), [{ id: 'stp_1', body: facts }])
})

t.test('fences of operations that ended long ago are removed', async (t) => {
  const { store, sender } = await two(t)
  const names = async () => (await server.query<{ operation: string }>(
    'select operation from sallyport.fences where store = $1 order by 1', [store.storeId]))
    .map(({ operation }) => operation)
  for (const name of ['a', 'b', 'c', 'd']) await sender.giveFence(name, facts, name !== 'd')
  await server.query(`update sallyport.fences set closed_at = closed_at - interval '11 minutes'
    where store = $1 and operation in ('a', 'b')`, [store.storeId])
  await sender.giveFence('d', facts, false)
  t.strictSame(await names(), ['a', 'b', 'c', 'd'])
  await sender.giveFence('b', facts, true)
  t.strictSame(await names(), ['b', 'c', 'd'])
})

t.test('names that would leave the statement are refused before anything is asked', async (t) => {
  const { sender } = await two(t)
  for (const name of ["op'1", 'op 1', '', 'op\\', 'ö', 'x'.repeat(201)]) {
    await t.rejects(sender.takeFence(name, facts), /a name that is none/)
  }
  t.strictSame(await sender.takeFence('op_1', Buffer.alloc(0)), [], 'and it goes on')
})
