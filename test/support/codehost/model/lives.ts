/** The life of a job until something occupies the connection: prepared, approved, run, ended. */
import assert from 'node:assert/strict'
import { adoptJob } from '../../../../src/codehost/jobs/adopt.js'
import { approveJob } from '../../../../src/codehost/jobs/approve.js'
import { cancelJob } from '../../../../src/codehost/jobs/cancel.js'
import { prepareFollowThrough } from '../../../../src/codehost/jobs/prepare.js'
import type { Job } from '../../../../src/codehost/jobs/job-rows.js'
import { runFailure, runJob, type RunVerb } from '../../../../src/codehost/jobs/run.js'
import { recoverState } from '../../../../src/fabric/recovery.js'
import { consent } from './consents.js'
import type { Told } from './deployment.js'
import { bodyText, type Lived } from './lived.js'
import type { CrashWish, RunFault } from './operations.js'
import { authorizes, isSpent, type ModelJob } from './reference.js'

/** Prepares a job; its number, or null where it may not be. */
export const prepare = async (lived: Lived, title: string): Promise<number | null> => {
  const model = lived.model
  const told = await lived.silent(() => lived.at.line({}, ({ gov, session }) =>
    prepareFollowThrough(gov, session, {
      connectionId: lived.at.connectionId, wish: { what: 'issue', title, body: bodyText },
    })))
  assert.equal(told.kind, authorizes(model) ? 'done' : 'refused', JSON.stringify(told))
  if (told.kind !== 'done') {
    // Behind a closure a person consents anew, and goes on.
    if (!model.consent.live || !isSpent(model) || model.active !== null) return null
    await consent(lived)
    return authorizes(model) ? prepare(lived, title) : null
  }
  lived.ids.push(told.value.job_id)
  return model.jobs.push({
    title, root: model.root, consent: model.consent.id, vault: model.vault, state: 'prepared',
    revision: told.value.revision, reserved: false, told: null, closed: null, looks: 0,
  }) - 1
}

/** Approves a job by the digest of its preview. */
export const approve = async (lived: Lived, number: number): Promise<void> => {
  const job = lived.job(number)
  const digest = lived.rows().jobs[number]?.preview_sha256 ?? ''
  const told = await lived.silent(() => lived.at.line({}, ({ gov, session }) =>
    approveJob(gov, session, { jobId: lived.id(number), previewDigest: digest })))
  const may = ['prepared', 'approved'].includes(job.state) && authorizes(lived.model, job)
  assert.equal(told.kind, may ? 'done' : 'refused', JSON.stringify(told))
  if (!may) return
  job.state = 'approved'
  lived.absorb(number)
}

const goWrong = ({ at: { host } }: Lived, fault: RunFault | null): void => {
  host.post = fault === 'readback_lost' ? null : fault
  if (fault === 'readback_lost') host.readFault = { fault: 'reset', skip: 1 }
}

const ran = (
  lived: Lived, number: number, fault: RunFault | null, told: Told<unknown>, posts: number,
): void => {
  const job = lived.job(number)
  const model = lived.model
  const states = {
    reply_lost: 'unknown_external_effect', request_lost: 'unknown_external_effect',
    readback_lost: 'unknown_external_effect', refused: 'failed', unreachable: 'blocked',
  } as const
  job.state = fault === null ? 'succeeded' : states[fault]
  job.reserved = fault !== null && fault !== 'unreachable'
  model.fence += 1
  model.active = job.reserved ? number : null
  assert.equal(told.kind, fault === null ? 'done' : 'refused', JSON.stringify(told))
  assert.equal(posts, fault === 'unreachable' ? 0 : 1)
  lived.absorb(number)
  const known = fault === null || fault === 'readback_lost'
  assert.equal(job.told, known ? lived.at.host.issues.length : null, 'the number that was told')
  if (fault === null) model.proved.set(lived.at.host.issues.length, number)
}

