/** Preparing a publication: what is sealed, what the host is asked, what is refused before. */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { openPublication } from '../../../../src/codehost/jobs/publication/open.js'
import { sha256Hex } from '../../../../src/base/canonical.js'
import { must } from '../../../support/must.js'
import { working } from '../../../support/codehost/working.js'

const files = {
  'README.md': '# Notes, of another kind\n', 'src/new.ts': 'export const one = "MARK-new"\n',
  'src/binary': Buffer.from([0, 1, 2, 255]), 'docs/plan.md': '# Plan\n\n- one\n- two\n',
}

t.test('C-049 C-106 a publication is prepared by reads alone, sealed whole, and opened as what was registered', async (t) => {
  const at = await working(t)
  must(await at.consentToPublish())
  const before = at.requests().length
  const made = must(await at.publish(at.folder(files))).json()
  t.hasStrict(made, {
    state: 'prepared', kind: 'engineering.repo-publication.v1', task: null, reserved: false,
    capability: 'engineering.repo-publication.v1',
    actions: ['git.object.create', 'git.ref.create', 'pull_request.create'],
  })
  const asked = at.requests().slice(before)
  t.strictSame([...new Set(asked.map(({ method }) => method))], ['GET'])
  t.strictSame(asked.flatMap(({ violations }) => violations), [])
  t.equal(at.connection().active_job_id, null)
  const job = at.job(made.id)
  const open = openPublication(at.gov, at.view(), job)
  t.strictSame(open.changes.map(({ path }) => path), ['README.md', 'src/binary', 'src/new.ts'])
  t.equal(open.posts.length, job.plan.effects)
  t.strictSame(open.posts.map(({ kind }) => kind),
    ['blob', 'chunk', 'growth', 'commit', 'ref', 'pull_request'])
  for (const post of open.posts) {
    const body = await open.bodyOf(post)
    t.strictSame([body.length, sha256Hex(body)], [post.bytes, post.body_sha256], post.kind)
  }
  t.equal(new Set(open.posts.flatMap((one) => [one.effect_id, one.idempotency])).size, 12)
  await open.verify()
  const git = (...words: string[]): string => execFileSync('git', words, {
    encoding: 'utf8', cwd: at.place.cwd,
  }).trim()
  t.strictSame(git('hash-object', '--no-filters', 'source/src/new.ts', 'source/src/binary')
    .split('\n'), [open.changes[2]?.id, open.changes[1]?.id])
  open.close()
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
})
