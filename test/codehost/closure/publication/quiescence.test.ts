/** Local work is over where a durable marker proves it; whatever is none keeps the capacity. */
import {
  copyFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { canonicalJson, sha256Hex } from '../../../../src/base/canonical.js'
import type { SpawnEntry } from '../../../../src/codehost/closure/publication/inventory.js'
import { requireQuiescence } from '../../../../src/codehost/closure/publication/quiescence.js'
import { effectLedger } from '../../../../src/codehost/jobs/effects.js'
import { effectHistory, jobEntries } from '../../../../src/codehost/jobs/histories.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { markerDigest, markerName } from '../../../../src/codehost/producer/producer-limits.js'
import { macOf } from '../../../../src/codehost/producer/mac.js'
import { stagePath } from '../../../../src/codehost/producer/stage.js'
import { producerToken } from '../../../../src/codehost/producer/token.js'
import { holdGuard, isHeld } from '../../../../src/state/holds/guard.js'
import { goOn, observed, untilStopped } from '../../../support/codehost/producing.js'
import {
  publicationClosing, type PublicationClosing,
} from '../../../support/codehost/publication-closing.js'
import { must } from '../../../support/must.js'
import { until } from '../../../support/until.js'
import { t } from '../../../support/tests-in-slices.js'

interface Stage {
  readonly dir: string
  readonly token: string
  readonly marker: string
  /** Writes the marker anew with some members changed, sealed by a token. */
  remark(change: object, token?: string): void
  /** Flips one byte of a file. */
  flip(name: string): void
}

const stageOf = (at: PublicationClosing, job: string): Stage => {
  const dir = stagePath(at.place.stateDir, job)
  const marker = readdirSync(dir).find((name) => markerDigest(name) !== null) ?? ''
  const token = producerToken(at.gov.store, at.job(job).approval?.producer?.producer_id ?? '')
  return {
    dir, token, marker,
    remark: (change, by = token) => {
      const record = { ...JSON.parse(readFileSync(join(dir, marker), 'utf8')), ...change }
      const bytes = canonicalJson({ ...record, mac: macOf(by, record) })
      rmSync(join(dir, marker))
      writeFileSync(join(dir, markerName(sha256Hex(bytes))), bytes)
    },
    flip: (name) => {
      const bytes = readFileSync(join(dir, name))
      bytes[bytes.length - 2] = (bytes.at(-2) ?? 0) ^ 1
      writeFileSync(join(dir, name), bytes)
    },
  }
}

const cases: readonly (readonly [string, string, (stage: Stage) => void])[] = [
  ['C-205 no marker', 'producer_marker_missing', ({ dir, marker }) => rmSync(join(dir, marker))],
  ['C-205 a marker of an older form', 'producer_marker_legacy', ({ remark }) =>
    remark({ schema: 'svc.codehost.producer_marker.v0' })],
  ['C-207 a marker of another boot', 'producer_marker_invalid', ({ remark }) =>
    remark({ boot_id: 'another' })],
  ['C-207 a marker under another token', 'producer_marker_invalid', ({ remark }) =>
    remark({}, 'f'.repeat(64))],
  ['C-206 a marker that saw something live', 'producer_marker_invalid', ({ remark }) =>
    remark({ quiescence: { exits_seen: true, pipes_at_eof: true, waitpid: 'EINTR', reaped: 0 } })],
  ['C-209 a marker whose pipes were not at their end', 'producer_marker_invalid', ({ remark }) =>
    remark({
      quiescence: { exits_seen: true, pipes_at_eof: false, waitpid: 'ECHILD', reaped: 0 },
    })],
  ['C-211 a marker of after its time', 'producer_marker_late', ({ remark }) =>
    remark({ ended_ns: '99999999999999999999' })],
  ['a marker with one byte flipped', 'producer_marker_invalid', ({ flip, marker }) => flip(marker)],
  ['two markers', 'producer_marker_ambiguous', ({ dir, marker }) =>
    copyFileSync(join(dir, marker), join(dir, markerName('0'.repeat(64))))],
  ['C-207 no start', 'producer_start_missing', ({ dir }) => rmSync(join(dir, 'start.json'))],
  ['another start', 'producer_start_invalid', ({ flip }) => flip('start.json')],
  ['another binding', 'producer_binding_changed', ({ flip }) => flip('binding.json')],
  ['C-208 a changed file of the stage', 'producer_stage_changed', ({ flip }) => flip('config')],
  ['C-208 an output that nobody made', 'producer_stage_changed', ({ dir }) =>
    writeFileSync(join(dir, 'objects/info/more'), 'x')],
  ['C-208 another helper', 'producer_helper_changed', ({ flip }) => flip('helper.cjs')],
]

/** The stage itself is another one. */
const folders: typeof cases = [
  ['C-208 a copy of the stage', 'producer_stage_missing', () => undefined],
  ['C-205 no stage', 'producer_stage_missing', ({ dir }) => rmSync(dir, { recursive: true })],
]

/** Puts everything of a folder back, the folder itself as well. */
const around = async (
  { dir }: Stage, whole: boolean, change: () => void, work: () => Promise<void>,
): Promise<void> => {
  const kept = `${dir}-kept`
  if (whole) renameSync(dir, kept)
  cpSync(whole ? kept : dir, whole ? dir : kept, { recursive: true })
  change()
  await work()
  if (whole) {
    rmSync(dir, { recursive: true, force: true })
    renameSync(kept, dir)
    return
  }
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true })
  cpSync(kept, dir, { recursive: true })
  rmSync(kept, { recursive: true })
}

