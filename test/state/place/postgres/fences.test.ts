/** Whoever sends sees the stop, or whoever stops sees the fence; often both, never neither. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PlacedStore, fenced } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'

const server = await startPostgres(t)
const rounds = 500
const facts = Buffer.from('facts')
const turn = randomUUID()

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
    for (let number = 0; number < turns; number += 1) await setImmediate()
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
        const stops = await fenced(sender, operation, facts, turn, [])
        return stops.some(({ id }) => id === stop)
      })(),
    ])
    if (byStopper) seen[bySender ? 'both' : 'fence'] += 1
    else seen[bySender ? 'stop' : 'neither'] += 1
    await stopper.dropStop(stop)
    await sender.giveFence(operation, facts, turn, true)
  }
  t.equal(seen.neither, 0, JSON.stringify(seen))
  t.equal(seen.both + seen.stop + seen.fence, rounds)
})

t.test('what was given before a stop is not told of, what was given since is', async (t) => {
  const { machine, sender, stopper } = await two(t)
  for (const name of ['before', 'since', 'taken']) await fenced(sender, name, facts, turn, [])
  await sender.giveFence('before', Buffer.from('b'), turn, false)
  await stopper.putStop('stp_1', facts)
  await stopper.putStop('stp_1', Buffer.from('given twice'))
  await sender.giveFence('since', Buffer.from('s'), turn, true)
  const fences = await stopper.fencesSince('stp_1')
  t.strictSame([...fences].sort((a, b) => (a.operation < b.operation ? -1 : 1)), [
    { operation: 'since', machine, taken: false, closed: true, facts: Buffer.from('s') },
    { operation: 'taken', machine, taken: true, closed: false, facts },
  ])
  const next = randomUUID()
  t.strictSame(await fenced(sender, 'before', facts, next, []), [{ id: 'stp_1', body: facts }])
  await stopper.dropStop('stp_1')
  await stopper.dropStop('stp_1')
  t.strictSame(await fenced(sender, 'before', facts, next, []), [])
  t.equal((await stopper.fencesSince('stp_1')).length, 3, 'of a stop that is gone all are told')
})

t.test('what an open operation had sent before a stop is told of while somebody has its guard', async (t) => {
  const { machine, sender, stopper } = await two(t)
  const guard = await sender.take('hold/op_1', 60_000)
  await fenced(sender, 'op_1', facts, turn, [])
  await sender.giveFence('op_1', Buffer.from('whole'), turn, false)
  await stopper.putStop('stp_1', facts)
  t.strictSame(await stopper.fencesSince('stp_1'), [
    { operation: 'op_1', machine, taken: false, closed: false, facts: Buffer.from('whole') },
  ])
  await sender.release([String(guard)])
  t.strictSame(await stopper.fencesSince('stp_1'), [], 'nobody is left who waits for a reply')
})

t.test('a stop that was recorded and carried here again has its first moment', async (t) => {
  const { sender, stopper } = await two(t)
  await fenced(sender, 'op_1', facts, turn, [])
  const moment = await stopper.putStop('stp_1', facts)
  t.equal(await stopper.putStop('stp_1', facts), moment)
  await sender.giveFence('op_1', facts, turn, true)
  await sender.dropStop('stp_1')
  await stopper.putStop('stp_1', facts)
  t.strictSame(await stopper.fencesSince('stp_1'), [])
  t.hasStrict(await stopper.fencesSince('stp_1', moment), [{ operation: 'op_1', closed: true }])
})

t.test('what arrives late opens no fence that was taken since, and takes none that was given', async (t) => {
  const { sender, stopper } = await two(t)
  const taken = async () => (await stopper.fencesSince('stp_none')).map((one) => one.taken)
  const next = randomUUID()
  await fenced(sender, 'op_1', facts, turn, [])
  await fenced(sender, 'op_1', facts, next, [])
  await sender.giveFence('op_1', facts, turn, false)
  t.strictSame(await taken(), [true], 'it was given back in an earlier turn')
  await sender.giveFence('op_1', facts, next, false)
  t.strictSame(await taken(), [false])
  await t.rejects(fenced(sender, 'op_1', facts, next, []), { code: 'lease_lost' })
  t.strictSame(await taken(), [false], 'a turn that was given back is over')
})

t.test('a fence is not taken without the leases that it is taken under', async (t) => {
  const { sender, stopper } = await two(t)
  const [guard, lane] = [await sender.take('hold/op_1', 60_000), await sender.take('lane', 60_000)]
  const under = [String(guard), String(lane)]
  t.strictSame(await fenced(sender, 'op_1', facts, turn, under), [])
  await sender.giveFence('op_1', facts, turn, false)
  await server.query(`update sallyport.leases set ends = clock_timestamp() where name = 'lane'`)
  t.type(await stopper.take('lane', 60_000), 'string')
  await t.rejects(fenced(sender, 'op_1', facts, randomUUID(), under), {
    kind: 'locked', code: 'lease_lost',
  })
  t.strictSame((await stopper.fencesSince('stp_none')).map(({ taken }) => taken), [false])
})

t.test('the fence of an operation that has ended is not taken again', async (t) => {
  const { sender, stopper } = await two(t)
  await sender.giveFence('op_1', facts, turn, true)
  const ended = { kind: 'failed', code: 'fence_lost' }
  await t.rejects(fenced(sender, 'op_1', facts, turn, []), ended)
  await sender.giveFence('op_1', facts, turn, false)
  await t.rejects(fenced(sender, 'op_1', facts, randomUUID(), []), ended, 'nor behind a late word')
  await stopper.putStop('stp_1', facts)
  t.strictSame((await stopper.fencesSince('stp_1')).length, 0)
  t.strictSame(await fenced(sender, 'op_2', facts, turn, []), [{ id: 'stp_1', body: facts }])
})

t.test('fences of operations that ended long ago are removed', async (t) => {
  const { store, sender } = await two(t)
  const names = async () => (await server.query<{ operation: string }>(
    'select operation from sallyport.fences where store = $1 order by 1', [store.storeId]))
    .map(({ operation }) => operation)
  for (const name of ['a', 'b', 'c', 'd']) await sender.giveFence(name, facts, turn, name !== 'd')
  await server.query(`update sallyport.fences set closed_at = closed_at - interval '11 minutes'
    where store = $1 and operation in ('a', 'b')`, [store.storeId])
  await sender.giveFence('d', facts, turn, false)
  t.strictSame(await names(), ['a', 'b', 'c', 'd'])
  await sender.giveFence('b', facts, turn, true)
  t.strictSame(await names(), ['b', 'c', 'd'])
})

t.test('names that would leave the statement are refused before anything is asked', async (t) => {
  const { sender } = await two(t)
  for (const name of ["op'1", 'op 1', '', 'op\\', 'ö', 'x'.repeat(201)]) {
    await t.rejects(fenced(sender, name, facts, turn, []), /a name that is none/)
  }
  t.strictSame(await fenced(sender, 'op_1', Buffer.alloc(0), turn, []), [], 'and it goes on')
})
