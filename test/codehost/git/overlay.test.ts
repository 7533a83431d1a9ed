/** Files over a base: ids against git fast-import, and what is refused. */
import * as fc from 'fast-check'
import t from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import { GitTree, emptyTree, overlaid, treeOfListing } from '../../../src/codehost/git/tree.js'
import type { FileEntry, ListedEntry } from '../../../src/codehost/git/tree.js'
import { treeName } from '../../support/codehost/arbitrary.js'
import { bareRepository, git, linesOf } from '../../support/codehost/real-git.js'

const idOf = (digit: string): string => digit.repeat(40)

const bodies = ['one\n', 'two\n', '']

const file = fc.record({
  path: fc.array(treeName, { minLength: 1, maxLength: 4 }).map((names) => names.join('/')),
  mode: fc.constantFrom('100644' as const, '100755' as const),
  body: fc.integer({ min: 0, max: bodies.length - 1 }),
})
type File = typeof file extends fc.Arbitrary<infer F> ? F : never

const files = fc.array(file, { maxLength: 6 })

const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`

/** The tree after the files were put one after the other, or null where one is refused. */
const after = (base: GitTree, added: readonly FileEntry[]): GitTree | null => {
  try {
    return overlaid(base, added)
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}

const entriesOf = (ids: readonly string[], list: readonly File[]): FileEntry[] =>
  list.map(({ path, mode, body }) => ({ path, mode, id: ids[body] ?? '' }))

t.test('a thousand random overlays have the ids that git fast-import gives them', async (t) => {
  const place = bareRepository(t.testdir({}))
  const ids = bodies.map((body) =>
    linesOf(git(place, ['hash-object', '-w', '--stdin'], body))[0] ?? '')
  const cases = fc.sample(fc.tuple(files, files), { numRuns: 3000, seed: 11 })
    .flatMap(([first, second]) => {
      const base = after(emptyTree, entriesOf(ids, first))
      const whole = base === null ? null : after(base, entriesOf(ids, second))
      return base === null || whole === null ? [] : [{ first, second, base, whole }]
    })
    .slice(0, 1000)
  t.equal(cases.length, 1000)
  const change = ({ path, mode, body }: File): string =>
    `M ${mode} ${ids[body]} ${quoted(path)}\n`
  const input = cases.map(({ first, second }) => [
    'commit refs/heads/x\ncommitter t <t@t> 0 +0000\ndata 0\ndeleteall\n',
    ...first.map(change), 'ls ""\n', ...second.map(change), 'ls ""\n\n',
  ].join('')).join('')
  const printed = linesOf(git(place, ['fast-import', '--quiet', '--date-format=raw'], input))
  const treeIds = printed.map((line) =>
    line.startsWith('missing') ? emptyTree.id : line.split(/[ \t]/)[2])
  t.strictSame(cases.flatMap(({ base, whole }) => [base.id, whole.id]), treeIds)
})

const rows = (list: readonly [string, ListedEntry['mode']][]): GitTree => {
  const build = (prefix: string): GitTree => new GitTree(new Map(list
    .filter(([path]) => path.startsWith(prefix) && !path.slice(prefix.length).includes('/'))
    .map(([path, mode]) => [path.slice(prefix.length), mode === '040000'
      ? build(`${path}/`) : { mode, id: idOf('1') }])))
  return build('')
}

const mixed = rows([
  ['file', '100644'], ['run', '100755'], ['link', '120000'], ['module', '160000'],
  ['folder', '040000'], ['folder/inner', '100644'], ['folder/deep', '040000'],
  ['folder/deep/leaf', '100644'], ['empty', '040000'],
])

t.test('what would delete or reach through something of the base is refused by name', async (t) => {
  const cases: readonly [string, string][] = [
    ['folder', 'file_over_folder'], ['empty', 'file_over_folder'],
    ['folder/deep', 'file_over_folder'], ['file/x', 'folder_over_file'],
    ['folder/inner/x/y', 'folder_over_file'], ['link', 'over_link'], ['link/x', 'over_link'],
    ['module', 'over_submodule'], ['module/x', 'over_submodule'],
  ]
  const before = mixed.id
  for (const [path, reason] of cases) {
    t.throws(() => overlaid(mixed, [{ path, mode: '100644', id: idOf('2') }]), {
      code: 'overlay_refused', kind: 'rejected', reason, details: { path },
    }, path)
  }
  t.equal(mixed.id, before)
})

t.test('files that contradict each other are refused', async (t) => {
  const put = (...paths: string[]): GitTree =>
    overlaid(mixed, paths.map((path) => ({ path, mode: '100644', id: idOf('2') })))
  t.throws(() => put('new', 'new'), { code: 'overlay_refused', reason: 'file_twice' })
  t.throws(() => put('new', 'new/x'), { code: 'overlay_refused', reason: 'folder_over_file' })
  t.throws(() => put('new/x', 'new'), { code: 'overlay_refused', reason: 'file_over_folder' })
  t.throws(() => put('folder/new/x', 'folder/new'), {
    code: 'overlay_refused', reason: 'file_over_folder',
  })
})

t.test('only what is named changes, and the base stays as it is', async (t) => {
  const put = overlaid(mixed, [
    { path: 'folder/deep/leaf', mode: '100755', id: idOf('2') },
    { path: 'folder/new/x', mode: '100644', id: idOf('3') },
    { path: 'empty/first', mode: '100644', id: idOf('3') },
  ])
  t.strictSame(put.at('folder/deep/leaf'), { mode: '100755', id: idOf('2') })
  t.strictSame(put.at('folder/inner'), mixed.at('folder/inner'))
  t.strictSame(put.at('folder/new/x'), { mode: '100644', id: idOf('3') })
  t.ok(put.at('empty') instanceof GitTree)
  t.equal(mixed.at('folder/new'), undefined)
  t.equal(put.at('file/x'), undefined)
  t.equal(put.at('nothing'), undefined)
  t.strictSame(mixed.at('folder/deep/leaf'), { mode: '100644', id: idOf('1') })
  t.equal(overlaid(mixed, []).id, mixed.id)
  t.equal(treeOfListing(emptyTree.id, []).id, emptyTree.id)
})

t.test('a listing of more folders within each other than 512 is refused by name, however many they are', async (t) => {
  const nested = (levels: number): GitTree => {
    let tree = emptyTree
    for (let level = 0; level < levels; level += 1) tree = new GitTree(new Map([['a', tree]]))
    return tree
  }
  const deep = nested(512)
  t.equal(treeOfListing(deep.id, [...deep.listing()]).id, deep.id)
  const deeper = nested(513)
  // As many as a reply has room for.
  const deepest = Array.from({ length: 5_000 }, (_, at): ListedEntry =>
    ({ path: `a${'/a'.repeat(at)}`, mode: '040000', id: idOf('1') }))
  for (const rows of [[...deeper.listing()], deepest, [...deepest].reverse()]) {
    t.throws(() => treeOfListing(deeper.id, rows), {
      code: 'tree_inconsistent', kind: 'remote', reason: 'too_deep', message: /512/,
    }, `${rows.length}`)
  }
})

t.test('a listing that contradicts itself is refused by name', async (t) => {
  const good = [...mixed.listing()]
  t.equal(treeOfListing(mixed.id, good).id, mixed.id)
  t.equal(treeOfListing(mixed.id, [...good].reverse()).id, mixed.id)
  const row = (path: string, mode: ListedEntry['mode'] = '100644'): ListedEntry =>
    ({ path, mode, id: idOf('1') })
  const without = (path: string): ListedEntry[] => good.filter((one) => one.path !== path)
  const refused: readonly [string, string, readonly ListedEntry[]][] = [
    ['id_differs', 'a row is missing', without('file')],
    ['id_differs', 'a folder is missing', without('empty')],
    ['id_differs', 'one more', [...good, row('more')]],
    ['id_differs', 'another mode', [...without('file'), row('file', '100755')]],
    ['folder_missing', 'no row of its folder', without('folder/deep')],
    ['folder_missing', 'below a file', [...good, row('file/x')]],
    ['folder_missing', 'at no top', [...good, row('/file')]],
    ['entry_twice', 'a file twice', [...good, row('file')]],
    ['entry_twice', 'a folder twice', [...good, row('folder', '040000')]],
    ['entry_twice', 'a file and a folder', [...good, row('folder')]],
    ['name_invalid', 'no name', [...good, row('folder/')]],
    ['name_invalid', 'no path', [...good, row('')]],
    ['name_invalid', 'a NUL', [...good, row('a\0b')]],
  ]
  for (const [reason, what, list] of refused) {
    t.throws(() => treeOfListing(mixed.id, list), {
      code: 'tree_inconsistent', kind: 'remote', reason,
    }, what)
  }
  t.throws(() => treeOfListing(idOf('1'), good), {
    code: 'tree_inconsistent', reason: 'id_differs',
  })
})
