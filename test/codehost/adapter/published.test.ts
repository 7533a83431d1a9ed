/** Judges of what a host says of a publication, on recorded traffic and on what is altered. */
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import t from 'tap'
import {
  judgePublished, publishedReadback, type JudgedPost, type Published,
} from '../../../src/codehost/adapter/published.js'
import type { PostVerdict } from '../../../src/codehost/adapter/post-reply.js'
import { commitId, type CommitDraft } from '../../../src/codehost/git/commit.js'
import { objectId } from '../../../src/codehost/git/object-id.js'
import type { GitTree } from '../../../src/codehost/git/tree.js'
import type { HttpsReply } from '../../../src/net/types.js'
import { anyTimeBy, oneSecond } from '../../support/codehost/provenance.js'
import { scanned, treeOf } from '../../support/codehost/publication.js'
import type { Loose } from '../../world/place.js'
import { forAll } from '../../support/for-all.js'

const samples = JSON.parse(readFileSync('test/support/codehost/host-samples.json', 'utf8')) as
  Record<'ref' | 'pull', Loose[]>

const reply = (
  status: number, value: unknown, headers: readonly (readonly [string, string])[] = [],
): HttpsReply => ({
  status, headers: new Map(headers.map(([name, one]) => [name, [one]])),
  body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
})

const person = { name: 'Ann', email: 'ann@example', date: '2024-02-29T23:59:59Z' }
const tree = treeOf([scanned('a', 'one'), scanned('d/b', 'two'), scanned('d/e/c', 'three')])
const draft: CommitDraft = {
  tree: tree.id, parents: ['1'.repeat(40)], author: person, committer: person, message: 'One\n',
}
const commit = commitId(draft)
const of: Published = {
  repository: { owner: 'a', name: 'notes' }, repositoryId: 7, base: { branch: 'main' },
  branch: 'topic/x', title: 'T', body: 'B', draft, commit, pull: oneSecond.provenance,
}
const blob = objectId('blob', Buffer.from('hello'))

const posts: Readonly<Record<'blob' | 'growth' | 'commit' | 'ref' | 'pull_request', JudgedPost>> = {
  blob: { kind: 'blob', id: blob }, growth: { kind: 'growth', id: tree.id },
  commit: { kind: 'commit', id: commit }, ref: { kind: 'ref', id: commit },
  pull_request: { kind: 'pull_request', id: null },
}

const side = (ref: string, sha: string) => ({ ref, sha, repo: { id: 7, full_name: 'a/notes' } })
const pull = {
  id: 90, number: 4, state: 'open', draft: false, merged: false, title: 'T', body: 'B',
  head: side('topic/x', commit), base: side('main', '1'.repeat(40)), changed_files: 3,
  created_at: oneSecond.within, user: oneSecond.user,
}
const ref = { ref: 'refs/heads/topic/x', object: { type: 'commit', sha: commit } }
const rowsOf = (one: GitTree) => [...one.listing()].map(({ path, mode, id }) =>
  ({ path, mode, type: mode === '040000' ? 'tree' : 'blob', sha: id }))
const made: Readonly<Record<keyof typeof posts, object>> = {
  blob: { sha: blob, url: 'u' }, growth: { sha: tree.id, url: 'u', tree: [], truncated: false },
  commit: { sha: commit, url: 'u' }, ref, pull_request: pull,
}
const read: Readonly<Record<keyof typeof posts, object>> = {
  blob: { sha: blob, size: 5, encoding: 'base64', content: 'aGVs\nbG8=\n' },
  growth: { sha: tree.id, truncated: false, tree: rowsOf(tree) },
  commit: {
    sha: commit, message: 'One', tree: { sha: tree.id }, parents: [{ sha: '1'.repeat(40) }],
    author: person, committer: person,
  },
  ref, pull_request: pull,
}
const kinds = Object.keys(posts) as (keyof typeof posts)[]
const tomorrow = { a_member_of_tomorrow: { a: [1.5] } }
const other = 'deadbeef'.repeat(5)

const judged = (kind: keyof typeof posts, one: HttpsReply): PostVerdict =>
  judgePublished(of, posts[kind])(one)
const back = (kind: keyof typeof posts, one: HttpsReply) =>
  publishedReadback(of, posts[kind], kind === 'pull_request' ? 4 : null).judge(one)

