/** What of a publication rests on a stage is of the machine that approved it; the rest is not. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { closeCapacity } from '../../../../src/codehost/closure/close.js'
import type { CodehostContext } from '../../../../src/codehost/context.js'
import { approveJob } from '../../../../src/codehost/jobs/approve.js'
import { cancelJob } from '../../../../src/codehost/jobs/cancel.js'
import { closeRequestOf } from '../../../../src/codehost/jobs/closed/request.js'
import { nextStepNow } from '../../../../src/codehost/jobs/next-step-now.js'
import { previewJob } from '../../../../src/codehost/jobs/preview.js'
import { stageProblems, sweepStages } from '../../../../src/codehost/jobs/publication/stages.js'
import { publishApproved } from '../../../../src/codehost/jobs/publish.js'
import { reconcileJob } from '../../../../src/codehost/jobs/reconcile.js'
import { runApproved, runJob } from '../../../../src/codehost/jobs/run.js'
import { handOver, machineBoundCollection } from '../../../../src/governance/machine-bound.js'
import { remote } from '../../../support/codehost/elsewhere.js'
import {
  publicationClosing, type PublicationClosing,
} from '../../../support/codehost/publication-closing.js'
import { onMachine } from '../../../support/on-machine.js'
import { t } from '../../../support/tests-in-slices.js'

const refused = { kind: 'rejected', code: 'of_other_machine' }

/** The context of a machine; `here` has the folder of the world, any other one of its own. */
const at = (world: PublicationClosing, machine: string, here = false): CodehostContext => {
  const dir = here ? world.place.stateDir : world.place.path(`machine-${machine}`)
  mkdirSync(join(dir, 'run'), { recursive: true })
  const store = onMachine(world.gov.store, machine, dir)
  return { ...remote(world), gov: { ...world.gov, store } }
}

t.test('a publication is approved, run and published where its stage lies; another machine shows it, gives it up, and leaves it alone in a scheduled run', async (t) => {
  const world = await publicationClosing(t)
  const [here, there] = [at(world, 'a', true), at(world, 'b')]
  const session = world.session()
  const approved = async () => {
    const jobId = await world.preparedPublication()
    const { preview_sha256: previewDigest } = world.job(jobId)
    await approveJob(here.gov, session, { jobId, previewDigest, producer: here.producer })
    return { jobId, previewDigest }
  }
  const order = await approved()
  const { jobId } = order
  t.strictSame(world.view().all(machineBoundCollection),
    [{ id: `codehost_job/${jobId}`, doc: { machine: 'a' } }])
  const before = [world.requests().length, world.view().sequence]
  await t.rejects(approveJob(there.gov, session, { ...order, producer: there.producer }), refused)
  await t.rejects(publishApproved(there, session, order), refused)
  await t.rejects(runJob(there, session, jobId), { ...refused, details: { machine: 'a' } })
  t.strictSame(await runApproved(there, session), [])
  t.equal(previewJob(there.gov, session, jobId).job.state, 'approved')
  t.match(nextStepNow(there.gov, world.view(), world.job(jobId)).text, 'on another machine')
  t.notMatch(nextStepNow(here.gov, world.view(), world.job(jobId)).text, 'on another machine')
  t.strictSame([world.requests().length, world.view().sequence], before, 'nothing came of it')
  t.strictSame(stageProblems(here.gov.store, world.view()), [])
  t.strictSame(stageProblems({ dir: here.gov.store.dir, machine: 'b' }, world.view())
    .map(({ subject }) => subject), [jobId])
  const [ran] = await runApproved(here, session)
  t.hasStrict(ran, { jobId, failure: null })
  const other = await approved()
  const stage = join(here.gov.store.dir, 'stages', other.jobId)
  await cancelJob(there.gov, session, other.jobId)
  sweepStages(there.gov)
  t.ok(existsSync(stage), 'a stage is removed by its own machine')
  sweepStages(here.gov)
  t.notOk(existsSync(stage))
})

t.test('what was begun goes on and is closed where its stage lies; what was made there is read back and sent on from anywhere', async (t) => {
  const world = await publicationClosing(t)
  const there = at(world, 'b')
  const session = world.session()
  const request = (jobId: string) => ({
    jobId, read: closeRequestOf(world.request(jobId), world.job(jobId).native_kind),
  })
  const jobId = await world.stopped('commit')
  t.strictSame(world.view().all(machineBoundCollection), [], 'a directory has no such row')
  const before = world.requests().length
  await t.rejects(closeCapacity(there, session, request(jobId)), refused)
  t.equal(world.requests().length, before)
  t.notOk(existsSync(join(there.gov.store.dir, 'pending')), 'no refused request is kept')
  const expectedReadRevision = world.connection().revision
  await t.rejects(reconcileJob(there, session, { jobId, expectedReadRevision }), {
    code: 'codehost_incomplete',
  })
  const { job } = await runJob(there, session, jobId, { verb: 'resume' })
  t.equal(job.state, 'succeeded', 'the rest of it needs no stage')
  const begun = await world.local()
  await t.rejects(runJob(there, session, begun, { verb: 'resume' }), refused)
  await t.rejects(closeCapacity(there, session, request(begun)), refused)
  const heir = at(world, 'a', true)
  await t.rejects(closeCapacity(heir, session, request(begun)), refused)
  await world.transact((tx) => handOver(heir.gov.store, tx, 'first'))
  const closed = await closeCapacity(heir, session, request(begun))
  t.hasStrict(closed, { fresh: true })
})
