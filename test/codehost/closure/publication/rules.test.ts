/** The rules of closing publications as functions of plain values. */
import t from 'tap'
import { sha256Hex } from '../../../../src/base/canonical.js'
import { contentReadback, levelReadback } from '../../../../src/codehost/adapter/published.js'
import { sealJournals } from '../../../../src/codehost/closure/journals.js'
import {
  changedPathsProblem, judgePage, pagesOf, type ListedFile,
} from '../../../../src/codehost/closure/publication/changed-paths.js'
import { publicationInventory } from '../../../../src/codehost/closure/publication/inventory.js'
import { objectId } from '../../../../src/codehost/git/object-id.js'
import { treeId, type TreeEntry } from '../../../../src/codehost/git/tree-entry.js'
import type { EffectEntry } from '../../../../src/codehost/jobs/histories.js'
import type { ReadReceipt } from '../../../../src/codehost/jobs/receipt.js'
import type { HttpsReply } from '../../../../src/net/types.js'

const sha = 'a'.repeat(64)
const at = '2026-01-01T00:00:00.000Z'
const body = (effect: number): string => String(effect).repeat(64)
const planned = (effects: number): EffectEntry =>
  ({ type: 'plan', at, artifact_id: 'art', sha256: sha, effects, authority_sha256: sha })
const spawn = (id = 'prd'): EffectEntry => ({
  type: 'spawn', at, attempt: 1, operation_id: 'op', fence: 1, producer_id: id,
  binding_sha256: sha,
})
const produced = (end: 'complete' | 'prefix', id = 'prd'): EffectEntry =>
  ({ type: 'produced', at, producer_id: id, marker_sha256: sha, end, reason: null })
const contacted = (effect: number, of = body(effect)): EffectEntry => ({
  type: 'contacted', at, effect, attempt: 1, operation_id: 'op', fence: 1, body_sha256: of,
})
const outcome = (effect: number, told: 'created' | 'unknown' | 'refused' | 'unsent'): EffectEntry =>
  ({
    type: 'outcome', at, effect, outcome: told, status: null, reason: null, remote_id: null,
    raw_sha256: null,
  })
const made = (effect: number): readonly EffectEntry[] =>
  [contacted(effect), outcome(effect, 'created')]
const begun = [planned(3), spawn(), produced('complete')]
const plan = (...actions: readonly unknown[]) => ({
  posts: actions.map((action, index) => ({ action, body_sha256: body(index + 1) })),
})
const usual = plan('git.object.create', 'git.ref.create', 'pull_request.create')
const job = (contactedCount: number, created: number) => ({
  contacted: contactedCount, created, plan: { artifact_id: 'art', sha256: sha, effects: 3 },
})
const inventory = (
  entries: readonly EffectEntry[], row = job(0, 0), of: unknown = usual,
) => publicationInventory(row, of, entries)

t.test('C-200 C-240 an inventory is local work and the first POSTs, as plan, ledger and row agree', async (t) => {
  t.hasStrict(inventory(begun), { contacted: [], producer: { standing: 'complete' } })
  t.hasStrict(inventory([planned(3), spawn()]), { contacted: [], producer: { markerSha256: null } })
  const two = [...begun, ...made(1), contacted(2), outcome(2, 'unknown')]
  t.hasStrict(inventory(two, job(2, 1)), { contacted: [{ number: 1 }, { number: 2 }] })
  t.hasStrict(inventory([...begun, ...made(1), contacted(2), outcome(2, 'unsent')], job(1, 1)),
    { contacted: [{ number: 1 }] })
  t.hasStrict(inventory([...begun, ...made(1), contacted(2), outcome(2, 'refused')], job(2, 1)),
    { contacted: [{ number: 1 }, { number: 2, standing: 'refused' }] })
  const blocked: readonly (readonly [string, ReturnType<typeof inventory>])[] = [
    ['inventory_incomplete', inventory(two, job(2, 2))],
    ['inventory_incomplete', inventory(two, job(3, 1))],
    ['inventory_incomplete', inventory([planned(3)])],
    ['inventory_incomplete', inventory([])],
    ['inventory_incomplete', inventory([planned(3), ...made(1)], job(1, 1))],
    ['inventory_incomplete', inventory([planned(3), spawn(), ...made(1)], job(1, 1))],
    ['inventory_incomplete', inventory([...begun, contacted(1)], job(1, 0))],
    ['inventory_incomplete', inventory([...begun, ...made(2)], job(1, 1))],
    ['inventory_incomplete', inventory(
      [...begun, contacted(1), outcome(1, 'unknown'), ...made(2)], job(2, 1))],
    ['inventory_incomplete', inventory(begun, job(0, 0), { posts: 1 })],
    ['inventory_incomplete', inventory(begun, job(0, 0), plan('git.object.create'))],
    ['unidentified_intent', inventory([...begun, contacted(1, sha)], job(1, 0))],
    ['unidentified_intent', inventory([...begun, ...made(4)], job(1, 1))],
    ['unidentified_intent', inventory([...begun, outcome(4, 'unknown')])],
    ['unidentified_intent', inventory([...begun, spawn('prd_2')])],
    ['unidentified_intent', inventory([planned(3), spawn(), produced('complete', 'prd_2')])],
  ]
  for (const [reason, found] of blocked) t.strictSame(found, { blocked: reason })
})

