/** A chain of witness lines is believed whole or not at all. */
import t from 'tap'
import { canonicalJson, sha256Hex } from '../../../src/base/canonical.js'
import { lastWitnessed } from '../../../src/governance/policy/witness.js'

/** Lines of these revisions, each chained to the one before. */
const linesOf = (revisions: readonly number[]): readonly string[] => {
  let previous = '0'.repeat(64)
  return revisions.map((revision) => {
    const body = { revision, state: 'active', policy_sha256: 'a'.repeat(64), previous }
    previous = sha256Hex(canonicalJson(body))
    return canonicalJson({ ...body, digest: previous })
  })
}

const lastOf = (lines: readonly string[]): number =>
  lastWitnessed({ lines: () => lines, append: () => undefined, torn: () => false })

t.test('revisions of a witness only ever rise, in an unbroken chain; of any other it has none', (t) => {
  t.equal(lastOf(linesOf([1, 2, 4])), 4)
  t.equal(lastOf([]), 0)
  for (const revisions of [[1, 1], [2, 1], [1, 2, 2], [1, 3, 2]]) {
    t.equal(lastOf(linesOf(revisions)), 0, revisions.join())
  }
  const [one = '', two = '', three = ''] = linesOf([1, 2, 3])
  t.equal(lastOf([two, three]), 0, 'the first is cut out')
  t.equal(lastOf([one, three]), 0, 'one is cut out')
  t.equal(lastOf([one, two.replace('"active"', '"revoked"')]), 0, 'one is altered')
  t.equal(lastOf([one, `${two} `]), 0, 'one is written otherwise')
  t.equal(lastOf([one, '{']), 0, 'one is none')
  t.end()
})
