/** Which runs are merged: bytes written stay bounded, and so does the number of runs. */
import t from 'tap'
import type { RunSize } from '../../../src/state/segments/plan.js'
import { dueMerges, levelOf } from '../../../src/state/segments/plan.js'

const kib = 1024

t.test('four runs of a level are due, the oldest of them, and none that is being merged', async (t) => {
  const run = (id: number, level: number): RunSize => ({ id, level, bytes: 100 * kib })
  const runs = [run(9, 0), run(8, 0), run(7, 0), run(6, 0), run(5, 0), run(4, 1), run(3, 1)]
  t.strictSame(dueMerges(runs.slice(1, 4), new Set()), [])
  t.strictSame(dueMerges(runs, new Set()), [{ level: 0, inputs: [8, 7, 6, 5] }])
  t.strictSame(dueMerges(runs, new Set([8])), [], 'one merge of a level at a time')
  const more = [...runs, run(2, 1), run(1, 1)]
  t.strictSame(dueMerges(more, new Set([8, 7, 6, 5])), [{ level: 1, inputs: [4, 3, 2, 1] }])
  t.strictSame(dueMerges(more.slice(0, -1), new Set()), [
    { level: 1, inputs: [8, 7, 6, 5, 4, 3, 2] },
  ], 'what would be due right after it is merged along')
  const large = more.map((one) => ({ ...one, bytes: 3 * kib * kib }))
  t.strictSame(dueMerges(large, new Set()), [
    { level: 0, inputs: [8, 7, 6, 5] }, { level: 1, inputs: [4, 3, 2, 1] },
  ], 'not where it would be long')
})

t.test('a run lies at the level of its size, never below a newer or above an older one', async (t) => {
  t.equal(levelOf(256 * kib, 0, undefined), 0)
  t.equal(levelOf(256 * kib + 1, 0, undefined), 1)
  t.equal(levelOf(1025 * kib, 0, undefined), 2)
  t.equal(levelOf(1025 * kib, 0, 1), 1)
  t.equal(levelOf(5, 2, 3), 2)
})

t.test('at every size less than six bytes are written for a byte that is folded', async (t) => {
  let runs: RunSize[] = []
  let next = 1
  let [written, folded, most] = [0, 0, 0]
  for (let fold = 0; fold < 4096; fold += 1) {
    const bytes = 220 * kib
    folded += 256 * kib
    written += bytes
    runs = [{ id: next, level: levelOf(bytes, 0, runs[0]?.level), bytes }, ...runs]
    next += 1
    for (;;) {
      const [due] = dueMerges(runs, new Set())
      if (due === undefined) break
      const at = runs.findIndex(({ id }) => id === due.inputs[0])
      const inputs = runs.slice(at, at + due.inputs.length)
      t.strictSame(inputs.map(({ id }) => id), due.inputs)
      const merged = inputs.reduce((sum, one) => sum + one.bytes, 0)
      written += merged
      const level = levelOf(merged, due.level, runs[at + inputs.length]?.level)
      runs.splice(at, inputs.length, { id: next, level, bytes: merged })
      next += 1
    }
    most = Math.max(most, runs.length)
    const levels = runs.map(({ level }) => level)
    if (levels.some((level, i) => level < (levels[i - 1] ?? 0))) t.fail('levels out of order')
  }
  t.ok(written / folded < 6, `${written / folded}`)
  t.ok(most < 20, `${most} runs`)
})
