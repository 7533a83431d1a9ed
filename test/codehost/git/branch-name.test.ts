/** Names of branches, against git check-ref-format. */
import * as fc from 'fast-check'
import {
  branchReason, refBytesMax, requireBranchName,
} from '../../../src/codehost/git/branch-name.js'
import { bareRepository, gitAccepts } from '../../support/codehost/real-git.js'
import { t } from '../../support/tests-in-slices.js'

const refused: readonly [string, string][] = [
  ['', 'empty'], ['a b', 'character'], ['a\tb', 'character'], ['a\n', 'character'],
  ['a\u007f', 'character'], ['a~1', 'character'], ['a^', 'character'], ['a:b', 'character'],
  ['a?', 'character'], ['a*', 'character'], ['a[', 'character'], ['a\\b', 'character'],
  ['a..b', 'dots'], ['..', 'dots'], ['a@{b', 'at_brace'], ['@{-1}', 'at_brace'],
  ['.a', 'component'], ['a/.b', 'component'], ['a.lock', 'component'], ['a.lock/b', 'component'],
  ['/a', 'component'], ['a/', 'component'], ['a//b', 'component'], ['.lock', 'component'],
  ['a.', 'ends_in_dot'], ['a/b.', 'ends_in_dot'], ['-a', 'dash'], ['--', 'dash'], ['HEAD', 'head'],
]

const accepted = [
  'a', 'main', 'feature/x', 'a/b/c', 'a-b', 'a.b', 'a.lockx', 'a.LOCK', 'a@b', 'a{', '@a', 'a@',
  'a/@', 'HEADa', 'a/HEAD', 'head', 'a/-b', 'ü', '日本/😀', '"', '%2F', '#1', 'a}', 'a]b', "'",
  'refs/heads/a', 'a,b', 'a;b', '$(a)', '{', 'x.lock.y',
]

t.test('branch names are those that git check-ref-format takes', async (t) => {
  const place = bareRepository(t.testdir({}))
  const takes = (name: string): Promise<boolean> =>
    gitAccepts(place, ['check-ref-format', '--branch', name])
  for (const [name, reason] of refused) {
    t.equal(branchReason(name), reason, JSON.stringify(name))
    t.notOk(await takes(name), JSON.stringify(name))
    t.throws(() => requireBranchName(name), {
      code: 'branch_name_invalid', kind: 'rejected', reason,
    })
  }
  for (const name of accepted) {
    t.equal(branchReason(name), null, JSON.stringify(name))
    t.ok(await takes(name), JSON.stringify(name))
    requireBranchName(name)
  }
  const part = fc.constantFrom(
    'a', '/', '.', '..', '@', '{', '-', '.lock', ' ', '~', '^', ':', '*', '[', '\\', 'HEAD', 'é')
  const names = fc.sample(
    fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
    { numRuns: 200, seed: 9 })
  for (const name of new Set(names)) {
    if (name === '@') continue
    t.equal(branchReason(name) === null, await takes(name), JSON.stringify(name))
  }
})

t.test('a branch named @ is refused, though git takes it: everywhere else @ stands for HEAD', async (t) => {
  t.equal(branchReason('@'), 'at')
  t.throws(() => requireBranchName('@'), { code: 'branch_name_invalid', reason: 'at' })
})

t.test('a reference may be as long as its limit and not a byte longer', async (t) => {
  const name = `é${'a'.repeat(refBytesMax - 'refs/heads/'.length - 2)}`
  t.equal(branchReason(name), null)
  t.equal(branchReason(`${name}a`), 'too_long')
  t.equal(branchReason('\ud800'), 'not_utf8')
})
