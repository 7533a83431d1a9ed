/** Plans of publications: order, bodies, predicted ids, sizes. */
import * as fc from 'fast-check'
import { objectId } from '../../../src/codehost/git/object-id.js'
import { emptyTree, overlaid } from '../../../src/codehost/git/tree.js'
import type { GitTree } from '../../../src/codehost/git/tree.js'
import { bodyPieces } from '../../../src/codehost/plan/body.js'
import { postLimits } from '../../../src/codehost/plan/plan-limits.js'
import { planPublication } from '../../../src/codehost/plan/publication.js'
import type { PublicationPlan } from '../../../src/codehost/plan/publication.js'
import type { PlannedPost } from '../../../src/codehost/plan/posts.js'
import { requireHostText } from '../../../src/codehost/plan/texts.js'
import { counted, publication, scanned, treeOf } from '../../support/codehost/publication.js'
import { t } from '../../support/tests-in-slices.js'
import { casesOf } from '../../support/for-all.js'

interface Json {
  readonly content: string
  readonly encoding: 'base64'
  readonly base_tree?: string
  readonly tree: string | readonly {
    readonly path: string, readonly mode: '100644', readonly type: string
    readonly sha: string, readonly content?: string
  }[]
}

const listOf = ({ tree }: Json): Exclude<Json['tree'], string> =>
  typeof tree === 'string' ? [] : tree

