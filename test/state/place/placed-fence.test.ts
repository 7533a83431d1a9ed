/** What was looked at behind a fence is fresh for what leaves under it, and for no longer. */
import t from 'tap'
import { PlacedFence } from '../../../src/state/place/placed-fence.js'
import type { Place } from '../../../src/state/place/place.js'
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
