/** What the sandbox's code host refuses, as the public description and the host's own words say. */
import { hostOf, settled } from '../../support/sandbox/host-client.js'
import { t } from '../../support/tests-in-slices.js'

const id = '1'.repeat(40)

t.test('who may not see a private repository is told that there is none', async (t) => {
  const host = await hostOf(t, {
    codehostTokens: { writer: 'the-writer', reader: 'the-reader', stranger: 'a-stranger' },
  })
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
  t.equal((await host.get(host.top, as('nobody'))).status, 401)
  t.equal((await host.get(host.top, as('a-stranger'))).status, 404)
  t.equal((await host.get('/repos/operator/nothing', as('the-writer'))).status, 404)
  const { json, headers } = await host.get(host.top, as('the-writer'))
  t.hasStrict(json, { full_name: 'operator/notes', private: true, permissions: { push: true } })
  t.match(headers['x-oauth-scopes'], /repo/)
  t.match(headers['x-ratelimit-remaining'], /^49\d\d$/)
  t.hasStrict((await host.get(host.top, as('the-reader'))).json, { permissions: { push: false } })
  const refused = await host.create(`${host.top}/issues`, { title: 'x' }, as('the-reader'))
  t.equal(refused.status, 403)
  await host.sandbox.codehost.create({ owner: 'operator', name: 'open', private: false })
  t.equal((await host.get('/repos/operator/open', as('a-stranger'))).status, 200)
  t.strictSame(host.sandbox.log.violations(), [])
})

t.test('a fine-grained token is told no scopes', async (t) => {
  const host = await hostOf(t)
  const fine = await host.get(host.top, { headers: { authorization: 'Bearer github_pat_x' } })
  t.notOk('x-oauth-scopes' in fine.headers)
  await settled(t, host)
})

t.test('a renamed repository answers 301 under its old name, an archived one takes nothing', async (t) => {
  const host = await hostOf(t)
  const kept = await host.seed()
  kept.facts = { ...kept.facts, name: 'renamed' }
  kept.formerly.push('operator/notes')
  const moved = await host.get(host.top)
  t.equal(moved.status, 301)
  const { base_url: base } = host.sandbox.profile.codehost
  t.equal(moved.headers.location, `${base}/repositories/${kept.facts.id}`)
  t.equal((await host.create(`${host.top}/git/blobs`, { content: 'x' })).status, 301)
  t.equal((await host.get('/repos/OPERATOR/Renamed')).json.id, kept.facts.id)
  kept.facts = { ...kept.facts, archived: true }
  t.equal((await host.create('/repos/operator/renamed/git/blobs', { content: 'x' })).status, 403)
  kept.facts = { ...kept.facts, archived: false, hasIssues: false }
  t.equal((await host.create('/repos/operator/renamed/issues', { title: 'x' })).status, 410)
  await settled(t, host, kept)
})

t.test('an empty repository has no objects to speak of', async (t) => {
  const host = await hostOf(t)
  await host.sandbox.codehost.open()
  await host.sandbox.codehost.create({ owner: 'operator', name: 'empty', files: null })
  const top = '/repos/operator/empty'
  for (const path of ['/git/ref/heads/main', `/git/trees/${id}`, `/git/commits/${id}`]) {
    t.hasStrict(await host.get(top + path), { status: 409 })
  }
  t.equal((await host.create(`${top}/git/blobs`, { content: 'x' })).status, 409)
  t.equal((await host.create(`${top}/git/trees`, { tree: [] })).status, 409)
  t.equal((await host.get(top)).status, 200)
  t.strictSame(host.told.violations, [])
})

t.test('objects that contradict what is there are refused', async (t) => {
  const host = await hostOf(t)
  const refused = async (path: string, body: object, message: RegExp): Promise<void> => {
    const reply = await host.create(`${host.top}${path}`, body)
    t.equal(reply.status, 422, `${path} ${JSON.stringify(body)}`)
    t.match(JSON.stringify(reply.json), message)
  }
  const { json: { object: { sha: tip } } } = await host.get(`${host.top}/git/ref/heads/main`)
  const { json: { tree: { sha: tree } } } = await host.get(`${host.top}/git/commits/${tip}`)
  const entry = { path: 'a', mode: '100644', type: 'blob' }
  await refused('/git/blobs', {}, /content/)
  await refused('/git/blobs', { content: 'x', encoding: 'utf-16' }, /encoding/)
  await refused('/git/blobs', { content: '*', encoding: 'base64' }, /Base64/)
  for (const [change, message] of [
    [{ path: '.git/config', content: '' }, /malformed path/],
    [{ path: 'a//b', content: '' }, /malformed path/], [{ path: '../a', content: '' }, /malformed/],
    [{ mode: '100664', content: '' }, /tree\.mode/], [{ type: 'tree', content: '' }, /tree\.type/],
    [{}, /either/], [{ sha: null }, /either/], [{ sha: id, content: '' }, /either/],
    [{ sha: id }, /valid object/], [{ sha: tree }, /valid object/], [{ sha: 'x' }, /SHA/],
  ] as const) await refused('/git/trees', { tree: [{ ...entry, ...change }] }, message)
  await refused('/git/trees', { tree: [] }, /Invalid tree/)
  await refused('/git/trees', {
    base_tree: id, tree: [{ ...entry, content: 'a' }],
  }, /base_tree/)
  await refused('/git/commits', { message: 'm', tree: id, parents: [] }, /Tree SHA/)
  await refused('/git/commits', { message: 'm', tree, parents: [id] }, /Parent SHA/)
  await refused('/git/refs', { ref: 'refs/heads/main', sha: tip }, /already exists/)
  await refused('/git/refs', { ref: 'main', sha: tip }, /not valid/)
  await refused('/git/refs', { ref: 'refs/heads/a..b', sha: tip }, /not valid/)
  await refused('/git/refs', { ref: 'refs/heads/new', sha: id }, /does not exist/)
  await refused('/git/refs', { ref: 'refs/heads/new', sha: tree }, /does not exist/)
  t.equal((await host.get(`${host.top}/git/ref/heads/new`)).status, 404)
  t.equal((await host.get(`${host.top}/git/ref/heads/mai`)).status, 404)
  for (const kind of ['blobs', 'trees', 'commits']) {
    t.equal((await host.get(`${host.top}/git/${kind}/${id}`)).status, 404)
  }
  await settled(t, host)
})

