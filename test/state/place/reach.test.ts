/** What somebody who stops is told of requests of other machines. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { replicas } from '../../support/place/replicas.js'

t.test('a stop tells which requests of another machine had left in part or whole, and not those of which nothing had', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  const sends = async (sent: 'begun' | 'whole' | null): Promise<string> => {
    const operation = `op_${randomUUID()}`
    const guard = await other.holds.hold('operation', operation)
    const fence = other.holds.fence({ operation, task: null, principal: null, pid: 1 }, [guard])
    await fence.take(new AbortController().signal)
    if (sent !== null) fence.note(sent)
    fence.give()
    return operation
  }
  const [begun, whole] = [await sends('begun'), await sends('whole')]
  await sends(null)
  const watched = store.holds.watch()
  await store.stops.put({
    id: `stp_${randomUUID()}`, kind: 'all', target: null, at: '2026-01-01T00:00:00.000Z',
    by: { principal: null, root: null, verb: 'test' },
  })
  const reached = await watched.reach(() => true, 10_000)
  watched.close()
  t.strictSame(reached.underWay, [])
  t.strictSame(new Map(reached.sent.map(({ operation, sent }) => [operation, sent])),
    new Map([[begun, 'begun'], [whole, 'whole']]))
})

t.test('who puts no stop is told what another machine is sending now, and nothing that ended before', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  const begins = async () => {
    const operation = `op_${randomUUID()}`
    const guard = await other.holds.hold('operation', operation)
    const fence = other.holds.fence({ operation, task: null, principal: null, pid: 1 }, [guard])
    await fence.take(new AbortController().signal)
    fence.note('whole')
    return { operation, end: () => { fence.give(); guard.release() } }
  }
  const ended = await begins()
  ended.end()
  const { operation } = await begins()
  const watched = store.holds.watch()
  const { sent, underWay, unseen } = await watched.reach(() => true, 50)
  watched.close()
  t.strictSame(sent.filter((one) => one.operation === ended.operation), [])
  t.hasStrict(underWay, [{ operation, pid: 0, elsewhere: true }])
  t.equal(underWay.length, 1)
  t.equal(unseen, undefined, 'somebody has looked')
})
