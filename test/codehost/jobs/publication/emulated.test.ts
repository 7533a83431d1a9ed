/** The whole flow against a code host that nobody here wrote. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import t from 'tap'
import { must } from '../../../support/must.js'
import {
  emulatedRepository, emulatedToken, startEmulated,
} from '../../../support/codehost/emulated.js'
import { World } from '../../../world/world.js'

t.test('C-002 C-015 C-024 from connect to the opened pull request, an issue and its comment, at a host of others: every exchange of ours is as its public description says', async (t) => {
  const world = World.in(t)
  const host = await startEmulated(t, world.place.dir)
  const { place, run, json } =
    await world.state({ owner: 'ada', profileFile: host.profileFile }).session()
  const { id } = must(await run(['codehost', 'connect', '--repo', emulatedRepository,
    '--token-file', place.write('token', `${emulatedToken}\n`), '--json'])).json()
  must(await run(['codehost', 'consent', id, '--acknowledge', '--expected-revision', '1',
    '--action', 'issue.create', 'comment.create', 'git.object.create', 'git.ref.create',
    'pull_request.create']))
  const through = async (words: readonly string[]) => {
    const { id: job } = await json(['codehost', 'prepare', ...words, '--connection', id])
    const { digest } = await json(['codehost', 'preview', job])
    must(await run(['codehost', 'approve', job, '--preview-digest', digest]))
    must(await run(['codehost', 'run', job]))
    const row = await json(['codehost', 'job', job])
    t.equal(row.state, 'succeeded')
    return row
  }
  mkdirSync(place.path('source/deep/er'), { recursive: true })
  const files = {
    'source/README.md': '# Other notes\n', 'source/deep/er/ü "q".txt': 'quotes " and \\\n',
    'source/deep/er.txt': 'sorts around a slash\n', 'source/binary': Buffer.from([0, 1, 255]),
    'source/empty': '',
  }
  for (const [path, bytes] of Object.entries(files)) place.write(path, bytes)
  const published = await through(['publication', '--source', place.path('source'), '--base',
    'main', '--branch', 'topic/one', '--title', 'One', '--author', 'Ann <ann@example.org>',
    '--body-file', place.write('body.md', 'Why.\n')])
  const branch = await host.get('/git/ref/heads/topic%2Fone')
  const tree = await host.get(`/git/trees/${
    (await host.get(`/git/commits/${branch.object.sha}`)).tree.sha}?recursive=1`)
  const ids = new Map((tree.tree as { path: string, sha: string }[]).map((row) =>
    [row.path, row.sha]))
  for (const path of Object.keys(files)) {
    const own = execFileSync('git', ['hash-object', '--no-filters', place.path(path)], {
      encoding: 'utf8',
    }).trim()
    t.equal(ids.get(path.slice('source/'.length)), own, path)
  }
  t.hasStrict(await host.get(`/pulls/${published.remote_id}`), {
    state: 'open', draft: false, title: 'One', body: 'Why.\n',
    head: { ref: 'topic/one', sha: branch.object.sha }, base: { ref: 'main' },
  })
  const issue = await through(['issue', '--title', 'Seen', '--body-file', place.path('body.md')])
  await through(['comment', '--issue', String(issue.remote_id), '--body-file',
    place.path('body.md')])
  const posts = host.exchanges.filter(({ method }) => method === 'POST')
  t.equal(posts.length, published.effects.planned + 2)
  t.strictSame([...new Set(posts.map(({ status }) => status))], [201])
  t.strictSame(host.told.violations.filter((text) => / request: /.test(text)), [])
  t.ok(host.told.validated >= 25, `${host.told.validated} exchanges`)
  t.comment(`${host.exchanges.length} exchanges, ${host.told.validated} of listed statuses; `
    + `${host.told.violations.length} of the emulator's replies are not as described: `
    + [...new Set(host.told.violations)].join('; '))
})
