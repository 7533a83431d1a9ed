/** What is still said to a place when its store is closed. */
import t from 'tap'
import { closingsDone, noteEnd, noteSaying } from '../../../src/state/place/closings.js'

t.test('a connection ends once all is said over it, also what has to be said again', async (t) => {
  const said: string[] = []
  let tries = 0
  const place = { close: async () => void said.push('closed') }
  const first = noteSaying(place, async () => {
    tries += 1
    if (tries < 3) throw new Error('away')
    said.push('first')
  })
  const second = noteSaying(place, async () => void said.push('second'))
  noteEnd(place)
  await closingsDone()
  t.strictSame(said, ['second', 'first', 'closed'])
  t.strictSame(await Promise.all([first, second]), [true, true])
})
