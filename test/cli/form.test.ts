/** Questions that the set-up forms ask alike. */
import t from 'tap'
import { fail } from '../../src/base/errors.js'
import { refusalOf } from '../../src/cli/form.js'

t.test('what a save would refuse of a field is told of it at once, without its name; a defect is none', async (t) => {
  const refuse = (message: string) => (): never => {
    throw fail.rejected('request_invalid', message)
  }
  const long = 'The setup, field api_key, must have at most 512 bytes.'
  t.equal(await refusalOf(refuse(long)), 'It must have at most 512 bytes.')
  const other = 'There is no such model.'
  t.equal(await refusalOf(async () => refuse(other)()), other)
  t.equal(await refusalOf(() => 'saved'), null)
  await t.rejects(refusalOf(() => { throw new TypeError('a defect') }), /a defect/)
})