t.test('a 201 with the predicted id is made, whatever else stands in it; a pull request has the number of its reply', async (t) => {
  for (const kind of kinds) {
    t.hasStrict(judged(kind, reply(201, { ...made[kind], ...tomorrow })), {
      kind: 'created', remoteId: kind === 'pull_request' ? 4 : null, status: 201,
    }, kind)
  }
})

t.test('a 201 about something else, or that is not whole, is unknown and no success', async (t) => {
  const differs: readonly (readonly [keyof typeof posts, object])[] = [
    ['blob', { sha: other }], ['growth', { sha: other }], ['commit', { sha: other }],
    ['ref', { ...ref, ref: 'refs/heads/topic/x2' }], ['ref', { ...ref, ref: 'refs/tags/topic/x' }],
    ['ref', { ...ref, object: { type: 'commit', sha: other } }],
    ['ref', { ...ref, object: { type: 'tag', sha: commit } }],
    ['pull_request', { ...pull, head: side('topic/y', commit) }],
    ['pull_request', { ...pull, head: side('topic/x', other) }],
    ['pull_request', { ...pull, base: side('master', other) }],
    ['pull_request', {
      ...pull, head: { ...side('topic/x', commit), repo: { id: 8, full_name: 'b/notes' } },
    }],
    ['pull_request', { ...pull, base: { ...side('main', other), repo: null } }],
  ]
  for (const [kind, value] of differs) {
    t.hasStrict(judged(kind, reply(201, value)), { kind: 'unknown', reason: 'reply_differs' }, kind)
  }
  for (const kind of kinds) {
    for (const body of ['', '{}', 'null', JSON.stringify(made[kind]).slice(0, -1), '[]']) {
      t.hasStrict(judged(kind, reply(201, body)), { kind: 'unknown', reason: 'reply_malformed' })
    }
    t.hasStrict(judged(kind, reply(201, made[kind], [['content-encoding', 'gzip']])),
      { kind: 'unknown' })
    for (const status of [200, 202, 204, 301, 307, 500, 502, 504]) {
      t.hasStrict(judged(kind, reply(status, made[kind])),
        { kind: 'unknown', reason: `status_${status}` }, `${kind} ${status}`)
    }
  }
})

t.test('C-021 a pull request of another time is only like the one that was sent: by a 201 and by a readback', async (t) => {
  const first = { ...pull, created_at: oneSecond.within.replace('Z', '.000Z') }
  t.equal(judged('pull_request', reply(201, first)).kind, 'created')
  t.equal(back('pull_request', reply(200, first)).kind, 'matches')
  for (const [created_at, what] of [
    [oneSecond.before, 'other_time'], [oneSecond.behind, 'other_time'],
    [undefined, 'time_missing'], [null, 'time_missing'], ['yesterday', 'time_missing'],
    ['2026-02-30', 'time_missing'],
  ] as const) {
    t.hasStrict(judged('pull_request', reply(201, { ...pull, created_at })),
      { kind: 'unknown', reason: `reply_${what}` }, String(created_at))
    t.hasStrict(back('pull_request', reply(200, { ...pull, created_at })),
      { kind: 'no_evidence', reason: `readback_${what}` }, String(created_at))
  }
  for (const kind of kinds.filter((one) => one !== 'pull_request')) {
    const untimed: Published = { ...of, pull: { ...of.pull, window: null } }
    t.equal(publishedReadback(untimed, posts[kind], null).judge(reply(200, read[kind])).kind,
      'matches', `${kind}: the id is the evidence`)
  }
})

