/** Faults of the code host: which leave an effect behind, and which do not. */
import { hostOf, settled } from '../../support/sandbox/host-client.js'
import type { Host, HostReply } from '../../support/sandbox/host-client.js'
import { timeOf } from '../../support/speed.js'
import { t } from '../../support/tests-in-slices.js'
import { until } from '../../support/until.js'

const blobOf = 'b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0'

const stored = async (host: Host): Promise<boolean> => {
  const { git } = await host.seed()
  return (await git.typesOf([blobOf])).has(blobOf)
}

const create = (host: Host): ReturnType<Host['create']> =>
  host.create(`${host.top}/git/blobs`, { content: 'hello' })

t.test('a lost or broken reply leaves the effect behind', async (t) => {
  for (const [fault, status] of [
    ['write_close_before_headers', null], ['write_reset_before_headers', null],
    ['write_truncate', 201], ['write_status_502', 502], ['write_timed_out', 422],
    ['write_other_id', 201], ['write_other_text', 201], ['write_malformed', 201],
  ] as const) {
    const host = await hostOf(t)
    host.sandbox.faults.set(fault, { times: 1 })
    t.equal((await create(host)).status, status, fault)
    t.ok(await stored(host), fault)
    t.strictSame(host.sandbox.log.all()[0]?.faults, [fault])
    t.equal((await create(host)).json.sha, blobOf, 'the next one is honest')
    await settled(t, host)
  }
})

t.test('a refusal that comes before the effect leaves nothing behind', async (t) => {
  for (const [fault, status] of [
    ['write_limit_spent', 403], ['write_too_fast', 403], ['write_too_many', 429],
    ['write_not_done_500', 500], ['write_not_done_422', 422],
  ] as const) {
    const host = await hostOf(t)
    host.sandbox.faults.set(fault, { times: 1 })
    const reply = await create(host)
    t.equal(reply.status, status, fault)
    t.notOk(await stored(host), fault)
    if (fault === 'write_too_many') t.equal(reply.headers['retry-after'], '60')
    if (fault === 'write_limit_spent') t.equal(reply.headers['x-ratelimit-remaining'], '0')
    await settled(t, host)
  }
})

t.test('the n-th creation alone can be struck, and reads are left alone', async (t) => {
  const host = await hostOf(t)
  host.sandbox.faults.set('write_close_before_headers', { after: 2, times: 1 })
  const statuses: unknown[] = []
  for (const make of [true, true, false, true, true]) {
    statuses.push((await (make ? create(host) : host.get(host.top))).status)
  }
  t.strictSame(statuses, [201, 201, 200, null, 201])
  host.sandbox.faults.set('read_not_there', { times: 1 })
  t.equal((await host.get(host.top)).status, 404)
  t.equal((await host.get(host.top)).status, 200)
  t.strictSame(host.sandbox.faults.list(), [])
  await settled(t, host)
})

t.test('a read can be cut, moved or told otherwise', async (t) => {
  const host = await hostOf(t)
  const kept = await host.seed()
  const tip = String(await kept.git.ref('refs/heads/main'))
  await kept.git.setRef('refs/heads/topic', tip, null)
  await host.sandbox.codehost.commit(kept, 'topic', { a: 'a\n', b: 'b\n' }, 'AB\n')
  await host.create(`${host.top}/pulls`, { title: 'T', head: 'topic', base: 'main', body: 'B' })
  const tree = (await kept.git.commit(tip))?.tree ?? ''
  const rows = await kept.git.rows(tree, false)
  const blob = rows.find(({ type }) => type === 'blob') ?? { id: '' }
  type Json = HostReply['json']
  const cases: readonly [string, string, object | ((json: Json) => unknown)][] = [
    ['tree_truncated', `git/trees/${tree}?recursive=0`, { truncated: true }],
    ['tree_cut', `git/trees/${tree}?recursive=1`, { truncated: false }],
    ['tree_other_row', `git/trees/${tree}`, (json) => json.tree.at(-1).sha.startsWith('deadbeef')],
    ['blob_other_bytes', `git/blobs/${blob.id}`, { content: 'b3RoZXIK\n' }],
    ['commit_other_message', `git/commits/${tip}`, { message: 'Another message' }],
    ['ref_moved', 'git/ref/heads/main', (json) => json.object.sha !== tip],
    ['repository_renumbered', '', { id: kept.facts.id + 1 }],
    ['repository_archived', '', { archived: true }],
    ['pull_closed', 'pulls/1', { state: 'closed' }], ['pull_draft', 'pulls/1', { draft: true }],
    ['pull_retitled', 'pulls/1', { title: 'Another title' }],
    ['pull_counts', 'pulls/1', { changed_files: 2_001 }],
    ['pull_moved', 'pulls/1', (json) => json.head.sha !== tip],
    ['issue_other_body', 'issues/1', { body: 'Another text' }],
    ['issue_elsewhere', 'issues/1', (json) => json.repository_url.endsWith('/other/place')],
    ['files_cut', 'pulls/1/files', (json) => json.length === 1],
    ['files_twice', 'pulls/1/files', (json) => json.length === 3],
  ]
  for (const [fault, path, wanted] of cases) {
    const url = path === '' ? host.top : `${host.top}/${path}`
    const honest = await host.get(url)
    host.sandbox.faults.set(fault, { times: 1 })
    const struck = await host.get(url)
    t.strictNotSame(struck.json, honest.json, fault)
    if (typeof wanted === 'function') t.equal(wanted(struck.json), true, fault)
    else t.hasStrict(struck.json, wanted, fault)
  }
  host.sandbox.faults.set('files_more', { times: 1 })
  t.match((await host.get(`${host.top}/pulls/1/files`)).headers.link, /rel="next"/)
  await settled(t, host)
})

t.test('a slow drip and a huge body come as they are asked for', async (t) => {
  const host = await hostOf(t)
  host.sandbox.faults.set('read_drip', { times: 1 })
  t.equal((await host.get(host.top, { giveUpMs: timeOf(3) })).error, 'gave_up')
  host.sandbox.faults.set('read_oversize', { times: 1, value: 40_000_000 })
  t.equal((await host.get(host.top)).body.length, 40_000_000)
  host.sandbox.faults.set('read_redirect_301', { times: 1 })
  t.equal((await host.get(host.top)).status, 301)
})

t.test('large bodies are let go after the reply, unless they are asked for', async (t) => {
  for (const keepBodies of [false, true]) {
    const host = await hostOf(t, { keepBodies })
    const bytes = Buffer.from(JSON.stringify({ content: 'x'.repeat(100_000) }))
    t.equal((await host.create(`${host.top}/git/blobs`, null, { bytes })).status, 201)
    // A client has the reply before the host knows that it went out.
    await until('the host is done with it', () => host.sandbox.log.inProgress() === 0)
    const [seen] = host.sandbox.log.all()
    t.equal(seen?.body.length, keepBodies ? bytes.length : 0)
    t.equal(seen?.bodyBytes, bytes.length)
    t.match(seen?.bodySha256, /^[0-9a-f]{64}$/)
    await settled(t, host)
  }
})
