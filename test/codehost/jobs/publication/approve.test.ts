/** A publication is looked at, approved with everything that its producer is, and given up. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalJson, sha256Hex } from '../../../../src/base/canonical.js'
import { bindingProblem } from '../../../../src/codehost/producer/launch.js'
import {
  nextProducerJob, openBinding, producerRunOf,
} from '../../../../src/codehost/jobs/publication/bind.js'
import { openPublication } from '../../../../src/codehost/jobs/publication/open.js'
import { codehostBase } from '../../../../src/codehost/context.js'
import { previewDigest, sealedApproval } from '../../../../src/codehost/jobs/digests.js'
import { ledgerOf } from '../../../../src/codehost/jobs/ledger.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../../src/governance/connections/connection-rows.js'
import { failure, must } from '../../../support/must.js'
import { working, type Working } from '../../../support/codehost/working.js'
import { t } from '../../../support/tests-in-slices.js'

const files = {
  'README.md': '# Notes\n\nA repository to publish to.\n', '.env': 'KEY=1\n', 'key.pem': 'none\n',
  'src/new.ts': 'export const one = 1\n', 'a/token.txt': `ghp_${'A1b2C3d4'.repeat(5)}\n`,
  'src/binary': Buffer.from([0, 1, 2, 255]), 'docs/plan.md': '# Plan\n\n- one\n- two\n',
}

/** A prepared publication; gives its id. */
const prepared = async (at: Working): Promise<string> => {
  must(await at.consentToPublish())
  return must(await at.publish(at.folder(files))).json().id
}

const stages = (at: Working): string[] => {
  const dir = join(at.place.stateDir, 'stages')
  return existsSync(dir) ? readdirSync(dir) : []
}

t.test('a preview shows every file and effect in order with the ids that git gives, what it takes, and the digest, within 80 columns', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  const shown = await at.json(['codehost', 'preview', job])
  t.strictSame(shown.effects.map((one: { kind: string }) => one.kind),
    ['blob', 'chunk', 'growth', 'commit', 'ref', 'pull_request'])
  const { publication } = shown
  t.hasStrict(publication.files, { in_folder: 7, new: 5, changed: 1 })
  t.strictSame(publication.changes.map((one: { what: string, path: string }) =>
    `${one.what} ${one.path}`), ['new .env', 'new a/token.txt', 'new key.pem', 'new src/binary',
    'new src/new.ts', 'changed README.md'])
  t.strictSame(publication.changes.flatMap((one: { marks: string[] }) => one.marks),
    ['env_file', 'key_shape', 'pem_file'])
  t.equal(shown.effects[3].predicted_id, publication.commit)
  t.equal(shown.effects[4].predicted_id, publication.commit)
  t.equal(shown.effects[5].predicted_id, null)
  t.equal(shown.digest, at.job(job).preview_sha256)
  const before = at.requests().length
  const ran = must(await at.run(['codehost', 'preview', job]))
  t.equal(at.requests().length, before, 'looking asks nobody')
  for (const line of ran.stdout.split('\n')) t.ok(line.length <= 80, line)
  for (const word of [
    '+ 5 files', '~ 1 file', 'LOOK: holds what looks like a key', publication.commit.slice(0, 7),
    'new branch may start', 'consent left', 'session left', shown.digest,
  ]) t.match(ran.stdout, word)
})

t.test('C-079 an approval binds helper, programs, arguments, environment, inputs, stage, token, attempt and fence, under one digest', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  t.strictSame(stages(at), [], 'preparing makes no stage')
  const { digest, publication } = await at.json(['codehost', 'preview', job])
  must(await at.approve(job))
  t.strictSame(stages(at), [job])
  const row = at.job(job)
  const binding = openBinding(at.gov, at.view(), row)
  t.hasStrict(binding.job, {
    job_id: job, root_id: row.root, attempt: 1, fence: 1, authority: row.authority_sha256,
  })
  t.strictSame(binding.environment, publication.producer.environment)
  t.strictSame(binding.arguments.git, publication.producer.arguments)
  for (const name of ['node', 'git', 'addon'] as const) {
    t.strictSame(binding[name], publication.producer[name], name)
  }
  t.equal(binding.helper.sha256, publication.producer.helper.sha256)
  t.equal(binding.inputs.manifest_sha256, publication.producer.manifest_sha256)
  t.hasStrict(row.approval, {
    kind: 'exact', preview_sha256: digest, standing_id: null,
    producer: {
      producer_id: binding.producer_id, binding_sha256: sha256Hex(canonicalJson(binding)),
    },
  })
  const open = openPublication(at.gov, at.view(), row)
  const run = producerRunOf(at.gov, at.view(), row, open, nextProducerJob(at.view(), row))
  t.equal(bindingProblem(at.place.stateDir, run), null)
  const job2 = (change: object) => ({ ...run, job: { ...run.job, ...change } })
  for (const change of [{ attempt: 2 }, { fence: 2 }, { root_id: 'r' }, { authority: 'a' }]) {
    t.equal(bindingProblem(at.place.stateDir, job2(change)), 'job', canonicalJson(change))
  }
  t.equal(bindingProblem(at.place.stateDir, { ...run, token: '0'.repeat(64) }), 'token')
  open.close()
  t.equal((await at.run(['state', 'check'])).status, 0)
  must(await at.approve(job))
  t.strictSame(at.job(job), row, 'approving again changes nothing while all of it holds')
})

