/** A server that lacks what machines had seen: who has noticed it, and when it is over. */
import t from 'tap'
import {
  dropBehind, isLacking, requireNotBehind, stopBehind,
} from '../../../src/state/place/behind.js'
import type { LyingStop, Stop, StopBoard } from '../../../src/state/stop-board.js'

const boardOf = (): StopBoard => {
  let lying: readonly LyingStop[] = []
  return {
    put: async (stop: Stop) => { lying = [...lying, { ...stop, name: stop.id }] },
    lying: () => lying,
    drop: ({ name }) => { lying = lying.filter((one) => one.name !== name) },
    sweep: () => undefined,
    isInReach: () => true,
  }
}

t.test('each machine that finds its server behind says so once, and is heard by itself', async (t) => {
  const board = boardOf()
  await stopBehind(board, { sequence: 5, machine: 'a' }, 0)
  await stopBehind(board, { sequence: 9, machine: 'b' }, 0)
  await stopBehind(board, { sequence: 9, machine: 'b' }, 0)
  t.equal(board.lying().length, 2)
  t.strictSame([4, 8, 9].map((known) => isLacking(board, known)), [true, true, false])
  t.throws(() => requireNotBehind(board, 8), { code: 'server_changed', reason: 'behind' })
  dropBehind(board, ['a'])
  t.equal(isLacking(board, 8), true, 'what the other one had seen is missing all the same')
  dropBehind(board, ['b'])
  t.strictSame(board.lying(), [])
  t.doesNotThrow(() => requireNotBehind(board, 0))
})
