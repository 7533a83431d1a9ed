/** An index by its lines: the same as parsed whole, whatever the ids hold. */
import * as fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../../src/base/canonical.js'
import type { IndexLine } from '../../../src/state/segments/build.js'
import { IndexLines } from '../../../src/state/segments/index-lines.js'

const sha = '0123456789abcdef'.repeat(4)
const bytesOf = (value: unknown): Buffer => Buffer.from(`${canonicalJson(value)}\n`)
const linesOf = (lines: IndexLines): unknown[] =>
  Array.from({ length: lines.count }, (_, number) => lines.line(number))

t.test('every line is what the whole text says, also where an id looks like the end of a line', async (t) => {
  const piece = fc.constantFrom(
    '"', ']', ',', '[', '\\', '"],["', `${sha}"],[`, 'a', '/', '\n', 'ü')
  const id = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
  const line = fc.tuple(id, id, fc.nat(), fc.nat(), fc.constant(sha))
  const lists = fc.array(line, { minLength: 1, maxLength: 12 })
  fc.assert(fc.property(lists, (list) => {
    const found = linesOf(new IndexLines(bytesOf(list)))
    return JSON.stringify(found) === JSON.stringify(list)
  }), { numRuns: 2000 })
  const three: readonly IndexLine[] = [['a', `x"],[`, 0, 1, sha], ['],[', '],[', 1, 2, sha],
    ['b', '"],["', 1, 2, sha]]
  t.strictSame(linesOf(new IndexLines(bytesOf(three))), three)
})

t.test('what is no index has no line, and a line of another shape is none', async (t) => {
  for (const text of ['', '[]\n', '{}\n', '[["a","b",0,1,"c"]]', 'null\n', '[[', ']]\n', '[]]\n']) {
    t.equal(new IndexLines(Buffer.from(text)).count, 0, text)
  }
  const strange = new IndexLines(Buffer.from('[["a","b",0,1],["a","b",0,1,"c"],["a",x,"b"]]\n'))
  t.equal(strange.line(0), undefined)
  t.equal(strange.line(-1), undefined)
  t.equal(strange.line(9), undefined)
  t.equal(new IndexLines(Buffer.from('[["a"],["b"]]\n')).line(1), undefined)
})

t.test('the bytes that it was made of may be used for something else', async (t) => {
  const bytes = bytesOf([['a', 'b', 0, 1, sha]])
  const lines = new IndexLines(bytes)
  bytes.fill(0)
  t.strictSame(lines.line(0), ['a', 'b', 0, 1, sha])
})
