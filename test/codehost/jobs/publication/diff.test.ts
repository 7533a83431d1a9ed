/** The patch of a publication: read by GET, bounded, and what git itself would write. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { patchOf } from '../../../../src/codehost/plan/patch.js'
import { must } from '../../../support/must.js'
import { working } from '../../../support/codehost/working.js'
import { t } from '../../../support/tests-in-slices.js'
import { temporaryFolder } from '../../../world/place.js'

t.test('a file of the base that is not what its id says is no part of a patch, and nobody is asked where nothing changes', async (t) => {
  const at = await working(t)
  must(await at.consentToPublish())
  const job = must(await at.publish(at.folder({ 'README.md': '# Other\n', 'b': 'b\n' }))).json().id
  at.sandbox.faults.set('blob_other_bytes', { service: 'codehost', times: 1 })
  const ran = await at.run(['codehost', 'preview', job, '--diff', '--json'])
  t.equal(ran.error().code, 'host_reply_invalid', ran.stderr)
  at.sandbox.faults.clear()
  const fresh = must(await at.publish(at.folder({ 'only-new': 'x\n' }, 'new'), {
    '--branch': 'two',
  })).json().id
  const before = at.requests().length
  const { publication } = await at.json(['codehost', 'preview', fresh, '--diff'])
  t.hasStrict(publication.diff, { gets: 0, left_out: 0 })
  t.equal(at.requests().length, before)
  const issue = await at.run(['codehost', 'preview', fresh])
  t.notMatch(issue.stdout, 'diff --git')
})

t.test('more files than 200 are left out of a patch, and it says so; after one that is not what its id says no more are asked for', async (t) => {
  const at = await working(t)
  must(await at.consentToPublish())
  const kept = at.sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('no repository')
  const clone = join(at.place.dir, 'clone')
  const git = (...words: string[]): string =>
    execFileSync('git', words, { encoding: 'utf8', cwd: at.place.cwd, env: {
      ...process.env, GIT_AUTHOR_NAME: 'x', GIT_AUTHOR_EMAIL: 'x@y', GIT_COMMITTER_NAME: 'x',
      GIT_COMMITTER_EMAIL: 'x@y',
    } })
  git('clone', '-q', kept.git.gitDir, clone)
  const files = Object.fromEntries(Array.from({ length: 203 }, (_, n) => [`n/${n}`, `${n} new\n`]))
  mkdirSync(join(clone, 'n'))
  for (const name of Object.keys(files)) writeFileSync(join(clone, name), `${name} old\n`)
  git('-C', clone, 'add', '.')
  git('-C', clone, 'commit', '-qm', 'many')
  git('-C', clone, 'push', '-q', 'origin', 'HEAD:main')
  const job = must(await at.publish(at.folder(files))).json().id
  at.sandbox.faults.set('blob_other_bytes', { service: 'codehost', times: 1 })
  const before = at.requests().length
  const refused = await at.run(['codehost', 'preview', job, '--diff', '--json'])
  t.equal(refused.error().code, 'host_reply_invalid', refused.stderr)
  const asked = at.requests().length - before
  t.ok(asked < 50, `${asked} requests, 8 at once`)
  at.sandbox.faults.clear()
  const warned: string[] = []
  const onWarning = ({ name }: Error): void => void warned.push(name)
  process.on('warning', onWarning)
  t.teardown(() => void process.off('warning', onWarning))
  const { publication } = await at.json(['codehost', 'preview', job, '--diff'])
  t.hasStrict(publication.diff, { gets: 200, left_out: 3 })
  t.strictSame(warned, [], 'a connection that is used often collects no listeners')
  const shown = must(await at.run(['codehost', 'preview', job, '--diff'])).stdout
  t.match(shown, '200 files of it read by GET; 3 files')
})

t.test('what a patch of eight mebibytes has no room for is left out, and what still fits behind it is not', async (t) => {
  const at = await working(t)
  must(await at.consentToPublish())
  const large = Object.fromEntries(Array.from({ length: 5 }, (_, n) =>
    [`${n}.txt`, `${String(n).repeat(1_900_000)}\n`]))
  const job = must(await at.publish(at.folder({ ...large, 'small.txt': 'small\n' }))).json().id
  const { publication: { diff } } = await at.json(['codehost', 'preview', job, '--diff'])
  t.hasStrict(diff, { gets: 0, left_out: 1 })
  t.ok(Buffer.byteLength(diff.patch) <= 8 * 1024 * 1024)
  t.match(diff.patch, '\n+small\n')
})

t.test('what --diff prints into a pipe is taken by git, byte for byte', async (t) => {
  const at = await working(t)
  must(await at.consentToPublish())
  const kept = at.sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('no repository')
  const files = {
    'README.md': '# Other\r\n\r\nlines\r\n', 'bell.txt': 'one \u0007 two\n', 'z.txt': 'x\n  \n',
  }
  const job = must(await at.publish(at.folder(files))).json().id
  const { bytes } = must(await at.run(['codehost', 'preview', job, '--diff']))
  const clone = join(at.place.dir, 'clone')
  execFileSync('git', ['clone', '-q', kept.git.gitDir, clone])
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: clone, input: bytes })
  for (const [name, text] of Object.entries(files)) {
    t.equal(readFileSync(join(clone, name), 'utf8'), text, name)
  }
  const terminal = { stdin: true, stdout: true, stderr: true }
  const shown = must(await at.run(['codehost', 'preview', job, '--diff'], { terminal })).stdout
  t.notMatch(shown, '\u0007', 'a terminal is driven by none of it')
})

t.test('a patch of any two texts is taken by git and gives the second', (t) => {
  const dir = temporaryFolder(t)
  const git = (words: readonly string[], input = ''): string =>
    execFileSync('git', words, { encoding: 'utf8', cwd: dir, input })
  git(['init', '-q'])
  const numbered = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, n) => `line ${from + n}\n`).join('')
  const texts = [
    ['', 'a\n'], ['a\n', ''], ['a', 'a\n'], ['a\n', 'a'], ['a\nb\n', 'b\na'],
    [numbered(0, 60), numbered(0, 20) + numbered(25, 60) + 'end'],
    [numbered(0, 5_000), numbered(5_000, 10_000)],
    ['\r\n\r\n', '\n\n'], ['\\ No newline\n', '--- a\n+++ b\n'],
  ] as const
  for (const [n, [before, after]] of texts.entries()) {
    const path = n % 2 === 0 ? `f${n}` : `é ${n}`
    writeFileSync(join(dir, path), before)
    git(['add', path])
    const [a, b] = [before, after].map((text) => git(['hash-object', '--stdin'], text).trim())
    const patch = patchOf({
      path, mode: '100755', id: b ?? '', before: { mode: '100644', id: a ?? '' },
      texts: { before, after },
    })
    git(['apply', '--index', '--whitespace=nowarn', '-'], patch)
    t.equal(git(['show', `:${path}`]), after, `${path} ${n}`)
    t.match(git(['ls-files', '-s', path]), /^100755/)
  }
  t.end()
})

t.test('an issue has no patch, and nobody is asked for one', async (t) => {
  const at = await working(t)
  const ran = await at.run(['codehost', 'preview', await at.prepare(), '--diff', '--json'])
  t.equal(ran.status, 2)
  t.equal(ran.error().code, 'preview_flags')
  t.equal(at.dials(), 0)
})