t.test('C-204 an effect of no known kind blocks, whatever became of it', async (t) => {
  for (const kind of ['release.create', undefined, null, 1]) {
    for (const entries of [begun, [...begun, ...made(1)]]) {
      const of = plan('git.object.create', kind, 'pull_request.create')
      t.strictSame(inventory(entries, job(1, 1), of), { blocked: 'effect_kind_unknown' })
    }
  }
})

const id = (name: string): string => objectId('blob', Buffer.from(name))
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `file-${number}`)
const listed = (name: string, more: Partial<ListedFile> = {}): ListedFile =>
  ({ filename: name, sha: id(name), status: 'added', ...more })
const page = (files: readonly ListedFile[], next = false) => ({
  kind: 'page' as const, files, next,
  page: { entries: files.length, raw_sha256: sha, payload_sha256: sha },
})
const changes = (count: number) => names(count).map((path) => ({ path, id: id(path) }))

t.test('C-201 C-227 C-248 changed paths are exactly those of the publication, on as many pages as they take', async (t) => {
  t.strictSame([0, 1, 100, 101, 2_000, 2_001].map(pagesOf), [1, 1, 1, 2, 20, 21])
  const all = names(102).map((name) => listed(name))
  const pages = [page(all.slice(0, 100), true), page(all.slice(100))]
  const problem = changedPathsProblem
  t.equal(problem(changes(102), 102, pages), null)
  for (const status of ['added', 'modified', 'changed', 'copied'] as const) {
    t.equal(problem(changes(1), 1, [page([listed('file-0', { status })])]), null, status)
  }
  t.equal(problem(changes(1), 1, [page([
    listed('file-0', { status: 'copied', previous_filename: 'other' })])]), null)
  const found: readonly (readonly [string, ReturnType<typeof problem>])[] = [
    ['changed_paths_truncated', problem(changes(102), 102, pages.slice(0, 1))],
    ['changed_paths_truncated', problem(changes(102), 102, [...pages, page([])])],
    ['changed_paths_truncated', problem(changes(102), 103, pages)],
    ['changed_paths_truncated', problem(changes(102), 102, [
      page(all.slice(0, 100), true), page(all.slice(100), true)])],
    ['changed_paths_truncated', problem(changes(102), 102, [
      page(all.slice(0, 99), true), page(all.slice(100))])],
    ['changed_path_renamed', problem(changes(1), 1, [page([
      listed('file-0', { status: 'renamed', previous_filename: 'other' })])])],
    ...(['removed', 'unchanged'] as const).map((status) => ['changed_paths_differ', problem(
      changes(1), 1, [page([listed('file-0', { status })])])] as const),
    ['changed_paths_differ', problem(changes(1), 1, [page([listed('file-0', { sha: null })])])],
    ['changed_paths_differ', problem(changes(1), 1, [page([listed('file-0', { sha: id('x') })])])],
    ['changed_paths_differ', problem(changes(1), 1, [page([listed('other')])])],
    ['changed_paths_differ', problem(changes(2), 2, [page([listed('file-0'), listed('file-0')])])],
    ['changed_paths_differ', problem(changes(2), 1, [page([listed('file-0')])])],
  ]
  for (const [reason, one] of found) t.equal(one, reason)
})

const reply = (value: unknown, headers: Readonly<Record<string, string>> = {}): HttpsReply => ({
  status: 200, body: Buffer.from(JSON.stringify(value)),
  headers: new Map(Object.entries(headers).map(([name, text]) => [name, [text]])),
})

t.test('C-060 C-201 a page is told by its digests, and a link that cannot be read is no end', async (t) => {
  const files = [listed('file-0')]
  t.hasStrict(judgePage(reply(files)), {
    kind: 'page', next: false, page: { entries: 1, raw_sha256: sha256Hex(JSON.stringify(files)) },
  })
  t.hasStrict(judgePage(reply(files, { link: '<https://x/2>; rel="next"' })), { next: true })
  t.hasStrict(judgePage(reply(files, { link: 'next' })), { reason: 'readback_malformed' })
  t.hasStrict(judgePage(reply([{}])), { reason: 'readback_malformed' })
})