/** The body as it goes out, files in pieces of seven bytes. */
const bodyOf = async (
  plan: PublicationPlan, post: PlannedPost, contents: ReadonlyMap<string, Buffer>,
): Promise<Buffer> => {
  const pieces: Buffer[] = []
  const piecesOf = function* (file: number): Generator<Buffer> {
    const whole = contents.get(plan.changes[file]?.path ?? '') ?? Buffer.alloc(0)
    for (let at = 0; at < whole.length; at += 7) yield whole.subarray(at, at + 7)
  }
  for await (const piece of bodyPieces(post, piecesOf)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/**
 * A host that takes the bodies in order and gives ids of its own: what a tree names must be there,
 * from before or from a request before it.
 */
const played = async (
  plan: PublicationPlan, base: GitTree, contents: ReadonlyMap<string, Buffer>,
): Promise<string | null> => {
  const blobs = new Set([...base.listing()].map(({ id }) => id))
  const trees = new Map([[base.id, base]])
  for (const post of plan.posts) {
    const bytes = await bodyOf(plan, post, contents)
    if (bytes.length !== post.bytes) return `${post.number}: ${bytes.length} bytes`
    const json = JSON.parse(bytes.toString('utf8')) as Json
    if (!Buffer.from(JSON.stringify(json)).equals(bytes)) return `${post.number}: another form`
    if (post.kind === 'blob') {
      const id = objectId('blob', Buffer.from(json.content, json.encoding))
      blobs.add(id)
      if (id !== post.id) return `${post.number}: blob ${id}`
    } else if (post.kind === 'chunk' || post.kind === 'growth') {
      const from = json.base_tree === undefined ? emptyTree : trees.get(json.base_tree)
      if (from === undefined) return `${post.number}: no base`
      const entries = listOf(json).map(({ path, mode, type, sha, content }) => {
        const id = content === undefined ? sha : objectId('blob', Buffer.from(content, 'utf8'))
        if (content !== undefined) blobs.add(id)
        if (type !== 'blob' || !blobs.has(id)) throw new Error(`${path} is not there`)
        return { path, mode, id }
      })
      const tree = overlaid(from, entries)
      trees.set(tree.id, tree)
      if (tree.id !== post.id || tree.id !== post.tree?.id) return `${post.number}: tree`
      if (post.kind === 'chunk' && json.base_tree !== undefined) return 'a chunk with a base'
    } else if (post.kind === 'commit' && !trees.has(json.tree as string)) {
      return 'a commit without its tree'
    }
  }
  return null
}

t.test('a publication is blobs, chunks, the tree, commit, branch and pull request, in this order', async (t) => {
  const contents = new Map([
    ['a.txt', Buffer.from('text "quoted"\n')], ['bin', Buffer.from([0, 1, 2, 255])],
    ['empty', Buffer.alloc(0)], ['dir/run', Buffer.from('#!/bin/sh\n')],
  ])
  const files = [...contents].map(([path, bytes]) =>
    scanned(path, bytes, path === 'dir/run' ? '100755' : '100644'))
  const input = publication({ files: [...files, scanned('README.md', '# Notes\n')] })
  const plan = planPublication(input)
  t.strictSame(plan.posts.map(({ number, kind, path, files: named, action }) =>
    [number, kind, path, named, action]), [
    [1, 'blob', '/repos/acme/notes/git/blobs', 1, 'git.object.create'],
    [2, 'blob', '/repos/acme/notes/git/blobs', 1, 'git.object.create'],
    [3, 'chunk', '/repos/acme/notes/git/trees', 2, 'git.object.create'],
    [4, 'growth', '/repos/acme/notes/git/trees', 4, 'git.object.create'],
    [5, 'commit', '/repos/acme/notes/git/commits', 0, 'git.object.create'],
    [6, 'ref', '/repos/acme/notes/git/refs', 0, 'git.ref.create'],
    [7, 'pull_request', '/repos/acme/notes/pulls', 0, 'pull_request.create'],
  ])
  t.strictSame(plan.changes.map(({ path, before }) => [path, before]),
    ['a.txt', 'bin', 'dir/run', 'empty'].map((path) => [path, null]))
  const bodies = []
  for (const post of plan.posts) {
    bodies.push(JSON.parse((await bodyOf(plan, post, contents)).toString('utf8')) as Json)
  }
  const idOf = new Map(files.map(({ path, id }) => [path, id]))
  t.strictSame(bodies, [
    { content: 'AAEC/w==', encoding: 'base64' },
    { content: '', encoding: 'base64' },
    { tree: [
      { path: 'a.txt', mode: '100644', type: 'blob', content: 'text "quoted"\n' },
      { path: 'dir/run', mode: '100755', type: 'blob', content: '#!/bin/sh\n' },
    ] },
    { base_tree: input.base.tree.id, tree: [
      { path: 'a.txt', mode: '100644', type: 'blob', sha: idOf.get('a.txt') },
      { path: 'bin', mode: '100644', type: 'blob', sha: idOf.get('bin') },
      { path: 'dir/run', mode: '100755', type: 'blob', sha: idOf.get('dir/run') },
      { path: 'empty', mode: '100644', type: 'blob', sha: idOf.get('empty') },
    ] },
    {
      message: 'One\n', tree: plan.tree.id, parents: [input.base.commit],
      author: input.commit.author, committer: input.commit.committer,
    },
    { ref: 'refs/heads/topic/one', sha: plan.commit },
    { title: 'One', head: 'topic/one', base: 'main', body: 'Why.\n', draft: false },
  ])
  t.equal(plan.posts.at(-1)?.id, null)
  t.equal(plan.posts.at(-2)?.id, plan.commit)
  t.equal(await played(plan, input.base.tree, contents), null)
})

const name = fc.constantFrom('a', 'b', 'lib', 'é', 'x-y', 'q"r', '.env')
const content = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(Buffer.from('same\n'), Buffer.alloc(0), Buffer.from('"\\\u0001\n')),
)
const folder = fc.array(fc.tuple(
  fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/')), content,
  fc.constantFrom('100644' as const, '100755' as const),
), { minLength: 1, maxLength: 8 }).map((files) =>
  files.filter(([path], at) => !files.some(([other], from) => from !== at
    && (from < at && other === path || other.startsWith(`${path}/`)))))

t.test('a host that goes by the bodies alone comes to every predicted id', async (t) => {
  let [tried, posts] = [0, 0]
  await fc.assert(fc.asyncProperty(folder, folder, async (old, files) => {
    const base = treeOf(old.map(([path, bytes, mode]) => scanned(path, bytes, mode)))
    const input = publication({
      base: { branch: 'main', commit: '2'.repeat(40), tree: base },
      files: files.map(([path, bytes, mode]) => scanned(path, bytes, mode)),
    })
    let plan: PublicationPlan
    try {
      plan = planPublication(input)
    } catch (error) {
      const known = ['nothing_to_publish', 'overlay_refused']
      if (known.includes((error as { code: string }).code)) return
      throw error
    }
    tried += 1
    posts += plan.posts.length
    const wrong = await played(plan, base, new Map(files.map(([path, bytes]) => [path, bytes])))
    if (wrong !== null) throw new Error(wrong)
  }), { numRuns: 200 })
  t.ok(tried > casesOf(80), `${tried} plans, ${posts} POSTs`)
})

t.test('what the base has is not sent again, and one content is sent once', async (t) => {
  const base = treeOf([scanned('run.sh', 'x\n'), scanned('old', 'old\n')])
  const mode = planPublication(publication({
    base: { branch: 'main', commit: '1'.repeat(40), tree: base },
    files: [scanned('run.sh', 'x\n', '100755'), scanned('copy', 'old\n')],
  }))
  t.strictSame(mode.posts.map(({ kind }) => kind), ['growth', 'commit', 'ref', 'pull_request'])
  t.strictSame(mode.changes.map(({ path, before }) => [path, before?.mode]),
    [['copy', undefined], ['run.sh', '100644']])
  const twice = planPublication(publication({
    files: [scanned('one', 'same\n'), scanned('two', 'same\n'), scanned('nul', '\0'),
      scanned('nul2', '\0')],
  }))
  t.strictSame(twice.posts.map(({ kind, files }) => [kind, files]), [
    ['blob', 1], ['chunk', 1], ['growth', 4], ['commit', 0], ['ref', 0], ['pull_request', 0],
  ])
})

t.test('a folder that changes nothing is refused', async (t) => {
  const refusal = { code: 'nothing_to_publish', kind: 'rejected' } as const
  t.throws(() => planPublication(publication({ files: [] })), refusal)
  t.throws(() => planPublication(publication({
    files: [scanned('README.md', '# Notes\n')],
  })), refusal)
})

const many = (count: number, bytes: number): ReturnType<typeof counted>[] =>
  Array.from({ length: count }, (_, at) =>
    counted(`dir${at % 40}/file${String(at).padStart(4, '0')}.txt`, at, bytes))

t.test('two thousand text files of 64 MiB are 36 POSTs', async (t) => {
  const plan = planPublication(publication({ files: many(2000, 33_554) }))
  t.equal(plan.posts.length, 36)
  t.ok(plan.counts.expectedBytes > 63.9 * 1024 * 1024, `${plan.counts.expectedBytes} bytes`)
  const growth = plan.posts.filter(({ kind }) => kind === 'growth')
  t.strictSame(growth.map(({ files }) => files), [400, 400, 400, 400, 400])
  t.equal(growth.at(-1)?.id, plan.tree.id)
  for (const { kind, bytes, files } of plan.posts) {
    t.ok(bytes <= postLimits.treeBodyBytesMax)
    t.ok(kind !== 'chunk' || files <= postLimits.inlineFilesMax)
  }
  t.equal(plan.counts.changedPages, 20)
  t.equal(plan.counts.closingGets, 4 + 28 + 5 + 20)
})

t.test('chunks and growth are cut exactly at their limits', async (t) => {
  const kinds = (count: number, bytes: number): number[] =>
    planPublication(publication({ files: many(count, bytes) })).posts
      .filter(({ kind }) => kind === 'chunk').map(({ files }) => files)
  t.strictSame(kinds(200, 10), [200])
  t.strictSame(kinds(201, 10), [200, 1])
  const growth = (count: number): number[] =>
    planPublication(publication({ files: many(count, 10) })).posts
      .filter(({ kind }) => kind === 'growth').map(({ files }) => files)
  t.strictSame(growth(400), [400])
  t.strictSame(growth(401), [400, 1])
  // Two files that fill a body to its last byte, but for the comma that an only entry lacks.
  const frame = (path: string): number => Buffer.byteLength(JSON.stringify(
    { path, mode: '100644', type: 'blob', content: '' }))
  const room = postLimits.treeBodyBytesMax - '{"tree":[,]}'.length - frame('a') - frame('b') - 1
  const pair = (bytes: number): readonly number[] => planPublication(publication({
    files: [counted('a', 1, room - 1_500_000), counted('b', 2, 1_500_000 + bytes)],
  })).posts.filter(({ kind }) => kind === 'chunk').map(({ bytes: size }) => size)
  t.strictSame(pair(0), [postLimits.treeBodyBytesMax - 1])
  t.equal(pair(1).length, 2)
})

t.test('a text that fits into no tree, an empty file and a NUL are blobs', async (t) => {
  const quotes = '"'.repeat(1_300_000)
  const plan = planPublication(publication({ files: [
    scanned('quotes', quotes), scanned('empty', ''), scanned('nul', 'a\0b'),
    scanned('latin1', Buffer.from([0xe9])), scanned('text', 'é'),
  ] }))
  t.strictSame(plan.posts.map(({ kind }) => kind), [
    'blob', 'blob', 'blob', 'blob', 'chunk', 'growth', 'commit', 'ref', 'pull_request',
  ])
})

t.test('what could not be closed is refused before any tree is built', async (t) => {
  const refused = (files: ReturnType<typeof many>, reason: string, more = {}): void => {
    t.throws(() => planPublication(publication({ files, ...more })), {
      code: 'plan_not_closable', kind: 'rejected', reason,
    }, reason)
  }
  const early = { historyEntryBytes: () => { throw new Error('its POSTs were planned') } }
  refused(many(2001, 1), 'expected_files', early)
  refused([counted('a', 1, 2 * 1024 * 1024 + 1)], 'file_bytes', early)
  refused(many(2000, 33_555), 'expected_bytes', early)
  const blobs = (count: number): ReturnType<typeof many> =>
    many(count, 10).map((file) => ({ ...file, text: false }))
  const host = { base: 'https://api.github.com', loopback: false, earlierPosts: 0 }
  refused(blobs(475), 'posts_an_hour', { host: { ...host, earlierPosts: 1 } })
  const whole = planPublication(publication({ files: blobs(475), host }))
  t.equal(whole.counts.posts, 480)
  t.equal(whole.seconds, 480)
  t.equal(planPublication(publication({ files: blobs(475) })).seconds, 0)
  refused(many(2, 1), 'history_entry_bytes', { historyEntryBytes: () => 1001 })
})

t.test('a large base counts with what is read back', async (t) => {
  const base = { branch: 'main', commit: '1'.repeat(40), tree: treeOf(Array.from(
    { length: 89_999 }, (_, at) => counted(`f${at}`, at + 10_000, 1))) }
  const blobs = many(2000, 33_554).map((file) => ({ ...file, text: false }))
  const small = planPublication(publication({ files: blobs }))
  t.ok(small.counts.closingRawBytes > 64 * 1024 * 1024 * (4 / 3))
  t.equal(small.counts.closingGets, 4 + 2000 + 5 + 20)
  const one = [counted('new', 1, 1)]
  const full = planPublication(publication({ files: one, base }))
  t.equal(full.counts.treeEntries, 90_000)
  const two = many(2, 1).map((file, at) => ({ ...file, path: `x${at}` }))
  t.throws(() => planPublication(publication({ files: two, base })), {
    code: 'plan_not_closable', reason: 'tree_entries',
  })
  t.throws(() => planPublication(publication({
    files: blobs.map((file, at) => ({ ...file, path: `f${at}` })), base,
  })), {
    code: 'plan_not_closable', reason: 'closing_raw_bytes',
  })
})

t.test('texts and names are refused before anything is planned', async (t) => {
  type Input = Parameters<typeof publication>[0]
  const refused = (change: Input, code: string, reason: string): void => {
    t.throws(() => planPublication(publication(change)), { code, kind: 'rejected', reason }, reason)
  }
  refused({ branch: 'a..b' }, 'branch_name_invalid', 'dots')
  refused({ base: { ...publication().base, branch: '' } }, 'branch_name_invalid', 'empty')
  t.throws(() => planPublication(publication({ branch: 'main' })), { code: 'branch_is_base' })
  refused({ title: '' }, 'host_text_invalid', 'title_empty')
  for (const title of [' a', 'a ', 'a\nb', 'a\0', '\ud800', 'a\u2028b']) {
    refused({ title }, 'host_text_invalid', 'title_form')
  }
  refused({ title: 'a'.repeat(257) }, 'host_text_invalid', 'title_too_long')
  for (const body of ['a\r\n', 'a\0', '\udfff']) refused({ body }, 'host_text_invalid', 'body_form')
  refused({ body: 'a'.repeat(65_537) }, 'host_text_invalid', 'body_too_long')
  const { commit } = publication()
  refused({ commit: { ...commit, message: 'm' } }, 'commit_text_invalid', 'message_final_newline')
  refused({ files: [scanned('.git/config', '')] }, 'path_not_publishable', 'git_name')
  const most = { title: 'a'.repeat(256), body: 'b'.repeat(65_536) }
  t.doesNotThrow(() => planPublication(publication(most)))
  t.doesNotThrow(() => planPublication(publication({ body: '' })))
  t.throws(() => requireHostText({ body: ' ' }), {
    code: 'host_text_invalid', reason: 'body_empty',
  })
  requireHostText({ body: 'a comment' })
})
