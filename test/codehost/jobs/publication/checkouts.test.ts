/** Real checkouts are published: what is as the base has it is judged by nobody. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPublication } from '../../../../src/codehost/jobs/publication/open.js'
import {
  checkedOut, entriesOf, largeContent, lfsPointerTo,
} from '../../../support/codehost/checkouts.js'
import { must } from '../../../support/must.js'
import { working, type Working } from '../../../support/codehost/working.js'
import { slice } from '../../../support/slice.js'
import { t } from '../../../support/tests-in-slices.js'

/** Twenty repositories that hold every part alone, none, all, and many together. */
const numbers = [0, 1, 2, 4, 8, 16, 32, 63, 3, 5, 6, 9, 11, 23, 30, 39, 45, 51, 58, 62]

const ready = async (t: Parameters<typeof working>[0]): Promise<Working> => {
  const at = await working(t)
  must(await at.consentToPublish())
  return at
}

const changedIn = (at: Working, id: string): readonly (readonly [string, string])[] => {
  const open = openPublication(at.gov, at.view(), at.job(id))
  try {
    return open.changes.map(({ path, mode }) => [path, mode] as const)
  } finally {
    open.close()
  }
}

t.test('checkouts of twenty repositories with links, workflows, submodules, LFS pointers, executable files and odd names are prepared with the one file that was changed', async (t) => {
  const at = await ready(t)
  const chosen = slice('repositories', numbers, {
    axesOf: (n) => [0, 1, 2, 3, 4, 5].map((part) => String((n >> part) & 1)), idOf: String,
    atLeast: 4,
  })
  let has = 0
  for (const n of chosen) {
    const dir = await checkedOut(at, n, `repository-${n}`)
    writeFileSync(join(dir, 'README.md'), `# Repository ${n}, changed\n`)
    const made = await at.publish(dir, { '--branch': `topic/${n}` })
    t.equal(made.status, 0, `${n}: ${made.stderr}`)
    t.strictSame(changedIn(at, made.json().id), [['README.md', '100644']], `${n}`)
    has += entriesOf(n).filter(({ mode }) => mode === '120000' || mode === '160000').length
  }
  t.ok(has > chosen.length, `${has} links and submodules`)
})

t.test('a checkout with all of it is published, and what was left alone is there as it was', async (t) => {
  const at = await ready(t)
  const dir = await checkedOut(at, 63, 'all')
  writeFileSync(join(dir, 'bin/run'), '#!/bin/sh\nexit 0\n')
  const { id } = must(await at.publish(dir)).json()
  t.strictSame(changedIn(at, id), [['bin/run', '100755']])
  must(await at.approve(id))
  t.equal(must(await at.runJob(id)).json().jobs[0].state, 'succeeded')
  const git = at.sandbox.codehost.find('operator', 'notes')?.git
  const rowsOf = async (branch: string): Promise<readonly string[]> => {
    const commit = await git?.commit(String(await git.ref(`refs/heads/${branch}`)))
    const rows = await git?.rows(String(commit?.tree), true) ?? []
    return rows.filter(({ type }) => type !== 'tree')
      .map((one) => `${one.mode} ${one.id} ${one.path}`)
  }
  const before = await rowsOf('main')
  const after = await rowsOf('topic/one')
  const changed = after.filter((row) => !before.includes(row))
  t.strictSame(changed.map((row) => row.slice(48)), ['bin/run'])
  t.equal(after.length, before.length)
})

