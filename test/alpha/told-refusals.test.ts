/** Refusals round an ask that a race, a person or a changed row brings about, by their codes. */
import t from 'tap'
import { billingUuidCollection, bindBillingUuid } from '../../src/alpha/billing-uuids.js'
import type { AskOperation } from '../../src/alpha/ask/operation.js'
import { prepareAsk } from '../../src/alpha/ask/prepare.js'
import { moveTask } from '../../src/governance/board/move.js'
import { getJob } from '../../src/governance/board/visible-tasks.js'
import { collections } from '../../src/governance/rows.js'
import { newestTask } from '../support/board.js'
import { Memory } from '../support/governance/memory.js'
import { must } from '../support/must.js'
import { codeOf, codeOfWaited } from '../support/refused.js'
import { limits, setupFlags } from '../world/alpha.js'
import type { Ran } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'

const rigOf = (t: Parameters<typeof World.in>[0]): Promise<AlphaWorld> =>
  Promise.resolve(World.in(t).sandbox().state().session().alpha())

/** Kind of exit and code of a line that was refused. */
const refusal = (ran: Ran) => [ran.status, ran.error().code]

t.test('a key whose ask is under way in another process is told so, and nothing is asked twice', async (t) => {
  const rig = await rigOf(t)
  const args = ['--idempotency-key', '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a11']
  let second: Ran | undefined
  must(await rig.ask({
    args,
    at: async (step) => { if (step === 'ask.replied') second = await rig.ask({ args }) },
  }))
  t.strictSame(second && refusal(second), [5, 'ask_in_progress'])
  t.equal(rig.inferences().length, 1)
})

t.test('a task that ended while its ask waited for its turn contacts nobody', async (t) => {
  const rig = await rigOf(t)
  const ran = await rig.ask({
    at: async (step) => {
      if (step !== 'ask.queued') return
      await rig.transact((tx, now) =>
        moveTask(tx, now, newestTask(rig).task_id, 'failed', { reason: 'ended_elsewhere' }))
    },
  })
  t.hasStrict(ran.error(), { code: 'ask_failed', reason: 'ended_elsewhere' })
  const { task_id: taskId } = newestTask(rig)
  const other = { taskId, operationId: 'op_other' } as AskOperation
  t.equal(await codeOfWaited(() =>
    rig.transact((tx, now) => prepareAsk(other, tx, now))), 'task_not_runnable')
  t.equal(rig.inferences().length, 0)
})

t.test('a bill is asked for twice at most, whatever a process that goes on believes', async (t) => {
  const rig = await rigOf(t)
  const ran = await rig.ask({
    at: async (step) => {
      if (step !== 'ask.replied') return
      await rig.transact((tx) => {
        const job = getJob(tx, newestTask(rig))
        tx.put(collections.jobs, job.job_id, {
          ...job, progress: { ...job.progress, billing_attempts: 2 },
        })
      })
    },
  })
  t.hasStrict(ran.error(), { code: 'ask_blocked', reason: 'alpha_cost_readback_required' })
  const unknown = rig.view().all(collections.ledgerRows).find(({ doc }) => doc.kind === 'unknown')
  t.strictSame(unknown?.doc.evidence, { reason: 'billing_attempts_spent' })
  t.equal(rig.billings().length, 0)
})

t.test('a billing id stays with the operation that it was asked for', async (t) => {
  const memory = new Memory()
  const bind = (operation: string) =>
    codeOf(() => memory.transact((tx) => bindBillingUuid(tx, 'a-uuid', operation)))
  t.strictSame([bind('op_1'), bind('op_1'), bind('op_2')], ['none', 'none', 'billing_uuid_reused'])
})

t.test('a billing id that was used since a backup is known after its restore', async (t) => {
  const rig = await rigOf(t)
  const copy = rig.place.path('copy')
  must(await rig.run(['state', 'backup', copy]))
  must(await rig.ask())
  const used = rig.view().all(billingUuidCollection)
  t.equal(used.length, 1)
  must(await rig.run(['state', 'restore', copy, '--yes']))
  t.strictSame(rig.view().all(billingUuidCollection).map(({ id, doc }) => ({ id, doc })),
    used.map(({ id, doc }) => ({ id, doc })))
})

t.test('A-128 what has no answer, withholds it or holds none says which', async (t) => {
  const rig = await rigOf(t)
  must(await rig.ask())
  const done = newestTask(rig).task_id
  const review = (task: string, verdict: string) =>
    rig.run(['alpha', 'review', task, verdict, '--json'])
  t.strictSame(refusal(await review(done, '--accept-held')), [5, 'no_held_answer'])
  const cancelled = await rig.ask({
    at: async (step) => {
      if (step === 'ask.queued') must(await rig.run(['alpha', 'cancel', newestTask(rig).task_id]))
    },
  })
  t.strictSame(refusal(cancelled), [130, 'ask_cancelled'])
  const output = (task: string) => rig.run(['alpha', 'output', task, '--json'])
  t.strictSame(refusal(await output(newestTask(rig).task_id)), [5, 'no_output'])
  rig.sandbox.faults.set('billing_overrun', { value: limits.boundMicrousd })
  t.equal((await rig.ask()).status, 7)
  const { task_id: held } = newestTask(rig)
  t.strictSame(refusal(await output(held)), [7, 'output_withheld'])
  await rig.transact((tx) => {
    const job = getJob(tx, newestTask(rig))
    const progress = { ...job.progress, held_artifact_id: null }
    tx.put(collections.jobs, job.job_id, { ...job, progress })
  })
  t.strictSame(refusal(await review(held, '--accept-overrun')), [12, 'held_answer_missing'])
})

t.test('a consent that was replaced while a person read is not acknowledged', async (t) => {
  const rig = await rigOf(t)
  const ran = await rig.run(['alpha', 'acknowledge', '--json'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: [async () => {
      must(await rig.run(['policy', 'revoke', '--json']))
      must(await rig.run(setupFlags(rig.place, await rig.revision())))
      return true
    }],
  })
  t.strictSame(refusal(ran), [5, 'consent_changed'])
})
