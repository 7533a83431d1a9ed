/** What was looked at behind a fence is fresh for what leaves under it, and for no longer. */
import t from 'tap'
import { PlacedFence } from '../../../src/state/place/placed-fence.js'
import { placeTimes, type Place } from '../../../src/state/place/place.js'
import type { RecordSeal } from '../../../src/state/place/record-seal.js'
import { closingsDone } from '../../../src/state/place/closings.js'
import { until } from '../../support/until.js'

const none = async (): Promise<void> => undefined
const signal = new AbortController().signal

t.test('a look behind a fence counts while the fence is held, and a while', async (t) => {
  const said: string[] = []
  const fence = new PlacedFence({
    local: { take: none, note: () => undefined, give: () => undefined, close: () => undefined },
    facts: { operation: 'op_1', task: null, principal: null, pid: 1 },
    seal: { sealFor: () => Buffer.alloc(0) } as unknown as RecordSeal,
    place: () => ({ giveFence: async () => void said.push('given') }) as unknown as Place,
    under: () => [],
    taking: async () => void said.push('taken'),
  })
  t.notOk(fence.hasLooked, 'before it is taken')
  await fence.take(signal)
  t.ok(fence.hasLooked)
  t.strictSame(said, ['taken'])
  await until('a piece that is held for long is looked for again', () => !fence.hasLooked)
  t.strictSame(said, ['taken'], 'it is held meanwhile')
  fence.give()
  await until('it was given back', () => said.includes('given'))
  await fence.take(signal)
  t.ok(fence.hasLooked, 'taken anew, looked at anew')
  fence.give()
  t.notOk(fence.hasLooked, 'nothing is held')
  fence.close()
  t.strictSame(said.slice(0, 3), ['taken', 'given', 'taken'])
})

t.test('a look counts from before it was asked for, by the clock that went on while the machine slept', async (t) => {
  for (const clock of ['wallMs', 'monotonicMs'] as const) {
    const now = { wallMs: 0, monotonicMs: 0 }
    const sleeps = [placeTimes.leaseMs, placeTimes.leaseMs, 0]
    let taken = 0
    const fence = new PlacedFence({
      local: { take: none, note: () => undefined, give: () => undefined, close: () => undefined },
      facts: { operation: 'op_1', task: null, principal: null, pid: 1 },
      seal: { sealFor: () => Buffer.alloc(0) } as unknown as RecordSeal,
      place: () => ({ giveFence: none }) as unknown as Place,
      clock: { wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs },
      under: () => [],
      taking: async () => {
        now[clock] += sleeps[taken] ?? 0
        taken += 1
      },
    })
    await fence.take(signal)
    t.equal(taken, 3, 'an answer that came late proves no lease')
    await fence.lookAgain()
    t.equal(taken, 3)
    now[clock] += 50
    t.notOk(fence.hasLooked)
    await fence.lookAgain()
    t.equal(taken, 4, 'looked for again by taking it anew')
    t.ok(fence.hasLooked)
    const ended = AbortSignal.abort(new Error('ended'))
    sleeps.push(placeTimes.leaseMs)
    fence.give()
    fence.close()
    await t.rejects(fence.take(ended), /ended/)
  }
  await closingsDone()
})

t.test('the file of a fence goes once the place was told, and stays where it cannot be', async (t) => {
  for (const isAway of [false, true]) {
    const closed: (boolean | undefined)[] = []
    let told = 0
    const fence = new PlacedFence({
      local: {
        take: none, note: () => undefined, give: () => undefined,
        close: (stays) => void closed.push(stays),
      },
      facts: { operation: 'op_1', task: null, principal: null, pid: 1 },
      seal: { sealFor: () => Buffer.alloc(0) } as unknown as RecordSeal,
      place: () => ({
        giveFence: async () => {
          told += 1
          if (isAway) throw new Error('away')
        },
      }) as unknown as Place,
      under: () => [],
      taking: none,
    })
    await fence.take(signal)
    fence.close()
    t.strictSame(closed, [], 'not before it was told')
    await closingsDone()
    t.strictSame(closed, [isAway], 'the file of what was not told stays')
    t.ok(told > (isAway ? 3 : 0))
  }
})

t.test('a fence whose taking nobody answered is closed at the place: it may be taken there', async (t) => {
  const said: boolean[] = []
  const fence = new PlacedFence({
    local: { take: none, note: () => undefined, give: () => undefined, close: () => undefined },
    facts: { operation: 'op_1', task: null, principal: null, pid: 1 },
    seal: { sealFor: () => Buffer.alloc(0) } as unknown as RecordSeal,
    place: () => ({
      giveFence: async (...[,,, closed]: Parameters<Place['giveFence']>) => void said.push(closed),
    }) as unknown as Place,
    under: () => [],
    taking: () => Promise.reject(new Error('nobody answered')),
  })
  await t.rejects(fence.take(signal), /nobody answered/)
  fence.close()
  await closingsDone()
  t.strictSame(said, [true])
})
