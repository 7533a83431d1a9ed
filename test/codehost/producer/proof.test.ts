/** What a stage proves, judged from values: one true proof, and everything that is none. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { canonicalJson, sha256Hex } from '../../../src/base/canonical.js'
import { loadEvidence } from '../../../src/codehost/producer/evidence.js'
import { markerName } from '../../../src/codehost/producer/producer-limits.js'
import { holdGuard } from '../../../src/state/holds/guard.js'
import { macOf } from '../../../src/codehost/producer/mac.js'
import { manifestOf } from '../../../src/codehost/producer/manifest.js'
import { judgeProducer } from '../../../src/codehost/producer/proof.js'
import type { ProducerEvidence } from '../../../src/codehost/producer/proof.js'
import type { StartRecord, TerminalMarker } from '../../../src/codehost/producer/shapes.js'
import { createStage, removeFifo, removeStage } from '../../../src/codehost/producer/stage.js'
import { madeFor, shipped } from '../../support/codehost/producing.js'
import { emptyTree, overlaid } from '../../../src/codehost/git/tree.js'
import { scanned } from '../../support/codehost/publication.js'
import { until } from '../../support/until.js'
import { t } from '../../support/tests-in-slices.js'

/** A record as whoever has the token would write it. */
const sealed = (token: string, record: object): Buffer =>
  Buffer.from(canonicalJson({ ...record, mac: macOf(token, record) }))

const markerOf = (bytes: Buffer): ProducerEvidence['markers'][number] =>
  ({ name: markerName(sha256Hex(bytes)), bytes })

const read = <T>(bytes: Buffer | null | undefined): T =>
  JSON.parse(bytes?.toString('utf8') ?? '') as T

