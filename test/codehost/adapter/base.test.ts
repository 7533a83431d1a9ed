/** What a publication is laid over, read from the host and computed anew. */
import { execFileSync } from 'node:child_process'
import { createHttpsClient } from '../../../src/net/client.js'
import type { HttpsClient } from '../../../src/net/types.js'
import { readBase, type BaseWish } from '../../../src/codehost/adapter/base.js'
import { readBlobs } from '../../../src/codehost/adapter/base-blobs.js'
import { codehostBase, type CodehostContext } from '../../../src/codehost/context.js'
import { objectId } from '../../../src/codehost/git/object-id.js'
import { stillClock } from '../../support/clock.js'
import { remote } from '../../support/codehost/elsewhere.js'
import { must } from '../../support/must.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

const contextOf = (at: Working): CodehostContext => {
  const client = createHttpsClient({
    clock: at.clock, env: {}, execArgv: [], ca: [at.sandbox.caPem], loopbackOnly: true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  return {
    gov: at.gov, signal: new AbortController().signal, baseUrl: codehostBase(at.gov),
    client: async () => client,
  }
}

const read = (at: Working, more: Partial<BaseWish> = {}) => readBase(contextOf(at), at.session(), {
  connectionId: at.id, base: 'main', branch: 'topic/one', ...more,
})

t.test('the base is the commit and the tree that git has there, by reads of exact paths alone', async (t) => {
  const at = await working(t)
  const { repository, commit, tree } = await read(at)
  const kept = at.sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('no repository')
  const git = (...words: string[]): string =>
    execFileSync('git', [`--git-dir=${kept.git.gitDir}`, ...words], { encoding: 'utf8' }).trim()
  t.equal(commit, git('rev-parse', 'refs/heads/main'))
  t.equal(tree.id, git('rev-parse', 'refs/heads/main^{tree}'))
  t.equal(repository.fullName, 'operator/notes')
  const [one, ...more] = at.requests().map(({ method, path }) => `${method} ${path}`)
  t.equal(one, 'GET /repos/operator/notes')
  t.strictSame(more, [
    'GET /repos/operator/notes/git/ref/heads/topic%2Fone',
    'GET /repos/operator/notes/git/ref/heads/main',
    `GET /repos/operator/notes/git/commits/${commit}`,
    `GET /repos/operator/notes/git/trees/${tree.id}?recursive=1`,
  ])
  t.equal(at.dials(), 1, 'over one connection')
  t.strictSame(at.requests().flatMap(({ violations }) => violations), [])
})

t.test('a base that is cut, altered, moved or not there is refused by its name', async (t) => {
  const at = await working(t)
  for (const [fault, code] of [
    ['tree_truncated', 'base_tree_truncated'], ['tree_cut', 'tree_inconsistent'],
    ['tree_other_row', 'tree_inconsistent'], ['read_redirect_301', 'repository_moved'],
    ['read_malformed', 'codehost_reply'], ['read_status_401', 'codehost_token_refused'],
  ] as const) {
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    await t.rejects(read(at), { code }, fault)
    at.sandbox.faults.clear()
  }
  await t.rejects(read(at, { base: 'none' }), { code: 'base_branch_missing' })
  await t.rejects(read(at, { branch: 'main' }), { code: 'branch_exists' })
  const before = at.requests().length
  for (const name of ['a..b', 'x.lock', '@{u}', '-x', '']) {
    await t.rejects(read(at, { branch: name }), { code: 'branch_name_invalid' }, name)
    await t.rejects(read(at, { base: name }), { code: 'branch_name_invalid' }, `base ${name}`)
  }
  t.equal(at.requests().length, before, 'a name that is none asks nobody')
})

t.test('a base is read in the session of its connection alone, and whatever it requires is asked at each boundary', async (t) => {
  const at = await working(t)
  const session = at.session()
  await t.rejects(read(at, {
    requires: () => { throw new Error('not any more') },
  }), { message: 'not any more' })
  const before = at.requests().length
  must(await at.run(['logout']))
  await t.rejects(readBase(contextOf(at), session, {
    connectionId: at.id, base: 'main', branch: 'x',
  }), { code: 'session_ended' })
  t.equal(at.requests().length, before)
})

t.test('all contents of a large base are read, and a host of others is asked for 800 within any 60 seconds at most', async (t) => {
  const at = await working(t)
  const clock = stillClock(at.clock.wallMs())
  const bytes = Buffer.from('a line of a licence\n')
  const id = objectId('blob', bytes)
  const body = Buffer.from(JSON.stringify({
    sha: id, size: bytes.length, encoding: 'base64', content: bytes.toString('base64'),
  }))
  const asked: number[] = []
  const client: HttpsClient = {
    request: async ({ authority, markContact }) => {
      await authority('before_resolve')
      await authority('before_dial')
      await markContact()
      await authority('before_first_byte')
      asked.push(clock.monotonicMs())
      return { status: 200, headers: new Map(), body }
    },
  }
  const read = async (of: CodehostContext, count: number): Promise<number> => {
    let taken = 0
    const ctx = { ...of, gov: { ...of.gov, clock }, client: async () => client }
    await readBlobs(ctx, at.session(), {
      connectionId: at.id, noun: 'prepare', ids: Array.from({ length: count }, () => id),
      requires: () => undefined, take: () => { taken += 1 },
    })
    return taken
  }
  t.equal(await read(remote(at), 1_601), 1_601)
  asked.slice(800).forEach((ms, earlier) => {
    if (ms - (asked[earlier] ?? 0) < 60_000) throw new Error(`${earlier} and its 800th after it`)
  })
  t.equal(clock.monotonicMs(), 120_000, 'and no longer than that is waited')
  t.equal(await read(contextOf(at), 801), 801)
  t.equal(clock.monotonicMs(), 120_000, 'this machine is asked at once')
})