const repository = { owner: 'acme', name: 'notes' }

t.test('C-244 a file is compared byte by byte with the sealed one, besides its id', async (t) => {
  const bytes = Buffer.from('some bytes of a file')
  const of = objectId('blob', bytes)
  const told = reply({
    sha: of, size: bytes.length, encoding: 'base64', content: bytes.toString('base64'),
  })
  const read = (...pieces: readonly Buffer[]) =>
    contentReadback({ repository }, of, () => pieces).judge(told)
  t.hasStrict(read(bytes), { kind: 'matches', decodedBytes: bytes.length })
  t.hasStrict(read(bytes.subarray(0, 5), bytes.subarray(5)), { kind: 'matches' })
  for (const pieces of [
    [Buffer.from('same bytes of a file')], [bytes.subarray(1)], [bytes, Buffer.from('x')], [],
  ]) t.hasStrict(read(...pieces), { reason: 'readback_differs' })
  t.hasStrict(contentReadback({ repository }, id('other'), () => [bytes]).judge(told),
    { reason: 'readback_differs' })
})

t.test('C-244 one level of a tree is proved by its entries, and asked for without what is below', async (t) => {
  const entries: readonly TreeEntry[] = [
    { mode: '100644', name: 'a', id: id('a') }, { mode: '040000', name: 'b', id: id('b') },
  ]
  const own = treeId(entries)
  const rows = entries.map(({ mode, name, id: sha1 }) => ({
    path: name, mode, type: mode === '040000' ? 'tree' : 'blob', sha: sha1,
  }))
  const at1 = levelReadback({ repository }, own)
  t.equal(at1.path, `/repos/acme/notes/git/trees/${own}`)
  const judged = (change: object) =>
    at1.judge(reply({ sha: own, truncated: false, tree: rows, ...change }))
  t.hasStrict(judged({}), { kind: 'matches' })
  t.hasStrict(judged({ truncated: true }), { reason: 'readback_truncated' })
  for (const change of [
    { tree: rows.slice(1) }, { tree: [...rows, rows[0]] }, { sha: id('x') },
    { tree: rows.map((row) => ({ ...row, sha: id('x') })) },
    { tree: rows.map((row) => ({ ...row, path: `x/${row.path}` })) },
  ]) t.hasStrict(judged(change), { reason: 'readback_differs' })
})

t.test('C-228 pages of changed paths that the last journal has no room for lie in one of their own, and none is lost', (t) => {
  const written: Record<string, unknown>[] = []
  const write = (_label: string, bytes: Buffer) => {
    written.push(JSON.parse(bytes.toString('utf8')) as Record<string, unknown>)
    return { sha256: '', stored_sha256: '', bytes: bytes.length }
  }
  const store = { artifacts: { write } } as unknown as Parameters<typeof sealJournals>[0]['store']
  const receipts = ['a', 'b'].map((one) => ({ one: one.repeat(400) }) as unknown as ReadReceipt)
  const changedPaths = { changed_files: 1, pages: [{
    get_path: '/p'.repeat(100), entries: 1, raw_sha256: id('raw'), payload_sha256: id('payload'),
  }] }
  const sealed = (journalBytesMax: number) => {
    written.splice(0)
    sealJournals({ store }, 'job', { receipts, earlier: [], changedPaths }, {
      journalBytesMax, journalsBytesMax: 1_000_000,
    })
    return written.map((one) => [(one['receipts'] as unknown[]).length, one['changed_paths']])
  }
  t.strictSame(sealed(1_100), [[2, undefined], [0, changedPaths]])
  t.strictSame(sealed(100_000), [[2, changedPaths]])
  t.strictSame(sealed(650), [[1, undefined], [1, undefined], [0, changedPaths]])
  t.end()
})

t.test('a journal that cannot be written takes those before it with it', (t) => {
  const lying: string[] = []
  const artifacts = {
    write: () => {
      if (lying.length === 2) throw new TypeError('the disk is full')
      const stored = String(lying.push(`journal ${lying.length}`))
      return { sha256: '', stored_sha256: stored, bytes: 1 }
    },
    remove: (name: string) => void lying.splice(lying.indexOf(`journal ${Number(name) - 1}`), 1),
  }
  const store = { artifacts } as unknown as Parameters<typeof sealJournals>[0]['store']
  const receipts = ['a', 'b', 'c']
    .map((one) => ({ one: one.repeat(400) }) as unknown as ReadReceipt)
  t.throws(() => sealJournals({ store }, 'job', { receipts, earlier: [] }, {
    journalBytesMax: 650, journalsBytesMax: 1_000_000,
  }), new TypeError('the disk is full'))
  t.strictSame(lying, [])
  t.end()
})
