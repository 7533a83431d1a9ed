/** The load of `npm run soak -- MINUTES mixed-load` for some seconds, and the account behind it. */
import { mixedLoad } from '../support/soak/mixed-load.js'
import { reckon } from '../support/soak/reckoning.js'
import { grownIn } from '../support/soak/steady-load.js'
import { t } from '../support/tests-in-slices.js'

t.test('the account tells what was lost, what is there twice and what nobody asked for', (t) => {
  const of = (told: readonly string[], found: readonly string[], maybe: readonly string[] = []) =>
    reckon({ kind: 'x', told, maybe, found })
  t.strictSame(of(['a', 'b'], ['b', 'a', 'c'], ['c', 'd']), [])
  t.strictSame(of(['a', 'b'], ['a']), ['x: 1 lost, one is b'])
  t.strictSame(of(['a'], ['a', 'a']), ['x: 1 doubled, one is a'])
  t.strictSame(of(['a'], ['a', 'c', 'c'], ['c']), ['x: 1 doubled, one is c'])
  t.strictSame(of(['a'], ['a', 'e']), ['x: 1 that nobody asked for, one is e'])
  t.strictSame(of(['a', 'a'], ['a']), ['x: 1 told twice, one is a'])
  t.end()
})

t.test('memory is flat where its last minute is within a tenth of the third', async (t) => {
  t.strictSame(grownIn([90, 150, 100, 104, 110]), [])
  t.strictSame(grownIn([90, 95, 100, 104, 111]),
    ['memory: 111 MiB in the last minute, 100 in the third'])
  t.strictSame(grownIn([100, 100, 500]), [], 'too short to tell')
})

t.test('uploads, reads, scans, asks, publications and a terminal at once, and the service killed meanwhile: nothing lost, nothing doubled', async (t) => {
  const { figures, violations } = await mixedLoad(t, { ms: 9_000, restartEveryMs: 4_000 })
  t.comment(JSON.stringify(figures))
  t.strictSame(violations, [])
  t.hasStrict(figures, { killed: 1 })
  t.ok((figures['goals'] ?? 0) > 0)
})