t.test('C-205 C-207 C-267 a marker that nothing was begun is one of this stage and this token, with no start beside it and nothing made', async (t) => {
  const { binding, run: { token }, stage, stateDir, job, verdict } = await madeFor(t)
  const { status } = spawnSync(process.execPath, [...binding.arguments.node], {
    cwd: stage, env: {}, input: token, stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  t.equal(status, 0)
  t.hasStrict(verdict(), { quiescent: true, complete: false, reason: 'not_begun', start: null })
  const evidence = loadEvidence(stateDir, job.job_id)
  const marker = read<TerminalMarker>(evidence.markers[0]?.bytes)
  const judged = (change: object, more: Partial<ProducerEvidence> = {}, by = token): string => {
    const markers = [markerOf(sealed(by, { ...marker, ...change }))]
    const found = judgeProducer(binding, token, { ...evidence, markers, ...more })
    return found.quiescent ? 'quiescent' : found.reason
  }
  t.equal(judged({}), 'quiescent')
  t.equal(judged({}, {}, 'other'), 'marker_invalid')
  const exit = { code: 0, signal: null }
  for (const change of [
    { end: 'complete' }, { reason: 'stopped' }, { reason: null }, { producer_id: 'prd_x' },
    { job_id: 'job_x' }, { binding_sha256: '0'.repeat(64) }, { start_sha256: '0'.repeat(64) },
    { made: { blobs: 1, trees: 0, commits: 0 } }, { made: { blobs: 0, trees: 1, commits: 0 } },
    { made: { blobs: 0, trees: 0, commits: 1 } },
    { exits: { blobs: exit, trees: exit, commit: exit } },
    { quiescence: { ...marker.quiescence, reaped: 1 } },
  ]) t.equal(judged(change), 'start_missing', JSON.stringify(change))
  t.equal(judged({}, { start: Buffer.from('{}') }), 'start_invalid')
  t.equal(judged({}, { inventorySha256: '0'.repeat(64) }), 'stage_changed')
  const [own] = evidence.markers
  if (own === undefined) throw new Error('it wrote one')
  t.equal(judged({}, { markers: [own, own] }), 'marker_ambiguous')
})

t.test('C-205 C-207 C-208 C-211 C-267 only a marker of this start, this stage and this token, in its time, is a proof', async (t) => {
  const { binding, run: { token }, start, stateDir, job, verdict } = await madeFor(t)
  const first = await start()
  t.hasStrict(first, { quiescent: true, complete: true })
  t.strictSame(verdict(), first)
  const evidence = loadEvidence(stateDir, job.job_id)
  const begun = read<StartRecord>(evidence.start)
  const marker = read<TerminalMarker>(evidence.markers[0]?.bytes)
  const judged = (change: Partial<ProducerEvidence>): string => {
    const found = judgeProducer(binding, token, { ...evidence, ...change })
    return found.quiescent ? `quiescent ${found.complete}` : found.reason
  }
  const marked = (change: object, by = token): string =>
    judged({ markers: [markerOf(sealed(by, { ...marker, ...change }))] })
  const started = (change: object, by = token): string => {
    const bytes = sealed(by, { ...begun, ...change })
    const other = sealed(token, { ...marker, start_sha256: sha256Hex(bytes) })
    return judged({ start: bytes, markers: [markerOf(other)] })
  }
  t.equal(marked({}), 'quiescent true')
  t.equal(started({}), 'quiescent true')

  t.equal(judged({ inode: null }), 'stage_missing')
  t.equal(judged({ inode: '1' }), 'stage_missing')
  t.equal(judged({ binding: null }), 'binding_changed')
  t.equal(judged({ binding: Buffer.from(canonicalJson({ ...binding, producer_id: 'x' })) }), 'binding_changed')
  t.equal(judged({ start: null }), 'start_missing')
  t.equal(judged({ start: Buffer.from('{}') }), 'start_invalid')
  t.equal(judged({ markers: [] }), 'marker_missing')
  const own = markerOf(evidence.markers[0]?.bytes ?? Buffer.alloc(0))
  t.equal(judged({ markers: [own, own] }), 'marker_ambiguous')
  t.equal(judged({ markers: [{ ...own, name: markerName('0'.repeat(64)) }] }), 'marker_invalid')
  t.equal(judged({ markers: [{ ...own, bytes: null }] }), 'marker_invalid')
  t.equal(judged({ inventorySha256: null }), 'stage_changed')
  t.equal(judged({ inventorySha256: '0'.repeat(64) }), 'stage_changed')

  t.equal(started({}, 'other'), 'start_invalid')
  for (const change of [
    { producer_id: 'prd_x' }, { job_id: 'job_x' }, { binding_sha256: '0'.repeat(64) },
    { token_sha256: '0'.repeat(64) }, { digests: { ...begun.digests, git: '0'.repeat(64) } },
    { digests: { ...begun.digests, helper: '0'.repeat(64) } }, { isolation_claim: 'vm' },
    { recovery_contract: 'V2' }, { more: 1 }, { schema: 'x' },
    { deadline_ns: String(BigInt(begun.started_ns) + 30_000_000_001n) },
    { deadline_ns: String(BigInt(begun.started_ns) - 1n) },
  ]) t.equal(started(change), 'start_invalid', JSON.stringify(change))
  t.equal(started({ boot_id: 'other' }), 'marker_invalid')
  for (const change of [
    { start_sha256: null }, { exits: null }, { end: 'prefix', reason: 'not_begun' },
  ]) t.equal(marked(change), 'marker_invalid', JSON.stringify(change))

  t.equal(marked({}, 'other'), 'marker_invalid')
  for (const change of [
    { producer_id: 'prd_x' }, { job_id: 'job_x' }, { binding_sha256: '0'.repeat(64) },
    { start_sha256: '0'.repeat(64) }, { boot_id: 'other' }, { isolation_claim: 'vm' },
    { recovery_contract: 'V2' }, { more: 1 }, { reason: 'wall' }, { end: 'prefix' },
    { made: { ...marker.made, blobs: marker.made.blobs - 1 } },
    { made: { ...marker.made, trees: marker.made.trees + 1 } },
    { made: { ...marker.made, commits: 0 } },
    { quiescence: { ...marker.quiescence, waitpid: 'EINTR' } },
    { quiescence: { ...marker.quiescence, pipes_at_eof: false } },
    { quiescence: { ...marker.quiescence, exits_seen: 1 } },
    { ended_ns: String(BigInt(begun.started_ns) - 1n) }, { ended_ns: '-1' },
  ]) t.equal(marked(change), 'marker_invalid', JSON.stringify(change))
  t.equal(marked({ schema: 'svc.codehost.producer_marker.v0' }), 'marker_legacy')
  t.equal(marked({ ended_ns: begun.deadline_ns }), 'quiescent true')
  t.equal(marked({ ended_ns: String(BigInt(begun.deadline_ns) + 1n) }), 'marker_late')
  t.equal(marked({ end: 'prefix', reason: 'wall', made: { blobs: 0, trees: 0, commits: 0 } }), 'quiescent false')
  const spaced = Buffer.from(JSON.stringify(marker, null, 1))
  t.equal(judged({ markers: [markerOf(spaced)] }), 'marker_invalid')
  t.hasStrict(judgeProducer(binding, 'another', evidence), { reason: 'binding_changed' })
})

t.test('C-272 another isolation than none is neither started nor believed: without a proof of the supervisor it stays blocked', async (t) => {
  const { binding, run: { token }, start, stateDir, job } = await madeFor(t)
  for (const claim of ['vm', 'namespace', 'cgroup', '']) {
    const guard = await holdGuard(stateDir, binding.producer_id)
    const other = { ...binding, isolation_claim: claim } as never
    await t.rejects(start({ guard, binding: other }), { code: 'producer_changed' }, claim)
    guard.release()
  }
  t.equal(loadEvidence(stateDir, job.job_id).start, null, 'nothing was started')
  t.hasStrict(await start(), { quiescent: true, complete: true })
  const evidence = loadEvidence(stateDir, job.job_id)
  const begun = read<StartRecord>(evidence.start)
  const marker = read<TerminalMarker>(evidence.markers[0]?.bytes)
  for (const claim of ['vm', 'namespace', 'cgroup', '']) {
    const begunSo = sealed(token, { ...begun, isolation_claim: claim })
    const endedSo = markerOf(sealed(token, {
      ...marker, isolation_claim: claim, start_sha256: sha256Hex(begunSo),
    }))
    for (const change of [{ markers: [endedSo] }, { start: begunSo, markers: [endedSo] }]) {
      t.hasStrict(judgeProducer(binding, token, { ...evidence, ...change }), { quiescent: false })
    }
  }
})

t.test('C-208 every file of a stage counts, and so does the stage itself', async (t) => {
  const { stage, start, verdict, dir, plan, stateDir, job } = await madeFor(t)
  t.hasStrict(await start(), { complete: true })
  const object = join(stage, 'objects', plan.commit.slice(0, 2), plan.commit.slice(2))
  const files = ['helper.cjs', 'config', 'HEAD'].map((name) => join(stage, name))
  for (const file of [...files, object]) {
    const bytes = readFileSync(file)
    rmSync(file, { force: true })
    t.strictSame(verdict(), { quiescent: false, reason: 'stage_changed' })
    writeFileSync(file, Buffer.concat([bytes, Buffer.from('x')]))
    t.strictSame(verdict(), { quiescent: false, reason: 'stage_changed' })
    rmSync(file)
    writeFileSync(join(dir, 'elsewhere'), bytes)
    symlinkSync(join(dir, 'elsewhere'), file)
    t.strictSame(verdict(), { quiescent: false, reason: 'stage_changed' })
    rmSync(file)
    writeFileSync(file, bytes)
    t.hasStrict(verdict(), { quiescent: true })
  }
  writeFileSync(join(stage, 'more'), '')
  t.strictSame(verdict(), { quiescent: false, reason: 'stage_changed' })
  rmSync(join(stage, 'more'))
  renameSync(stage, join(dir, 'away'))
  t.strictSame(verdict(), { quiescent: false, reason: 'stage_missing' })
  symlinkSync(join(dir, 'away'), stage)
  t.strictSame(verdict(), { quiescent: false, reason: 'stage_missing' })
  rmSync(stage)
  renameSync(join(dir, 'away'), stage)
  t.hasStrict(verdict(), { quiescent: true })
  rmSync(join(stage, 'start.json'))
  mkdirSync(join(stage, 'start.json'))
  t.strictSame(verdict(), { quiescent: false, reason: 'start_missing' })
  removeStage(stateDir, job.job_id)
  t.strictSame(verdict(), { quiescent: false, reason: 'stage_missing' })
})

t.test('a stage that was never started is made anew, one that was is not', async (t) => {
  const { binding, job, run, stateDir, plan, start, store } = await madeFor(t)
  const { helper, node, git, addon } = binding
  const commit = {
    message: 'One\n', tree: plan.tree.id, parents: ['1'.repeat(40)],
    author: { name: 'a', email: 'a', date: '2024-01-01T00:00:00Z' },
    committer: { name: 'a', email: 'a', date: '2024-01-01T00:00:00Z' },
  }
  const tools = {
    helper: { path: shipped(), sha256: sha256Hex(readFileSync(shipped())) }, node, git, addon,
  }
  const again = (over: Partial<typeof tools> = {}) => createStage(stateDir, {
    tools: { ...tools, ...over }, job, manifest: run.manifest, commit,
    tokenOf: (id) => store.keyedDigest('x', Buffer.from(id)),
  })
  const anew = again()
  t.not(anew.producer_id, binding.producer_id)
  await t.rejects(start(), { code: 'producer_changed' }, 'what was bound before is worth nothing')
  t.throws(
    () => again({ helper: { path: shipped(), sha256: helper.sha256.replace(/./g, '0') } }),
    { code: 'producer_changed', reason: 'helper' })
  const other = await madeFor(t)
  await other.start()
  t.throws(() => createStage(other.stateDir, {
    tools: { helper, node, git, addon }, job: other.job, manifest: run.manifest, commit,
    tokenOf: () => '',
  }), { code: 'producer_used' })
})

t.test('a manifest names contents that the base has not, once, and levels from below', async (t) => {
  const before = scanned('a/same', 'same')
  const base = overlaid(emptyTree, [before, scanned('b/kept', 'kept')])
  const changes = [
    { ...scanned('a/new', 'new'), before: null }, { ...scanned('c/new', 'new'), before: null },
    { ...before, mode: '100755' as const, before: { id: before.id, mode: '100644' as const } },
  ]
  const tree = overlaid(base, changes)
  const manifest = manifestOf({ changes, posts: [], tree, commit: 'c' }, base, { message: 'm\n' })
  t.strictSame(manifest.files, [[scanned('x', 'new').id, 3]])
  t.strictSame(manifest.trees.map(({ entries }) => entries.map(([, name]) => name)), [
    ['same', 'new'], ['new'], ['a', 'b', 'c'],
  ])
})

t.test('a git that waits for a supervisor that was killed is let go', async (t) => {
  const stateDir = t.testdir({ run: {}, stages: {} })
  const path = join(stateDir, 'run', 'job_1.fifo')
  execFileSync('mkfifo', [path])
  const waiting = spawn('cat', [path], { stdio: 'ignore' })
  const ended = once(waiting, 'exit')
  let asleep = 0
  await until('it waits', () => {
    const isAsleep = / \(cat\) S /.test(readFileSync(`/proc/${waiting.pid}/stat`, 'utf8'))
    asleep = isAsleep ? asleep + 1 : 0
    return asleep > 5
  })
  removeFifo(stateDir, 'job_1')
  t.strictSame(await ended, [0, null])
  t.notOk(existsSync(path))
})
