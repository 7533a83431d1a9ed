/** Finding a text in another, as a pure rule. */
import fc from 'fast-check'
import t from 'tap'
import { isWellFormed } from '../../../src/base/well-formed.js'
import { lineAround, needleOf, textsIn } from '../../../src/shots/search/line.js'

t.test('letter case, white space and compatibility forms make no difference', async (t) => {
  const found = (text: string, wanted: string) => lineAround(text, needleOf(wanted))
  t.equal(found('The Pull  Request\nwas merged', 'pull request WAS'), 'The Pull Request was merged')
  t.equal(found('a ﬁle of numbers', 'FILE'), 'a file of numbers')
  t.equal(found('İstanbul trains', 'trains'), 'i̇stanbul trains', 'folded: lengths differ')
  t.equal(found('nothing here', 'absent'), null)
  t.equal(found('anything', ' \n '), null)
})

t.test('whatever stands around it, what is looked for is found, on one line of bounded length', async (t) => {
  const some = fc.string({ unit: 'grapheme', maxLength: 200 })
  t.doesNotThrow(() => fc.assert(fc.property(some, some, (before, after) => {
    const line = lineAround(`${before} sally port ${after}`, needleOf('Sally\tPort'))
    return line !== null && line.toLowerCase().includes('sally port') && !/[\n\r]/.test(line)
      && line.length <= 10 + 2 * 60 + 4 && isWellFormed(line)
  })))
})

t.test('every text of a payload is looked at under the name of its member', async (t) => {
  const value = { summary: 'a', list: ['b', { deep: 'c' }], number: 3, none: null }
  t.strictSame([...textsIn(value)], [
    { field: 'summary', text: 'a' }, { field: 'list', text: 'b' }, { field: 'list', text: 'c' },
  ])
})
