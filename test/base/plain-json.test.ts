/** The fast way of reading JSON gives what the strict one gives, or leaves it to that one. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { plainJson } from '../../src/base/plain-json.js'
import { readBySteps } from '../../src/base/strict-json.js'
import { isWellFormed } from '../../src/base/well-formed.js'
import { t } from '../support/tests-in-slices.js'
import { casesOf } from '../support/for-all.js'

const plain = (text: string, depthMax = 8) =>
  plainJson(Buffer.from(text, 'utf8'), text, depthMax)

/** Own members alone, `__proto__` among them, in their order. */
const written = (value: unknown): string => JSON.stringify(value)

t.test('what is plain is read, what is not is left to the reader by steps', async (t) => {
  for (const text of [
    '{}', '[]', '0', '-1', '"a"', 'true', 'null', ' {"a" : [1, {"b":"\\n\\"\\\\:{["}] } ',
    '{"__proto__":1,"constructor":{"x":[]}}', '{"a":"\\u0041\\u00e9"}', '123456789012345',
    '[[[[[[[[]]]]]]]]', '{"e":false,"E":"1e5","d":"1.0"}',
  ]) t.equal(written(plain(text)?.value), written(readBySteps(text, 8)), text)
  for (const text of [
    '', '{', '"a', '{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '1.0', '1e0', '-0', '01', '-', '1e5',
    '-01', '[1E2]', '1234567890123456', '"\\ud800"', '"\\uD83D\\uDE00"', '[[[[[[[[[]]]]]]]]]',
    '{"a":1}}', '[1,]', '{"a":1,}', '// c\n1', "{'a':1}", '[1 2]', '{"a":{"b":1,"b":2}}', '"\t"',
    'NaN', '{"a"}', '"\\',
  ]) t.equal(plain(text), null, text)
})

t.test('whatever comes, what is read fast is what is read by steps, and nothing that is refused there is taken', async (t) => {
  const parts = fc.constantFrom(
    '{', '}', '[', ']', ':', ',', '"', '"a"', '"b"', '"\\u0061"', '0', '1', '-', '.', 'e', 'E',
    '\\',
    'true', 'null', ' ', '\n', '\t', '"\\ud800"', '9007199254740993', '123456789012345', 'é', '/')
  const json = fc.json({ noUnicodeString: false, maxDepth: 6 })
  const texts = fc.oneof(
    fc.array(parts, { maxLength: 12 }).map((all) => all.join('')), json,
    fc.tuple(json, fc.nat(), parts).map(([text, at, part]) => {
      const cut = at % (text.length + 1)
      return text.slice(0, cut) + part + text.slice(cut)
    }))
  let fast = 0
  fc.assert(fc.property(texts, (text) => {
    if (!isWellFormed(text)) return
    const found = plain(text, 6)
    if (found === null) return
    fast += 1
    // No assertion for each: its name would be the text, and U+2028 in a name ends a line of TAP.
    assert.equal(written(found.value), written(readBySteps(text, 6)))
  }), { numRuns: 20_000 })
  t.ok(fast > casesOf(1_000), `${fast} of them were read fast`)
})