/** Asks for the closure: it is blocked for a reason, nobody is asked, every byte is as it was. */
const blockedFor = async (
  t: Test, at: PublicationClosing, job: string, reason: string,
): Promise<void> => {
  const before = at.bytes()
  t.strictSame(await at.during(async () => {
    t.hasStrict((await at.close(job, at.request(job))).error(), {
      code: 'closure_blocked', reason,
    })
  }), [])
  t.strictSame([...at.bytes()], [...before], 'every byte is as it was')
  t.equal(at.connection().active_job_id, job)
}

t.test('whatever is no proof of the end of the local work keeps the capacity, with its reason, and nobody is asked', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.stopped('blob')
  const stage = stageOf(at, job)
  for (const [whole, list] of [[false, cases], [true, folders]] as const) {
    for (const [name, reason, change] of list) {
      await t.test(name, (t) => around(stage, whole, () => change(stage), () =>
        blockedFor(t, at, job, reason)))
    }
  }
  await t.test('C-239 C-268 the guard of a supervisor that lives', async (t) => {
    const id = at.job(job).approval?.producer?.producer_id ?? ''
    const guard = await holdGuard(at.place.stateDir, id)
    await blockedFor(t, at, job, 'producer_running')
    guard.release()
  })
  await t.test('C-254 another approved producer than the one that was begun', async (t) => {
    const row = at.job(job)
    const other = row.approval?.producer
    await at.transact((tx) => tx.put(jobCollection, job, {
      ...row, approval: row.approval === null || other === null || other === undefined ? null : {
        ...row.approval, producer: { ...other, binding_sha256: '0'.repeat(64) },
      },
    }))
    await blockedFor(t, at, job, 'producer_unproved')
    await at.transact((tx) => tx.put(jobCollection, job, row))
  })
  must(await at.close(job, at.request(job)))
})

t.test('a whole stage with its marker proves nothing of local work that the ledger tells otherwise', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.stopped('blob')
  const [row, view] = [at.job(job), at.view()]
  const { producer, effects } = effectLedger(jobEntries(view, effectHistory, job))
  const told = jobEntries(view, effectHistory, job).find(({ type }) => type === 'spawn')
  if (producer === null || told?.type !== 'spawn') throw new Error('no local work was begun')
  const contacted = effects.filter(({ standing }) => standing !== 'planned')
  const proof = (spawn: SpawnEntry) =>
    requireQuiescence(at.gov, view, row, { spawn, producer, contacted })
  t.equal(proof(told).standing, 'complete')
  for (const change of [
    { producer_id: 'prd_01900000-0000-7000-8000-000000000000' },
    { binding_sha256: '0'.repeat(64) },
    { attempt: told.attempt + 1 }, { fence: told.fence + 1 },
  ]) {
    t.throws(() => proof({ ...told, ...change }), {
      code: 'closure_blocked', reason: 'producer_binding_changed',
    }, Object.keys(change).join())
  }
})