t.test('a pull request needs both branches, a commit of its own, and is made once', async (t) => {
  const host = await hostOf(t)
  const kept = await host.seed()
  const tip = await kept.git.ref('refs/heads/main')
  await kept.git.setRef('refs/heads/same', String(tip), null)
  await kept.git.setRef('refs/heads/topic/x', String(tip), null)
  await host.sandbox.codehost.commit(kept, 'topic/x', { 'new.txt': 'new\n' }, 'New\n')
  const open = (change: object): ReturnType<typeof host.create> =>
    host.create(`${host.top}/pulls`, {
      title: 'T', head: 'topic/x', base: 'main', body: 'B', ...change,
    })
  const refused = async (change: object, message: RegExp): Promise<void> => {
    const reply = await open(change)
    t.equal(reply.status, 422)
    t.match(JSON.stringify(reply.json), message)
  }
  await refused({ head: 'nothing' }, /"field":"head","code":"invalid"/)
  await refused({ base: 'nothing' }, /"field":"base","code":"invalid"/)
  await refused({ head: 'same' }, /No commits between main and same/)
  await refused({ title: '' }, /"field":"title"/)
  await refused({ title: 'a'.repeat(257) }, /too_long/)
  await refused({ body: 'a'.repeat(65_537) }, /too_long/)
  t.equal((await open({ head: 'operator:topic/x' })).status, 201)
  await refused({}, /A pull request already exists for operator:topic\/x/)
  t.equal((await host.get(`${host.top}/pulls/2`)).status, 404)
  t.equal((await host.get(`${host.top}/pulls/1`)).json.changed_files, 1)
  await settled(t, host)
})

t.test('issues and comments are numbered with pull requests and read back', async (t) => {
  const host = await hostOf(t)
  const issue = await host.create(`${host.top}/issues`, { title: 'One', body: 'Text\n' })
  t.hasStrict(issue, { status: 201, json: { number: 1, body: 'Text\n', state: 'open' } })
  t.notOk('pull_request' in issue.json)
  const comment = await host.create(`${host.top}/issues/1/comments`, { body: 'Hello' })
  t.equal(comment.status, 201)
  const read = await host.get(`${host.top}/issues/comments/${comment.json.id}`)
  t.hasStrict(read.json, { body: 'Hello', issue_url: issue.json.url })
  t.equal((await host.get(`${host.top}/issues/1`)).json.comments, 1)
  t.equal((await host.create(`${host.top}/issues/9/comments`, { body: 'x' })).status, 404)
  t.equal((await host.create(`${host.top}/issues/1/comments`, { body: ' ' })).status, 422)
  t.equal((await host.create(`${host.top}/issues`, { body: 'x' })).status, 422)
  t.equal((await host.get(`${host.top}/issues/9`)).status, 404)
  t.equal((await host.get(`${host.top}/issues/comments/9`)).status, 404)
  t.strictSame(Object.fromEntries(host.told.unlisted), {})
  await settled(t, host)
})

t.test('renames are one entry, and pages link to each other', async (t) => {
  const host = await hostOf(t)
  const kept = await host.seed()
  const tip = await kept.git.ref('refs/heads/main')
  await kept.git.setRef('refs/heads/many', String(tip), null)
  const files = Object.fromEntries(Array.from({ length: 205 }, (_, at) => [`f${at}`, `${at}\n`]))
  await host.sandbox.codehost.commit(kept, 'many', files, 'Many\n')
  const { json: { number } } = await host.create(`${host.top}/pulls`, {
    title: 'Many', head: 'many', base: 'main',
  })
  const links: unknown[] = []
  for (const page of [1, 2, 3]) {
    const reply = await host.get(`${host.top}/pulls/${number}/files?per_page=100&page=${page}`)
    const found = String(reply.headers.link).matchAll(/page=(\d)>; rel="(\w+)"/g)
    links.push([reply.json.length, [...found].map(([, to, rel]) => `${rel} ${to}`)])
  }
  t.strictSame(links, [
    [100, ['next 2', 'last 3']], [100, ['prev 1', 'first 1', 'next 3', 'last 3']],
    [5, ['prev 2', 'first 1']],
  ])
  t.hasStrict((await host.get(`${host.top}/pulls/${number}/files`)).json.length, 30)
  await settled(t, host)
})

t.test('what no promise of Sallyport allows is a violation', async (t) => {
  const host = await hostOf(t)
  await host.get(`${host.top}/git/refs/heads/main`)
  await host.get(`${host.top}`, { method: 'DELETE' })
  await host.get(host.top, { headers: { 'if-none-match': '"x"', 'accept': '*/*' } })
  await host.get(host.top, { headers: { 'x-github-api-version': [] } })
  await host.create(`${host.top}/issues`, null, { bytes: Buffer.from('{') })
  const found = host.sandbox.log.violations().join('\n')
  for (const wanted of [
    /no such method and path[^]*no such method and path/, /if-none-match/, /accept/, /version/,
    /not JSON/,
  ]) t.match(found, wanted)
})
