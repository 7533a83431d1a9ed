import t from 'tap'
import { Turns, turnMs } from '../../../src/service/http/turns.js'

/** Lets `count` requests come at once, of which each takes so long; tells those of each turn. */
const turnsOf = async (count: number, eachMs: number): Promise<readonly string[]> => {
  let nowMs = 0
  const turns = new Turns(() => nowMs)
  const told: string[] = []
  let text = ''
  let isOver = false
  const watch = (): void => {
    if (text !== '') told.push(text)
    text = ''
    if (!isOver) setImmediate(watch)
  }
  const done = Array.from({ length: count }, async (_, at) => {
    await turns.mine()
    // What it has to wait for within the process takes no turn from it.
    await Promise.resolve()
    nowMs += eachMs
    text += String(at)
  })
  setImmediate(watch)
  await Promise.all(done)
  isOver = true
  await new Promise((resolve) => setImmediate(resolve))
  if (text !== '') told.push(text)
  return told
}

t.test('requests that come at once are answered in order, a few in each turn of the event loop', async (t) => {
  t.strictSame(await turnsOf(10, turnMs / 2), ['01', '23', '45', '67', '89'])
})

t.test('one that takes longer than a turn has the turn for itself', async (t) => {
  t.strictSame(await turnsOf(3, turnMs * 4), ['0', '1', '2'])
})

t.test('short ones share a turn', async (t) => {
  t.strictSame(await turnsOf(5, 0), ['01234'])
})