t.test('C-021 one of another author is only like it; of an account that others share a mark alone tells', async (t) => {
  const own = of
  const post = posts.pull_request
  const app = { id: 1 }
  for (const [user, told, what] of [
    [{ id: 5 }, {}, null], [{ id: 5 }, { performed_via_github_app: null }, null],
    [{ id: 5 }, { performed_via_github_app: app }, 'other_author'],
    [{ id: 6 }, {}, 'other_author'], [null, {}, 'author_missing'],
    [undefined, {}, 'author_missing'],
  ] as const) {
    const one = { ...pull, user, ...told }
    const verdict = judgePublished(own, post)(reply(201, one))
    const read = publishedReadback(own, post, 4).judge(reply(200, one))
    if (what === null) {
      t.strictSame([verdict.kind, read.kind], ['created', 'matches'])
    } else {
      t.hasStrict(verdict, { kind: 'unknown', reason: `reply_${what}` })
      t.hasStrict(read, { kind: 'no_evidence', reason: `readback_${what}` })
    }
    const shared: Published = { ...of, pull: { ...of.pull, author: null } }
    t.hasStrict(judgePublished(shared, post)(reply(201, one)),
      { kind: 'unknown', reason: 'reply_author_unknown' })
    t.hasStrict(publishedReadback(shared, post, 4).judge(reply(200, one)),
      { kind: 'no_evidence', reason: 'readback_author_unknown' })
    const marked: Published = {
      ...of, pull: { window: null, author: null, marked: true },
    }
    t.equal(judgePublished(marked, post)(reply(201, one)).kind, 'created', 'its text tells it')
    t.equal(publishedReadback(marked, post, 4).judge(reply(200, one)).kind, 'matches')
    t.hasStrict(judgePublished(marked, post)(reply(201, { ...one, body: 'b' })),
      { kind: 'unknown', reason: 'reply_differs' })
  }
  const app5: Published = { ...of, pull: { ...of.pull, author: { id: 5, via_app: true } } }
  const through = { ...pull, user: { id: 5 }, performed_via_github_app: app }
  t.equal(judgePublished(app5, post)(reply(201, through)).kind, 'created')
  const direct = { ...through, performed_via_github_app: null }
  t.hasStrict(judgePublished(app5, post)(reply(201, direct)),
    { kind: 'unknown', reason: 'reply_other_author' })
})

t.test('C-210 at every kind of effect a complete 4xx is refused, but for 404, 408 and what says no more than a conflict; one whose end nobody was told is unknown', async (t) => {
  const whole = [['content-length', '38']] as const
  for (const kind of kinds) {
    for (const status of [400, 401, 403, 409, 422, 429]) {
      const body = { message: 'Validation Failed' }
      t.equal(judged(kind, reply(status, body, whole)).kind, 'refused')
      t.equal(judged(kind, reply(status, body)).kind, 'unknown')
    }
    for (const [status, message] of [
      [404, 'Not Found'], [408, 'Validation Failed'], [409, 'Conflict'],
      [422, 'Reference already exists'], [422, 'Sorry, your request timed out.'],
      [422, 'Timeout while reading'], [422, 'it has TIMED-OUT'],
    ] as const) {
      t.hasStrict(judged(kind, reply(status, { message }, whole)),
        { kind: 'unknown', reason: `status_${status}` }, message)
    }
  }
})

t.test('C-104 a pull request that differs in its text alone keeps its number; of another head, branch, time or maker it has none', async (t) => {
  for (const text of [{ title: 'Another' }, { body: 'Another' }, { body: null }]) {
    t.hasStrict(judged('pull_request', reply(201, { ...pull, ...text })),
      { kind: 'unknown', reason: 'reply_differs', remoteId: 4 })
    for (const more of [
      { head: side('topic/x', other) }, { head: side('topic/y', commit) },
      { base: side('master', other) }, { created_at: oneSecond.before }, { user: { id: 6 } },
      { created_at: null }, { user: null },
    ]) {
      t.hasStrict(judged('pull_request', reply(201, { ...pull, ...text, ...more })),
        { kind: 'unknown', reason: 'reply_differs', remoteId: null }, JSON.stringify(more))
    }
  }
})