t.test('what differs from the base is refused by its name: a link, a workflow, a repository within, a name', async (t) => {
  const at = await ready(t)
  const all = await checkedOut(at, 63, 'all')
  const refused = async (act: () => void, undo: () => void): Promise<readonly unknown[]> => {
    act()
    const { code, reason, details } = (await at.publish(all)).error()
    undo()
    return [code, reason, details.path]
  }
  const [link, flow] = [join(all, 'current'), join(all, '.github/workflows/ci.yml')]
  const linkTo = (text: string): void => {
    rmSync(link, { force: true })
    symlinkSync(text, link)
  }
  const put = (path: string, text = 'x\n') => (): void => writeFileSync(join(all, path), text)
  const gone = (path: string) => (): void => rmSync(join(all, path), { recursive: true })
  t.strictSame(await refused(() => linkTo('releases/0'), () => linkTo('releases/63')),
    ['source_refused', 'link', 'current'])
  t.strictSame(await refused(() => symlinkSync('x', join(all, 'new')), gone('new')),
    ['source_refused', 'link', 'new'])
  t.strictSame(await refused(() => {
    gone('README.md')()
    symlinkSync(`# Repository 63\n`, join(all, 'README.md'))
  }, () => {
    gone('README.md')()
    put('README.md', '# Repository 63\n')()
  }), ['source_refused', 'link', 'README.md'])
  t.strictSame(await refused(() => {
    rmSync(link)
    put('current', 'releases/63')()
  }, () => linkTo('releases/63')), ['overlay_refused', 'over_link', 'current'])
  t.strictSame(await refused(() => writeFileSync(flow, 'name: other\n'),
    () => writeFileSync(flow, 'name: ci 63\n')),
  ['path_not_publishable', 'workflow', '.github/workflows/ci.yml'])
  t.strictSame(await refused(put('.github/workflows/new.yml'), gone('.github/workflows/new.yml')),
    ['path_not_publishable', 'workflow', '.github/workflows/new.yml'])
  t.strictSame(await refused(put('src/.git'), gone('src/.git')),
    ['source_refused', 'nested_git', 'src/.git'])
  t.strictSame(await refused(put('units/a\\b'), gone('units/a\\b')),
    ['path_not_publishable', 'backslash', 'units/a\\b'])
  const odd = 'units/dev-disk\\x2dby.slice'
  t.strictSame(await refused(put(odd), put(odd, '[Slice]\n')),
    ['path_not_publishable', 'backslash', odd])
  t.strictSame(await refused(() => {
    gone('deps')()
    put('deps')()
  }, gone('deps')), ['overlay_refused', 'over_submodule', 'deps'])
  put('README.md')()
  t.equal((await at.publish(all)).status, 0, 'nothing else stood in the way')
})

t.test('content is never published where the base holds an LFS pointer: the file is refused by its name', async (t) => {
  const at = await ready(t)
  const dir = await checkedOut(at, 8, 'large')
  const large = join(dir, 'assets/large.bin')
  for (const content of [largeContent, 'another content\n', '']) {
    writeFileSync(large, content)
    t.hasStrict((await at.publish(dir)).error(), {
      code: 'source_refused', reason: 'lfs_content', details: { path: 'assets/large.bin' },
    }, JSON.stringify(content))
  }
  const [tooLarge, code] = [Buffer.alloc(2 * 1024 * 1024 + 1), join(dir, 'src/deep/er/code.ts')]
  writeFileSync(large, tooLarge)
  t.hasStrict((await at.publish(dir)).error(), {
    code: 'source_refused', reason: 'lfs_content', details: { path: 'assets/large.bin' },
  }, 'as large as such content is')
  writeFileSync(large, lfsPointerTo('another content\n'))
  writeFileSync(code, tooLarge)
  t.hasStrict((await at.publish(dir)).error(), {
    code: 'source_refused', reason: 'file_too_large', details: { path: 'src/deep/er/code.ts' },
  }, 'over what is no pointer it is only too large')
  writeFileSync(join(dir, 'src/deep/er/code.ts'), 'of a pointer’s size it was, and none\n')
  const { id } = must(await at.publish(dir)).json()
  t.strictSame(changedIn(at, id), [
    ['assets/large.bin', '100644'], ['src/deep/er/code.ts', '100644'],
  ], 'a pointer may follow one')
})
