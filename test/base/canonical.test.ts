import t from 'tap'
import { canonicalJson, digestOf, sha256Hex } from '../../src/base/canonical.js'

t.test('canonical JSON is that of RFC 8785', async (t) => {
  // The published vectors of the standard: property order by UTF-16 units and number forms.
  const value = {
    numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 1e-27],
    string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  }
  t.equal(canonicalJson(value),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}')
  t.equal(canonicalJson({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6 }),
    '{"\\r":2,"1":4,"\u0080":6,"€":1,"\u{1f600}":5,"\ufb33":3}')
  t.equal(canonicalJson({ b: undefined, a: -0 }), '{"a":0}')
  t.throws(() => canonicalJson(undefined), new TypeError('value has no canonical JSON form'))
})

t.test('digests are lowercase SHA-256 and do not depend on the order of fields', async (t) => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  t.equal(sha256Hex('abc'), abc)
  t.equal(sha256Hex(Buffer.from('abc')), abc)
  t.equal(digestOf({ a: 1, b: [2] }), digestOf({ b: [2], a: 1 }))
  t.not(digestOf({ a: 1 }), digestOf({ a: '1' }))
})
