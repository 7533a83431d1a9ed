/** Which stops were recorded since somebody looked, and where nobody can say that any more. */
import t from 'tap'
import { recordedSince } from '../../../src/governance/stops/recent.js'
import type { View } from '../../../src/state/types.js'

const kept = [3, 4, 5].map((number) => ({ number, kind: 'task', target: `task_${number}` }))
const view = { get: () => ({ count: 5, recent: kept }) } as unknown as View

t.test('stops since a look are told as far as they are kept, and none is passed over', (t) => {
  t.strictSame(recordedSince(view, 5), [])
  t.strictSame(recordedSince(view, 4), kept.slice(2))
  t.strictSame(recordedSince(view, 2), kept)
  t.equal(recordedSince(view, 1), 'too_many', 'the second one is not kept')
  t.equal(recordedSince(view, 6), 'too_many', 'a state that was put back counts anew')
  t.end()
})