/** What may have been sent is unknown and occupies; what was not is not. */
const crashedRun = async (
  lived: Lived, number: number, steps: readonly string[], posts: number,
): Promise<void> => {
  await lived.silent(() => lived.at.line({}, async () => undefined))
  const row = lived.rows().jobs[number] as Job
  const job = lived.job(number)
  const model = lived.model
  const fence = lived.at.connection().active_fence
  assert.ok(fence === model.fence || fence === model.fence + 1, 'the fence')
  const isUnknown = row.state === 'unknown_external_effect'
  const may = posts > 0
    ? ['unknown_external_effect', 'succeeded']
    : ['approved', 'blocked', ...(steps.length > 0 ? ['unknown_external_effect'] : [])]
  assert.ok(may.includes(row.state), `${row.state} after ${posts} POSTs, ${steps.join(' ')}`)
  assert.equal(row.reserved, isUnknown, 'what is unknown occupies')
  if (posts === 0 && isUnknown) {
    assert.ok(steps.includes('codehost.contact_begin'), 'nothing was contacted')
  }
  model.fence = fence
  model.active = isUnknown ? number : null
  job.state = row.state as ModelJob['state']
  job.reserved = row.reserved
  lived.absorb(number)
  if (row.state === 'succeeded') model.proved.set(job.told ?? 0, number)
  if (job.told !== null) assert.equal(job.told, lived.at.host.issues.length)
}

/** Runs or resumes a job; something may go wrong at the host, or the process may die. */
export const runOn = async (
  lived: Lived, verb: RunVerb, number: number, fault: RunFault | null, crash: CrashWish | null,
): Promise<void> => {
  const job = lived.job(number)
  const closed = job.closed !== null
  const ready = authorizes(lived.model, job) && lived.model.active === null && !job.reserved
    && job.state === (verb === 'run' ? 'approved' : 'blocked')
  goWrong(lived, fault)
  const [told, { posts }] = await lived.counted(() => lived.at.line(
    { crash: ready ? crash : null }, async ({ ctx, gov, session }) => {
      const ran = await runJob(ctx, session, lived.id(number), { verb })
      const failure = runFailure(gov, ran)
      if (failure !== null) throw failure
    }))
  lived.heal()
  if (closed) {
    assert.equal(posts, 0)
    return lived.rejected(number, verb === 'run' ? 'execute' : 'approved_resume', told)
  }
  if (!ready) {
    assert.equal(told.kind, 'refused', JSON.stringify(told))
    assert.equal(posts, 0, 'nothing is sent')
    return
  }
  if (told.kind === 'crashed') return crashedRun(lived, number, told.steps, posts)
  ran(lived, number, fault, told, posts)
}

/** What leads to an unknown job: prepared, approved, run, and something lost. */
export const loseOne = async (lived: Lived, title: string, fault: RunFault): Promise<void> => {
  const number = await prepare(lived, title)
  if (number === null) return
  await approve(lived, number)
  await runOn(lived, 'run', number, fault, null)
}

/** Cancels a job that does nothing. */
export const cancel = async (lived: Lived, number: number): Promise<void> => {
  const job = lived.job(number)
  const told = await lived.silent(() => lived.at.line({ mode: 'write' }, async (line) => {
    await cancelJob(line.gov, line.session, lived.id(number))
    await recoverState(line.gov)
  }))
  const idle = ['prepared', 'approved', 'blocked'].includes(job.state) && !job.reserved
  if (job.state === 'cancelled') return lived.absorb(number)
  assert.equal(told.kind, idle && job.closed === null ? 'done' : 'refused', JSON.stringify(told))
  if (told.kind !== 'done') return
  job.state = 'cancelled'
  lived.absorb(number)
}

/** Tries to adopt a job, which the fence rejects once it was closed. */
export const adopt = async (lived: Lived, number: number): Promise<void> => {
  const told = await lived.silent(() => lived.at.line({}, ({ gov, session }) =>
    adoptJob(gov, session, lived.id(number))))
  if (lived.job(number).closed !== null) lived.rejected(number, 'adopt', told)
  else if (lived.job(number).state !== 'succeeded') assert.equal(told.kind, 'refused')
}
