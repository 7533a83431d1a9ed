/** What is an LFS pointer. */
import t from 'tap'
import { isLfsPointer, mayBeLfsPointer } from '../../../src/codehost/git/lfs-pointer.js'
import { lfsPointerTo } from '../../support/codehost/checkouts.js'

const is = (text: string): boolean => isLfsPointer(Buffer.from(text))

t.test('a pointer is told by its version and digest, whatever else it says, up to 1,023 bytes', async (t) => {
  const own = lfsPointerTo('x')
  const rest = own.slice(own.indexOf('\n'))
  t.ok(is(own))
  for (const version of ['https://hawser.github.com/spec/v1', 'http://git-media.io/v/2']) {
    t.ok(is(`version ${version}${rest}`), version)
  }
  t.ok(is(own.replaceAll('\n', '\r\n')))
  t.ok(is(own.replace('\noid', `\next-0-foo sha256:${'a'.repeat(64)}\noid`)))
  const upTo = (bytes: number): string => {
    const extra = 'ext-0-foo sha256:\n'
    return own.replace('\noid', `\n${extra.replace(':', `:${'a'.repeat(
      bytes - own.length - extra.length)}`)}oid`)
  }
  t.strictSame([upTo(1_023).length, is(upTo(1_023)), is(upTo(1_024))], [1_023, true, false])
  for (const other of [
    '', 'version https://git-lfs.github.com/spec/v1\n', ` ${own}`, `\n${own}`,
    own.replace('spec/v1', 'spec/v2'), own.replace('git-lfs.', 'git-lfsx'),
    own.replace('sha256:', 'sha512:'), own.replace(/[0-9a-f]\nsize/, '\nsize'),
    rest.repeat(3),
  ]) t.notOk(is(other), JSON.stringify(other))
})

t.test('what has another size than any pointer is not asked for, and what tells none is', async (t) => {
  t.strictSame([undefined, 0, 99, 100, 1_023, 1_024].map(mayBeLfsPointer),
    [true, false, false, true, true, false])
  t.ok(mayBeLfsPointer(Buffer.byteLength(lfsPointerTo(''))))
})
