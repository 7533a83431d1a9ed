/** Which paths are published, against what git itself refuses. */
import * as fc from 'fast-check'
import t from 'tap'
import {
  fileNameOf, pathBytesMax, pathReason, requirePublishable,
} from '../../../src/codehost/git/publishable-path.js'
import {
  bareRepository, git, gitAccepts, linesOf, tryGit,
} from '../../support/codehost/real-git.js'

const gitNames = [
  '.git', '.GIT', '.Git', '.gIt', 'git~1', 'GIT~1', 'Git~1', '.git.', '.git ', '.git. . .', '.GIT ',
  'git~1.', 'git~1 ', '.git:', '.git::$INDEX_ALLOCATION', '.git:stream', 'git~1::$DATA', '.git .:x',
  '.g\u200cit', '\u200d.git', '.git\u200e', '.\u202agi\u206ft', '\ufeff.git', '.G\u202eIT',
]

const harmless = [
  'git', '.gitx', '.gi', 'git~2', 'git~', 'git~1x', '.gitignore', '.gitattributes', '.github',
  '.git-x', '..git', ' .git', 'x.git', '.g\u200bit', '.gi\u0301t', '.gıt', '.ｇit', 'a.', 'a ',
  '.git_', 'git~1_', '.git\u00a0', '...', '. ', 'a:b',
]

t.test('names that stand for .git on some system are refused, as git refuses them', async (t) => {
  const place = bareRepository(t.testdir({}))
  const [empty = ''] = linesOf(git(place, ['hash-object', '-w', '--stdin'], ''))
  const strict = ['-c', 'core.protectHFS=true', '-c', 'core.protectNTFS=true']
  const takes = (path: string): Promise<boolean> => gitAccepts(place, [
    ...strict, 'update-index', '--add', '--cacheinfo', `100644,${empty},${path}`,
  ])
  for (const name of gitNames) {
    for (const path of [name, `${name}/x`, `a/${name}`, `a/${name}/b`]) {
      t.equal(pathReason(path), 'git_name', JSON.stringify(path))
    }
    t.notOk(await takes(`a/${name}`), JSON.stringify(name))
  }
  for (const name of harmless) {
    t.equal(pathReason(name), null, JSON.stringify(name))
    t.equal(pathReason(`${name}/a`), null, JSON.stringify(name))
    t.ok(await takes(`${name}/a`), JSON.stringify(name))
  }
})

t.test('whatever git fsck calls .git is refused, and nothing else is called so', async (t) => {
  const place = bareRepository(t.testdir({}))
  const [empty = ''] = linesOf(git(place, ['hash-object', '-w', '--stdin'], ''))
  const part = fc.constantFrom(
    '.', '.git', 'GIT', 'git', 'i', '~1', '~', ' ', ':', 'x', '\u200c', '\ufeff', '$')
  const names = [...new Set(fc.sample(
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    { numRuns: 1500, seed: 5 }))].filter((name) => name !== '.' && name !== '..')
  const input = names.map((name) => `100644 blob ${empty}\t${name}\0\0`).join('')
  const ids = linesOf(git(place, ['mktree', '-z', '--batch'], input))
  const { stdout, stderr } = tryGit(place, ['fsck', '--strict', '--no-dangling'])
  const told = `${stdout.toString('utf8')}${stderr}`
  const refused = new Set([...told.matchAll(/tree ([0-9a-f]{40}): hasDotgit/g)].map(([, id]) => id))
  t.ok(refused.size > 20, `${refused.size} of ${names.length}`)
  for (const [at, name] of names.entries()) {
    t.equal(pathReason(name) === 'git_name', refused.has(ids[at]), JSON.stringify(name))
  }
})

t.test('names that no tree holds, or that mislead, are refused by name', async (t) => {
  const cases: readonly [string, string][] = [
    ['', 'empty_name'], ['/a', 'empty_name'], ['a/', 'empty_name'], ['a//b', 'empty_name'],
    ['.', 'dot_name'], ['..', 'dot_name'], ['a/./b', 'dot_name'], ['a/../b', 'dot_name'],
    ['a\0b', 'control_character'], ['a\nb', 'control_character'],
    ['a\u001b[2J', 'control_character'],
    ['a\u007f', 'control_character'], ['a\u0085', 'control_character'],
    ['a\\b', 'backslash'], ['.git\\x', 'backslash'], ['a\ud800', 'not_utf8'],
    ['.github/workflows/ci.yml', 'workflow'], ['.github/workflows', 'workflow'],
    ['.GitHub/WorkFlows/a/b', 'workflow'],
  ]
  for (const [path, reason] of cases) {
    t.equal(pathReason(path), reason, JSON.stringify(path))
    t.throws(() => requirePublishable(path), {
      code: 'path_not_publishable', kind: 'rejected', reason,
    }, JSON.stringify(path))
  }
  for (const path of [
    'a', 'a/b', '.github/dependabot.yml', '.github/workflows.md', 'x/.github/workflows/ci.yml',
    'ü/日本/😀', 'a b', '-', '"', '*', '...', 'workflows',
  ]) {
    t.equal(pathReason(path), null, path)
    requirePublishable(path)
  }
})

t.test('a path may be as long as its limit and not a byte longer', async (t) => {
  const long = `${'é/'.repeat(1365)}a`
  t.equal(Buffer.byteLength(long), pathBytesMax)
  t.equal(pathReason(long), null)
  t.equal(pathReason(`${long}a`), 'path_too_long')
})

t.test('a name that is not UTF-8 has no text, and a byte order mark stays', async (t) => {
  t.equal(fileNameOf(Buffer.from([0x61, 0xff])), null)
  t.equal(fileNameOf(Buffer.from([0xed, 0xa0, 0x80])), null)
  t.equal(fileNameOf(Buffer.from('\ufeffa')), '\ufeffa')
  t.equal(fileNameOf(Buffer.from('é')), 'é')
})
