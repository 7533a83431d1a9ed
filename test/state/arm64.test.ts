/**
 * The heart of the state suite on an arm64 Node; `npm run soak -- 1 arm64` runs all of it. Nothing
 * of it is run in the short run: there the list alone is looked at.
 */
import t from 'tap'
import { rounds, slice } from '../support/slice.js'
import { needsArm64, runOnArm64, stateSuites } from '../support/soak/arm64.js'

/** Locks, the log, what is sealed, and what is kept apart from it. */
const suites = [
  'state/lock', 'state/store', 'state/artifacts', 'state/directory', 'state/holds/guard',
] as const

const skip = await needsArm64()

t.test('the heart of the state suite is of the suite', (t) => {
  const all = stateSuites()
  t.strictSame(suites.filter((name) => !all.includes(name)), [])
  t.notOk(all.some((name) => /darwin|postgres/.test(name)))
  t.end()
})

const isAsked = rounds('on arm64', { short: 0, all: 1 }) > 0
const some = isAsked ? slice('arm64', suites, { axesOf: (name) => [name] }) : []
for (const name of some) {
  t.test(`on an arm64 Node: ${name}`, { skip, diagnostic: false }, async (t) => {
    const { status, passed, out } = await runOnArm64(name)
    t.equal(status, 0, out.split('\n').filter((line) => !/^\s*ok /.test(line)).join('\n'))
    t.ok(passed > 0, 'it asserts')
  })
}