t.test('C-104 what is read back matches in every point that was sent, and in nothing less', async (t) => {
  for (const kind of kinds) {
    t.equal(back(kind, reply(200, { ...read[kind], ...tomorrow })).kind, 'matches', kind)
    t.hasStrict(back(kind, reply(404, {})), { kind: 'no_evidence', reason: 'remote_not_found' })
    t.hasStrict(back(kind, reply(500, {})), { kind: 'no_evidence', reason: 'codehost_reply' })
    t.hasStrict(back(kind, reply(301, {})), { kind: 'no_evidence', reason: 'repository_moved' })
    t.hasStrict(back(kind, reply(200, '{}')), { kind: 'no_evidence', reason: 'codehost_reply' })
  }
  const gone = (at: number) => rowsOf(tree).filter((_, number) => number !== at)
  const differs: readonly (readonly [keyof typeof posts, object])[] = [
    ['blob', { ...read.blob, content: 'aGVsbG8h\n', size: 6 }],
    ['blob', { ...read.blob, sha: other }],
    ['growth', { ...read.growth, sha: other }],
    ...rowsOf(tree).map((_, at) => ['growth', { ...read.growth, tree: gone(at) }] as const),
    ['growth', { ...read.growth, tree: rowsOf(tree).map((row) => ({ ...row, sha: other })) }],
    ['growth', {
      ...read.growth,
      tree: rowsOf(tree).map((row) => (row.path === 'a' ? { ...row, mode: '100755' } : row)),
    }],
    ['commit', { ...read.commit, sha: other }],
    ['commit', { ...read.commit, tree: { sha: other } }],
    ['commit', { ...read.commit, parents: [] }],
    ['commit', { ...read.commit, parents: [{ sha: '1'.repeat(40) }, { sha: other }] }],
    ['commit', { ...read.commit, message: 'Other' }],
    ['commit', { ...read.commit, message: 'One\n\n' }],
    ['commit', { ...read.commit, author: { ...person, name: 'Bob' } }],
    ['commit', { ...read.commit, committer: { ...person, date: '2024-02-29T23:59:58Z' } }],
    ['ref', { ...ref, ref: 'refs/heads/topic' }],
    ['ref', { ...ref, object: { type: 'commit', sha: other } }],
    ...Object.entries({
      number: 5, state: 'closed', draft: true, merged: true, title: 'U', body: 'C',
      head: side('topic/x', other), base: side('other', other),
    }).map(([name, value]) => ['pull_request', { ...pull, [name]: value }] as const),
  ]
  for (const [kind, value] of differs) {
    t.hasStrict(back(kind, reply(200, value)),
      { kind: 'no_evidence', reason: 'readback_differs' }, `${kind} ${JSON.stringify(value)}`)
  }
  t.hasStrict(back('growth', reply(200, { ...read.growth, truncated: true })),
    { kind: 'no_evidence', reason: 'readback_truncated' })
  t.equal(back('commit', reply(200, { ...read.commit, message: 'One\n' })).kind, 'matches',
    'a host that keeps the last line end')
  for (const [fraction, kind] of [['.000', 'matches'], ['.001', 'no_evidence']] as const) {
    const date = person.date.replace('Z', `${fraction}Z`)
    t.equal(back('commit', reply(200, { ...read.commit, author: { ...person, date } })).kind, kind)
  }
  t.throws(() => publishedReadback(of, posts.pull_request, null),
    new TypeError('a pull request is read by its number alone'))
})

t.test('recorded pull requests and references are taken by what they are, and by nothing else', async (t) => {
  for (const one of samples.pull) {
    const own: Published = {
      ...of, repositoryId: one.base.repo.id, base: { branch: one.base.ref },
      branch: one.head.ref, title: one.title, body: one.body ?? '', commit: one.head.sha,
      pull: anyTimeBy(one),
    }
    const post: JudgedPost = { kind: 'pull_request', id: null }
    const sameRepository = one.head.repo?.id === one.base.repo.id
    const verdict = judgePublished(own, post)(reply(201, one))
    t.equal(verdict.kind, sameRepository ? 'created' : 'unknown', String(one.number))
    const open = one.state === 'open' && one.merged === false && one.draft === false
    t.equal(publishedReadback(own, post, one.number).judge(reply(200, one)).kind,
      open && sameRepository ? 'matches' : 'no_evidence', String(one.number))
    t.equal(judgePublished(of, post)(reply(201, one)).kind, 'unknown')
  }
  for (const one of samples.ref) {
    const own: Published = {
      ...of, branch: one.ref.slice('refs/heads/'.length), commit: one.object.sha,
    }
    t.equal(judgePublished(own, posts.ref)(reply(201, one)).kind, 'created', one.ref)
    t.equal(publishedReadback(own, posts.ref, null).judge(reply(200, one)).kind, 'matches')
    t.equal(publishedReadback(of, posts.ref, null).judge(reply(200, one)).kind, 'no_evidence')
  }
})

t.test('whatever a host answers is judged, and nothing is thrown', async (t) => {
  const bodies = fc.oneof(
    fc.json(), fc.string(), fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom(...[...Object.values(made), ...Object.values(read)].map((one) =>
      JSON.stringify(one))))
  forAll(t, fc.property(
    fc.constantFrom(...kinds), fc.integer({ min: 100, max: 599 }), bodies,
    (kind, status, body) => {
      const verdict = judged(kind, reply(status, body))
      if (status !== 201 && verdict.kind === 'created') return false
      return status === 200 || back(kind, reply(status, body)).kind === 'no_evidence'
    },
  ), { numRuns: 500 })
})
