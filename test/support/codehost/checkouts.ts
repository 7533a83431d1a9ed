/**
 * Repositories as they are met: links, workflows, submodules, LFS pointers, executable files, names
 * that other systems refuse. Each is put on the sandbox's host as its `main`, and checked out by
 * the real git.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../../src/base/canonical.js'
import type { NewEntry } from '../../../src/sandbox/codehost/git.js'
import type { Working } from './working.js'

/** The pointer that stands for a content. */
export const lfsPointerTo = (content: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256Hex(Buffer.from(content))}\n`
  + `size ${Buffer.byteLength(content)}\n`

/** What a large file of these repositories holds. */
export const largeContent = 'what a large file holds\n'

const entry = (path: string, content: string, mode = '100644'): NewEntry =>
  ({ path, mode, id: null, content })

const submodule = (path: string, n: number): NewEntry =>
  ({ path, mode: '160000', id: n.toString(16).padStart(40, 'c'), content: null })

/** What a repository may hold; the number makes each another. */
const parts: readonly ((n: number) => readonly NewEntry[])[] = [
  (n) => [entry('.github/workflows/ci.yml', `name: ci ${n}\n`),
    entry('.github/workflows/nested/more.yml', 'on: push\n')],
  (n) => [entry('current', `releases/${n}`, '120000'), entry('bin/up', '../..', '120000'),
    entry('broken', '/nowhere/at/all', '120000')],
  (n) => [submodule('vendor/lib', n), submodule('deps', n + 1),
    entry('.gitmodules', '[submodule "deps"]\n\tpath = deps\n\turl = ../deps\n')],
  () => [entry('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n'),
    entry('assets/large.bin', lfsPointerTo(largeContent))],
  (n) => [entry('bin/run', `#!/bin/sh\nexit ${n}\n`, '100755')],
  () => [entry('units/dev-disk\\x2dby.slice', '[Slice]\n'), entry('units/a b', 'x\n')],
]

/** Entries of one of 64 repositories: its number's bits say what it holds. */
export const entriesOf = (n: number): readonly NewEntry[] => [
  entry('README.md', `# Repository ${n}\n`),
  // As large as a pointer.
  entry('src/deep/er/code.ts', `export const n = ${n}\n`.padEnd(130, '/')),
  ...parts.flatMap((part, bit) => ((n >> bit) & 1) === 1 ? part(n) : []),
]

const gitEnv = {
  PATH: '/usr/bin:/bin', HOME: '/nonexistent', LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
}

/**
 * Puts a repository on the host and checks it out under a name; a submodule is there as after
 * `git submodule update`, with a `.git` of its own and files that nobody asked for.
 */
export const checkedOut = async (
  { sandbox, place }: Pick<Working, 'sandbox' | 'place'>, n: number, name: string,
): Promise<string> => {
  const kept = sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('no repository')
  const { git } = kept
  const entries = entriesOf(n)
  const someone = { name: 'Somebody', email: 's@example.org', seconds: 1_700_000_000 + n }
  const before = await git.ref('refs/heads/main')
  const commit = await git.writeCommit({
    tree: await git.writeTree(null, entries), parents: [], author: someone, committer: someone,
    message: `Repository ${n}\n`,
  })
  if (!await git.setRef('refs/heads/main', commit, before)) throw new Error('main did not move')
  const dir = place.path(name)
  execFileSync('git', ['clone', '-q', '--no-hardlinks', git.gitDir, dir], { env: gitEnv })
  for (const { path } of entries.filter(({ mode }) => mode === '160000')) {
    mkdirSync(join(dir, path, 'inner'), { recursive: true })
    writeFileSync(join(dir, path, '.git'), 'gitdir: elsewhere\n')
    writeFileSync(join(dir, path, 'inner/file'), 'of the submodule\n')
  }
  return dir
}