t.test('a marker of local work that did not end whole proves nothing where something was sent, though no record names it', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.stopped('blob')
  const [row, view, stage] = [at.job(job), at.view(), stageOf(at, job)]
  const { producer, effects } = effectLedger(jobEntries(view, effectHistory, job))
  const spawn = jobEntries(view, effectHistory, job).find(({ type }) => type === 'spawn')
  if (producer === null || spawn?.type !== 'spawn') throw new Error('no local work was begun')
  stage.remark({ end: 'prefix', reason: 'wall' })
  const proof = (contacted: typeof effects) => requireQuiescence(at.gov, view, row, {
    spawn, producer: { ...producer, markerSha256: null }, contacted,
  })
  t.equal(proof([]).standing, 'prefix', 'nothing was sent')
  t.throws(() => proof(effects.filter(({ standing }) => standing !== 'planned')), {
    code: 'closure_blocked', reason: 'producer_marker_differs',
  })
})

t.test('C-239 C-254 the guard is held from before the first read to behind the record, and the proof is looked at once more before it', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.stopped('blob')
  const stage = stageOf(at, job)
  const id = at.job(job).approval?.producer?.producer_id ?? ''
  const held: string[] = []
  const at1 = at.request(job)
  await around(stage, false, () => undefined, async () => {
    const ran = await at.close(job, at1, {
      at: (step) => {
        if (step === 'closure.staged') stage.flip('config')
      },
    })
    t.hasStrict(ran.error(), { code: 'closure_blocked', reason: 'producer_stage_changed' })
    t.equal(at.job(job).closed, null)
  })
  must(await at.close(job, at1, {
    at: (step) => {
      if (isHeld(at.place.stateDir, id)) held.push(step)
    },
  }))
  t.ok(held.includes('closure.kept') && held.includes('closure.committed'), held.join())
  t.equal(isHeld(at.place.stateDir, id), false)
  t.equal(existsSync(stage.dir), false, 'what proved it is needed no more')
})

t.test('C-207 C-209 C-268 a supervisor that died before its marker leaves nothing to close by, ever', async (t) => {
  const at = await publicationClosing(t, { producer: { helper: observed() } })
  const job = await at.approvedPublication()
  writeFileSync(join(at.place.stateDir, 'observe.json'), JSON.stringify({
    stopAt: 'fed', do: 'kill',
  }))
  await at.runJob(job)
  rmSync(join(at.place.stateDir, 'observe.json'))
  t.hasStrict(at.job(job), { state: 'blocked', contacted: 0, reserved: true })
  await blockedFor(t, at, job, 'producer_marker_missing')
  await blockedFor(t, at, job, 'producer_marker_missing')
})

/** Whatever is asked of it, from either session: it stays what its closure says of it. */
const staysClosed = async (t: Test, at: PublicationClosing, job: string): Promise<void> => {
  const rows = () => ({ job: at.job(job), task: at.task(at.job(job).task_id ?? '') })
  const before = rows()
  const { job: { preview_sha256: digest } } = before
  const cancelled = (await at.run(['codehost', 'cancel', job, '--json'])).error()
  t.equal(cancelled.code, 'job_closed')
  t.match(cancelled.hint, '`sallyport codehost recover closures`')
  t.equal((await at.run(['codehost', 'publish', job, '--preview-digest', digest, '--json']))
    .error().code, 'job_closed')
  t.equal((await at.run(['codehost', 'approve', job, '--preview-digest', digest, '--json']))
    .error().code, 'job_state')
  must(await at.run(['login', '--replace']))
  const other = (await at.run(['codehost', 'preview', job, '--json'])).error()
  t.equal(other.code, 'root_replaced')
  t.match(other.hint, `\`sallyport codehost jobs ${job}\``, 'no line that would be refused')
  t.equal((await at.run(['codehost', 'cancel', job, '--json'])).error().code, 'job_closed')
  t.strictSame(rows(), before)
}

