/** Preparing a publication: what is sealed, what the host is asked, what is refused before. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPublication } from '../../../../src/codehost/jobs/publication/open.js'
import { canonicalJson, sha256Hex } from '../../../../src/base/canonical.js'
import { newId } from '../../../../src/base/ids.js'
import { publicationLabel, sourceLabel } from '../../../../src/codehost/constants.js'
import { effectHistory } from '../../../../src/codehost/jobs/histories.js'
import type { Job } from '../../../../src/codehost/jobs/job-rows.js'
import { collections } from '../../../../src/governance/rows.js'
import { historyHead } from '../../../../src/state/history/read-history.js'
import type { Loose } from '../../../world/place.js'
import { must } from '../../../support/must.js'
import { working } from '../../../support/codehost/working.js'
import { t } from '../../../support/tests-in-slices.js'

const files = {
  'README.md': '# Notes, of another kind\n', 'src/new.ts': 'export const one = "MARK-new"\n',
  'src/binary': Buffer.from([0, 1, 2, 255]), 'docs/plan.md': '# Plan\n\n- one\n- two\n',
}

t.test('C-049 a publication is prepared by reads alone, sealed whole, and opened as what was registered', async (t) => {
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
  open.verify()
  const git = (...words: string[]): string => execFileSync('git', words, {
    encoding: 'utf8', cwd: at.place.cwd,
  }).trim()
  t.strictSame(git('hash-object', '--no-filters', 'source/src/new.ts', 'source/src/binary')
    .split('\n'), [open.changes[2]?.id, open.changes[1]?.id])
  open.close()
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
})

t.test('a plan that is altered in any part is refused before it is shown, approved or given to anybody', async (t) => {
  const at = await working(t)
  must(await at.consentToPublish())
  const { id } = must(await at.publish(at.folder(files))).json()
  const job = at.job(id)
  const rows = at.view().all(collections.artifacts).map(({ doc }) => doc)
  const plan = rows.find(({ label }) => label === publicationLabel)
  const contents = rows.find(({ label }) => label === sourceLabel)
  if (plan === undefined || contents === undefined) throw new Error('not sealed')
  const altered = { code: 'plan_altered' }
  // The very same bytes under an id that the ledger did not register.
  const twin = newId('art')
  await at.transact((tx) => tx.put(collections.artifacts, twin, { ...plan, artifact_id: twin }))
  const opened = () => openPublication(at.gov, at.view(), at.job(id))
  for (const change of [
    { plan: { ...job.plan, sha256: '0'.repeat(64) } }, { authority_sha256: '0'.repeat(64) },
    { plan: { ...job.plan, effects: 5 } }, { repository: 'operator/other' },
    { plan: { ...job.plan, artifact_id: contents.artifact_id } },
    { plan: { ...job.plan, artifact_id: twin } },
  ]) t.throws(() => openPublication(at.gov, at.view(), { ...job, ...change }), altered)
  for (const row of [plan, contents]) {
    const path = join(at.place.stateDir, 'artifacts', row.ref.stored_sha256.slice(0, 2),
      row.ref.stored_sha256)
    const bytes = readFileSync(path)
    chmodSync(path, 0o600)
    for (const place of [60, bytes.length - 40]) {
      const other = Buffer.from(bytes)
      other[place] = (other[place] ?? 0) ^ 1
      writeFileSync(path, other)
      t.throws(() => {
        const open = opened()
        try {
          open.verify()
        } finally {
          open.close()
        }
      }, altered, `${row.label} ${place}`)
      const approve = ['approve', id, '--preview-digest', job.preview_sha256]
      for (const line of [['preview', id], approve]) {
        t.equal((await at.run(['codehost', ...line, '--json'])).error().code, 'plan_altered')
      }
    }
    writeFileSync(path, bytes)
  }
  await at.transact((tx) => tx.put(collections.artifacts, contents.artifact_id, {
    ...contents, ref: plan.ref,
  }))
  t.throws(opened, altered, 'other contents than the plan names')
  const own = at.gov.store.artifacts.openPack(sourceLabel, contents.ref)
  const again = at.gov.store.artifacts.writePack(sourceLabel)
  for (const { name } of own.bodies) again.add(name, own.read(name))
  own.close()
  const ref = again.finish()
  await at.transact((tx) => tx.put(collections.artifacts, contents.artifact_id, {
    ...contents, ref,
  }))
  t.throws(opened, altered, 'the same contents in another pack')
  t.notOk(existsSync(join(at.place.stateDir, 'stages', id)))
})

t.test('every rule of a plan is compared with what was registered: another base, post, tree, commit or input is no plan', async (t) => {
  const at = await working(t)
  must(await at.consentToPublish())
  const { id } = must(await at.publish(at.folder(files))).json()
  const job = at.job(id)
  const row = at.view().get(collections.artifacts, job.plan.artifact_id)
  if (row === undefined) throw new Error('not sealed')
  const pack = at.gov.store.artifacts.openPack(publicationLabel, row.ref)
  const [document, base] = ['plan', 'base'].map((name) =>
    JSON.parse(pack.read(name).toString('utf8')))
  pack.close()
  /** Seals another document as well as this program could, and registers it everywhere. */
  const withPlan = async (
    change: (of: Loose, listing: Loose[]) => void, effects = job.plan.effects,
  ): Promise<Job> => {
    const [of, listing] = [structuredClone(document), structuredClone(base)]
    const jobId = newId('job')
    of.job_id = jobId
    change(of, listing)
    const writer = at.gov.store.artifacts.writePack(publicationLabel)
    writer.add('plan', Buffer.from(canonicalJson(of)))
    writer.add('base', Buffer.from(canonicalJson(listing)))
    const ref = writer.finish()
    const artifactId = newId('art')
    await at.transact((tx) => {
      tx.put(collections.artifacts, artifactId, { ...row, artifact_id: artifactId, ref })
      tx.append(effectHistory, jobId, historyHead(tx, effectHistory, jobId), [{
        type: 'plan', at: job.created_at, artifact_id: artifactId, sha256: ref.sha256,
        effects, authority_sha256: job.authority_sha256,
      }])
    })
    const plan = { ...job.plan, artifact_id: artifactId, sha256: ref.sha256 }
    return { ...job, job_id: jobId, plan }
  }
  const zeros = '0'.repeat(40)
  const changes: readonly ((of: Loose, listing: Loose[]) => void)[] = [
    (of) => { of.job_id = id },
    (of) => { of.posts[0].path = '/repos/operator/notes/merges' },
    (of) => { of.posts[0].action = 'git.ref.update' },
    (of) => { of.posts[1].id = zeros },
    (of) => { of.posts[2].bytes += 1 },
    (of) => { of.posts.pop() },
    (of) => { of.tree = zeros },
    (of) => { of.commit = zeros },
    (of) => { of.producer.manifest_sha256 = '0'.repeat(64) },
    (of) => { of.base.tree = zeros },
    (of) => { of.message = 'Other\n' },
    (of) => { of.branch = 'main..x' },
    (of) => { of.changes[0][2] = zeros },
    (_of, listing) => { listing[0][2] = zeros },
  ]
  const own = await withPlan(() => undefined)
  openPublication(at.gov, at.view(), own).close()
  for (const [n, change] of changes.entries()) {
    const other = await withPlan(change)
    t.throws(() => openPublication(at.gov, at.view(), other), { code: 'plan_altered' }, `${n}`)
  }
  const more = await withPlan(() => undefined, job.plan.effects + 1)
  t.throws(() => openPublication(at.gov, at.view(), more), { code: 'plan_altered' },
    'its ledger registered another number of effects')
  const swapped = await withPlan((of) => {
    of.job_id = id
    of.title = 'Two'
  })
  const ref = at.view().get(collections.artifacts, swapped.plan.artifact_id)?.ref ?? row.ref
  await at.transact((tx) => tx.put(collections.artifacts, row.artifact_id, { ...row, ref }))
  t.throws(() => openPublication(at.gov, at.view(), job), { code: 'plan_altered' },
    'a sealed plan of another digest under the same id')
})
