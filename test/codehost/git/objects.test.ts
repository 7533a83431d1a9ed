/** Ids of objects against published vectors and against git itself. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { commitBytes, commitId, dateOf, secondsOf } from '../../../src/codehost/git/commit.js'
import { fileScan } from '../../../src/codehost/git/file-scan.js'
import { isObjectId, objectHash, objectId, rawId } from '../../../src/codehost/git/object-id.js'
import { GitTree, emptyTree, treeOfListing } from '../../../src/codehost/git/tree.js'
import {
  sortedEntries, treeBytes, treeId, typeOfMode,
} from '../../../src/codehost/git/tree-entry.js'
import type { TreeMode } from '../../../src/codehost/git/tree-entry.js'
import { readReply } from '../../../src/codehost/replies/parse-reply.js'
import { levelsOf, nestedTree } from '../../support/codehost/arbitrary.js'
import { bareRepository, git, linesOf, tryGit } from '../../support/codehost/real-git.js'
import { t } from '../../support/tests-in-slices.js'

t.test('a blob, a tree and a commit have the ids that the host publishes', async (t) => {
  t.equal(
    objectId('blob', Buffer.from('IyEvYmluL2Jhc2gKZWNobyBIZWxsbwo=', 'base64')),
    'e9ba7ba07276a794d493db90e0384940ce2b757b',
  )
  const entries = [
    { mode: '100644', name: 'Foobar.txt', id: '73a1c7f17aa0ad5d7cbb5a8ca033ce47d3d23197' },
    { mode: '100644', name: 'Barbaz.txt', id: '92be1df4e473d2541c5c166ad145a39d0324de8b' },
  ] as const
  t.equal(treeId(entries), '107139a922f33bab6fbeb9f9eb8787e7f19e0528')
  const date = '2021-01-23T20:20:25Z'
  t.equal(commitId({
    tree: 'b09a1698f3aeb1d462c3492007760e2579734c74',
    parents: ['2acb295eef8d5eaf34d8915fad20db132745e9a0'],
    author: { name: 'author', email: 'author@author.com', date },
    committer: { name: 'committer', email: 'committer@committer.com', date },
    message: 'Add files',
  }), '466725309d43aa6fe6cb67f8f4161451d627b43f')
  t.equal(emptyTree.id, '4b825dc642cb6eb9a060e54bf8d69288fbee4904')
})

t.test('an id is 40 lowercase hex digits, and anything else is a defect', async (t) => {
  const id = 'e9ba7ba07276a794d493db90e0384940ce2b757b'
  t.ok(isObjectId(id))
  t.equal(rawId(id).toString('hex'), id)
  for (const wrong of ['', id.slice(1), `${id}0`, id.toUpperCase(), `${id}\n`, `${id.slice(1)}g`]) {
    t.notOk(isObjectId(wrong))
    t.throws(() => rawId(wrong), new TypeError('not an object id'))
    t.throws(() => commitBytes({
      tree: wrong, parents: [], message: 'm\n',
      author: { name: 'a', email: 'a', date: '2021-01-23T20:20:25Z' },
      committer: { name: 'a', email: 'a', date: '2021-01-23T20:20:25Z' },
    }), new TypeError('not an object id'))
  }
})

t.test('a body shorter or longer than announced has no id', async (t) => {
  const short = objectHash('blob', 3)
  short.update(Buffer.from('ab'))
  t.throws(() => short.id(), new RangeError('the body is not as long as announced'))
  const long = objectHash('blob', 3)
  long.update(Buffer.from('abcd'))
  t.throws(() => long.id(), new RangeError('the body is not as long as announced'))
})

t.test('files in random pieces have the ids of git hash-object', async (t) => {
  const place = bareRepository(t.testdir({ files: {} }))
  const dir = join(place.gitDir, '..', 'files')
  mkdirSync(dir, { recursive: true })
  const bodies = fc.sample(fc.uint8Array({ maxLength: 3000 }), 300)
  const paths = bodies.map((body, at) => {
    writeFileSync(join(dir, String(at)), body)
    return join(dir, String(at))
  })
  const ids = bodies.map((body, at) => {
    const scan = fileScan(body.length)
    for (let from = 0; from < body.length; from += at + 1) {
      scan.update(body.subarray(from, from + at + 1))
    }
    return scan.end().id
  })
  const printed = git(place, ['hash-object', '--no-filters', '--stdin-paths'], paths.join('\n'))
  t.strictSame(ids, linesOf(printed))
})

const mktreeInput = (tree: GitTree): string =>
  [...tree.children].map(([name, child]) => {
    const mode: TreeMode = child instanceof GitTree ? '040000' : child.mode
    return `${mode} ${typeOfMode(mode)} ${child.id}\t${name}\0`
  }).join('')

t.test('a thousand random trees have the ids of git mktree at every level', async (t) => {
  const place = bareRepository(t.testdir({}))
  const trees = fc.sample(nestedTree, { numRuns: 1000, seed: 20_261_122 })
  const levels = trees.flatMap(levelsOf)
  t.ok(levels.length > 3000, `${levels.length} levels`)
  t.ok(levels.filter(({ children }) => children.size === 0).length > 100, 'some are empty')
  t.ok(trees.some((tree) => [...tree.listing()].some(({ path }) => path.split('/').length > 4)))
  const input = levels.map((level) => `${mktreeInput(level)}\0`).join('')
  const printed = linesOf(git(place, ['mktree', '-z', '--missing', '--batch'], input))
  t.strictSame(levels.map(({ id }) => id), printed)
})

t.test('the listing of a random tree leads back to it, and its sizes are those of git ls-tree', async (t) => {
  const place = bareRepository(t.testdir({}))
  const trees = fc.sample(nestedTree, { numRuns: 200, seed: 7 })
    .filter(({ children }) => children.size > 1).slice(0, 12)
  for (const tree of trees) {
    const again = treeOfListing(tree.id, [...tree.listing()])
    t.equal(again.id, tree.id)
    const input = levelsOf(tree).map((level) => `${mktreeInput(level)}\0`).join('')
    git(place, ['mktree', '-z', '--missing', '--batch'], input)
    const listed = git(place, ['ls-tree', '-r', '-t', '-z', tree.id])
    const rows = listed.toString('utf8').split('\0').filter((row) => row !== '')
    t.equal(tree.size.entries, rows.length)
    t.equal(tree.listingBytes, listed.length)
    const bytes = levelsOf(tree).map((level) => treeBytes(
      [...level.children].map(([name, child]) => child instanceof GitTree
        ? { name, mode: '040000' as const, id: child.id } : { name, ...child })).length)
    t.equal(tree.size.objectBytes, bytes.reduce((sum, one) => sum + one, 0))
  }
})

t.test('a folder sorts as if its name ended in a slash', async (t) => {
  const id = emptyTree.id
  const names = ['a', 'a-b', 'a0', 'a.b'].map((name) => ({ mode: '100644' as const, name, id }))
  const folder = { mode: '040000' as const, name: 'a', id }
  const order = sortedEntries([...names.slice(1), folder]).map(({ name }) => name)
  t.strictSame(order, ['a-b', 'a.b', 'a', 'a0'])
  t.strictSame(sortedEntries(names).map(({ name }) => name), ['a', 'a-b', 'a.b', 'a0'])
  // By UTF-16 units the pair would come first.
  const wide = ['\u{10000}', '\uffee'].map((name) => ({ mode: '100644' as const, name, id }))
  t.strictSame(sortedEntries(wide).map(({ name }) => name), ['\uffee', '\u{10000}'])
})

t.test('only modes of today are modes', async (t) => {
  const sha = '1'.repeat(40)
  const told = (mode: string, type: string) => readReply('tree', Buffer.from(JSON.stringify({
    sha, truncated: false, tree: [{ path: 'a', mode, type, sha }],
  })))
  const modes = ['100644', '100755', '120000', '160000', '040000'] as const
  for (const mode of modes) t.equal(told(mode, typeOfMode(mode)).tree[0]?.mode, mode)
  for (const mode of ['100664', '40000', '', '100600', '0100644']) {
    t.throws(() => told(mode, 'blob'), { code: 'host_reply_invalid', reason: 'shape' }, mode)
  }
})

t.test('commits have the ids of git commit-tree', async (t) => {
  const place = bareRepository(t.testdir({}))
  git(place, ['mktree'], '')
  const word = fc.constantFrom('Ann', 'Ödön', '李', 'O’Neil', 'a.b', 'x y', 'q"r', "d'Arc")
  const cases = fc.sample(fc.record({
    name: word, email: fc.constantFrom('a@b', 'ö@é.example', "o'x+y@z.example"),
    seconds: fc.integer({ min: 0, max: 4_102_444_799 }),
    message: fc.constantFrom('One\n', 'Subject\n\nBody, ünïcode 😀.\n\n- a\n', '# no comment\n'),
  }), { numRuns: 24, seed: 3 })
  let parents: string[] = []
  for (const { name, email, seconds, message } of cases) {
    const author = { name, email, date: dateOf(seconds * 1000) }
    const committer = { name: 'C', email: 'c@d', date: dateOf((seconds + 1) * 1000) }
    const draft = { tree: emptyTree.id, parents, author, committer, message }
    const env = {
      ...place.env,
      GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: `@${seconds} +0000`,
      GIT_COMMITTER_NAME: 'C', GIT_COMMITTER_EMAIL: 'c@d',
      GIT_COMMITTER_DATE: `@${seconds + 1} +0000`,
    }
    const from = parents.flatMap((id) => ['-p', id])
    const [made] = linesOf(
      git({ ...place, env }, ['commit-tree', emptyTree.id, ...from], message))
    t.equal(commitId(draft), made)
    parents = [made ?? '']
  }
  t.equal(tryGit(place, ['fsck', '--strict', '--no-dangling']).status, 0)
})

t.test('a date is a whole second of UTC in one form, and a moment is cut down to it', async (t) => {
  t.equal(secondsOf('1970-01-01T00:00:00Z'), 0)
  t.equal(secondsOf('2024-02-29T23:59:59Z'), 1_709_251_199)
  for (const wrong of [
    '', '2024-02-30T00:00:00Z', '2023-02-29T00:00:00Z', '2024-01-01T24:00:00Z',
    '2024-01-01T00:00:60Z', '2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00+00:00',
    '2024-01-01T00:00:00z', '2024-1-1T00:00:00Z', '1969-12-31T23:59:59Z', '2100-01-01T00:00:00Z',
    '2024-01-01T00:00:00Z\n', ' 2024-01-01T00:00:00Z',
  ]) t.equal(secondsOf(wrong), null, JSON.stringify(wrong))
  t.equal(dateOf(1_709_251_199_999), '2024-02-29T23:59:59Z')
})
