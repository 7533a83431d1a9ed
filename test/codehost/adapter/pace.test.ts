/** How often a host of others is asked. */
import t from 'tap'
import { minutePace } from '../../../src/codehost/adapter/pace.js'

t.test('a host of others is asked no more often than so many times within any 60 seconds', async (t) => {
  let now = 0
  const waits: number[] = []
  const clock = {
    wallMs: () => now, monotonicMs: () => now,
    sleep: async (ms: number) => {
      waits.push(ms)
      now += ms
    },
  }
  const pass = minutePace(clock, 3, new AbortController().signal)
  for (let time = 0; time < 3; time += 1) {
    await pass()
    now += 1_000
  }
  t.strictSame([waits, now], [[], 3_000])
  await pass()
  t.strictSame([waits, now], [[57_000], 60_000])
  await pass()
  t.strictSame(waits, [57_000, 1_000])
  const free = minutePace(clock, Infinity, new AbortController().signal)
  for (let time = 0; time < 50; time += 1) await free()
  t.equal(waits.length, 2)
})