t.test('C-022 C-205 C-207 C-224 a parent that died just as its supervisor started: recovery frees nothing, and closing frees the connection by the marker', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.approvedPublication()
  await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.spawned' },
  })
  must(await at.run(['goal', 'add', 'after it']))
  t.hasStrict(at.job(job), {
    state: 'blocked', reason: 'interrupted_after_spawn', contacted: 0, reserved: true,
  })
  t.equal(at.connection().active_job_id, job, 'recovery frees nothing')
  await until('its supervisor has ended', () =>
    !isHeld(at.place.stateDir, at.job(job).approval?.producer?.producer_id ?? ''))
  const stage = stageOf(at, job)
  t.notOk(existsSync(join(stage.dir, 'start.json')))
  const whole = readFileSync(join(stage.dir, stage.marker))
  rmSync(join(stage.dir, stage.marker))
  await blockedFor(t, at, job, 'producer_start_missing')
  writeFileSync(join(stage.dir, stage.marker), whole)
  t.strictSame(await at.during(async () => {
    must(await at.close(job, at.request(job)))
  }), [], 'nobody is asked')
  t.equal(at.connection().active_job_id, null)
  t.hasStrict(at.job(job), { state: 'blocked', reserved: false, contacted: 0 })
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
  await staysClosed(t, at, job)
})

t.test('C-077 a run that goes on while the supervisor of a dead process still lives waits for its proof, and a closure says that it lives', async (t) => {
  const at = await publicationClosing(t, { producer: { helper: observed() } })
  const job = await at.approvedPublication()
  writeFileSync(join(at.place.stateDir, 'observe.json'), JSON.stringify({
    stopAt: 'owned', do: 'wait',
  }))
  await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.spawned' },
  })
  await untilStopped(at.place)
  must(await at.run(['goal', 'add', 'after it']))
  await blockedFor(t, at, job, 'producer_running')
  const ran = await at.run(['codehost', 'resume', job, '--json'], {
    at: (step) => {
      if (step === 'codehost.reserved') setTimeout(() => goOn(at.place), 300)
    },
  })
  t.hasStrict(ran.error(), { code: 'codehost_not_sent', reason: 'producer_not_begun' })
  t.hasStrict(at.job(job), { state: 'failed', reason: 'producer_not_begun', reserved: false })
  t.equal(at.connection().active_job_id, null)
  t.equal(at.posts().length, 0)
})

t.test('C-077 a run that is stopped while it waits for such a supervisor leaves the job as it was', async (t) => {
  const at = await publicationClosing(t, { producer: { helper: observed() } })
  const job = await at.approvedPublication()
  writeFileSync(join(at.place.stateDir, 'observe.json'), JSON.stringify({
    stopAt: 'owned', do: 'wait',
  }))
  await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.spawned' },
  })
  await untilStopped(at.place)
  const stop = new AbortController()
  const ran = await at.run(['codehost', 'resume', job, '--json'], {
    stop: stop.signal,
    at: (step) => {
      if (step === 'codehost.reserved') setTimeout(() => stop.abort(), 300)
    },
  })
  t.hasStrict(ran.error(), { code: 'codehost_not_sent' })
  t.hasStrict(at.job(job), {
    state: 'blocked', reason: 'interrupted_after_spawn', contacted: 0, reserved: true,
  })
  t.equal((await at.json(['codehost', 'job', job])).way_on.command,
    `sallyport codehost run ${job} --resume`)
  goOn(at.place)
  t.equal((await at.run(['codehost', 'resume', job, '--json'])).error().code, 'codehost_not_sent')
  t.hasStrict(at.job(job), { state: 'failed', reserved: false })
})