t.test('an approval that would not hold any more is taken back and made anew; one of another digest makes no stage', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  const wrong = await at.run(['codehost', 'approve', job, '--preview-digest', 'f'.repeat(64),
    '--json'])
  t.equal(failure(wrong).code, 'preview_changed')
  t.strictSame(stages(at), [])
  must(await at.approve(job))
  const first = at.job(job).approval
  await at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...at.connection(), active_fence: 7,
  }))
  must(await at.approve(job))
  const second = at.job(job)
  t.not(second.approval?.producer?.producer_id, first?.producer?.producer_id)
  t.equal(openBinding(at.gov, at.view(), second).job.fence, 8)
  writeFileSync(join(at.place.stateDir, 'stages', job, 'helper.cjs'), 'altered')
  must(await at.approve(job))
  t.not(at.job(job).approval?.producer?.producer_id, second.approval?.producer?.producer_id)
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('another program of the producer than the one that was previewed is refused, and nothing of it stays', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  const helper = at.place.write('other.js', 'export {}\n')
  chmodSync(helper, 0o755)
  const { digest } = await at.json(['codehost', 'preview', job])
  const ran = await at.run(['codehost', 'approve', job, '--preview-digest', digest, '--json'], {
    producer: { helper },
  })
  t.hasStrict(ran.error(), { code: 'producer_changed', reason: 'helper' })
  t.strictSame(stages(at), [])
  t.hasStrict(at.job(job), { state: 'prepared', approval: null })
})

t.test('giving up an approved publication removes its stage', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  must(await at.approve(job))
  must(await at.run(['codehost', 'cancel', job]))
  t.strictSame(stages(at), [])
  t.equal(at.job(job).state, 'cancelled')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('a patch of what changes applies to the base with git and gives the folder', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  const before = at.requests().length
  const { publication: { diff } } = await at.json(['codehost', 'preview', job, '--diff'])
  t.hasStrict(diff, { gets: 1, left_out: 0 })
  t.strictSame(at.requests().slice(before).map(({ method, route }) => `${method} ${route}`),
    ['GET blob'])
  const kept = at.sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('no repository')
  const git = (words: readonly string[], input = ''): string =>
    execFileSync('git', words, { encoding: 'utf8', cwd: at.place.cwd, input })
  git(['clone', '-q', kept.git.gitDir, 'clone'])
  const text = diff.patch.split(/(?=^diff --git )/m)
    .filter((part: string) => !part.includes('Binary files')).join('')
  git(['-C', 'clone', 'apply', '--index', '-'], text)
  t.equal(git(['-C', 'clone', 'show', ':README.md']), files['README.md'])
  t.equal(git(['-C', 'clone', 'show', ':src/new.ts']), files['src/new.ts'])
  t.match(diff.patch, 'Binary files /dev/null and b/src/binary differ')
  const follow = await at.run(['codehost', 'preview', job, '--diff'])
  t.match(follow.stdout, '-A repository to try publications on.')
})

t.test('C-008 a publication runs under one approval of its local work and of every effect that it names: one of a part of them begins nothing', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  must(await at.approve(job))
  const sound = at.job(job)
  const { approval } = sound
  if (approval === null) throw new Error('it was approved')
  const named = (effects: number, plan = sound.plan.sha256): string =>
    previewDigest({ ...sound, plan: { ...sound.plan, effects, sha256: plan } },
      codehostBase(at.gov))
  t.equal(named(sound.plan.effects), approval.preview_sha256)
  const { sha256, ...of } = approval
  t.type(sha256, 'string')
  for (const [what, part] of [
    ['local work alone', { preview_sha256: named(0) }],
    ['remote effects alone', { producer: null }],
    ['one effect unnamed', { preview_sha256: named(sound.plan.effects - 1) }],
    ['one effect that is another',
      { preview_sha256: named(sound.plan.effects, '0'.repeat(64)) }],
    ['the local work of another job', { producer: {
      producer_id: 'prd_01a2b3c4-0000-7000-8000-000000000000',
      artifact_id: sound.plan.artifact_id, binding_sha256: '0'.repeat(64),
    } }],
  ] as const) {
    await at.transact((tx) => tx.put(jobCollection, job, {
      ...sound, approval: sealedApproval(job, { ...of, ...part }),
    }))
    const before = at.dials()
    const ran = await at.runJob(job)
    t.not(ran.status, 0, what)
    t.equal(at.dials(), before, `${what}: nobody is asked`)
    t.hasStrict(at.job(job), { state: 'approved', attempt: 0, contacted: 0, reserved: false }, what)
    t.equal(ledgerOf(at.view(), job).producer, null, `${what}: no local work is begun`)
    t.notOk(existsSync(join(at.place.stateDir, 'stages', job, 'start.json')), what)
  }
  await at.transact((tx) => tx.put(jobCollection, job, sound))
  must(await at.runJob(job))
})
