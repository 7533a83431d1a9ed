/** What programs that share a state may write is told to its place: a shape that gains a field. */
import { toJsonSchema } from '@valibot/to-json-schema'
import t from 'tap'
import { canonicalJson, sha256Hex } from '../../src/base/canonical.js'
import { stateRules } from '../../src/fabric/state-rules.js'
import { writesVersion } from '../../src/state/place/writes.js'

/** By the version that a program says it writes. Never change one: add the next. */
const digests: Readonly<Record<number, string>> = {
  1: 'cb5dc47b780502152f8c64494ee4d21c5472a2a9c8af32413fa65442fcd28b01',
  2: '5fa64f22534ea869e311851f60f0b04f9ae41d311796590489ebe7f9849a189f',
  3: 'fc485ad996450e6e7c926a2cd7e2192626684d6cf48cef99d2fd43b631625c38',
  4: '6b322cb1505ef0d8d67b928a1ecd95c4b7bfe5bf58ddc01efcf86195f96a5c53',
}

t.test('a shape of a row that changes raises what this program says that it writes', async (t) => {
  const { collections } = await stateRules()
  const shapes = collections.map(({ name, schema }) =>
    [name, toJsonSchema(schema, { errorMode: 'ignore' })] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  t.ok(shapes.length > 40, 'of every collection')
  t.equal(sha256Hex(canonicalJson(shapes)), digests[writesVersion],
    'raise writesVersion in src/state/place/writes.ts, and add the digest here')
  t.equal(Math.max(...Object.keys(digests).map(Number)), writesVersion)
})
