/** Stages in a state that is looked after: what a cut-off approval or cancel has left. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { must } from '../../../support/must.js'
import { working, type Working } from '../../../support/codehost/working.js'
import { t } from '../../../support/tests-in-slices.js'

const prepared = async (at: Working): Promise<string> => {
  must(await at.consentToPublish())
  return must(await at.publish(at.folder({ 'a.txt': 'a\n' }))).json().id
}

const stagesOf = (at: Working): string => join(at.place.stateDir, 'stages')

const strays = async (at: Working): Promise<string[]> => {
  const { problems } = await at.json(['state', 'check'])
  return problems.filter(({ code }: { code: string }) => code === 'codehost_stage_stray')
    .map(({ subject }: { subject: string }) => subject)
}

t.test('a stage that no approval stands behind is found by the check, and one of a job that was given up goes with the next command', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  const { digest } = await at.json(['codehost', 'preview', job])
  const cut = await at.run(['codehost', 'approve', job, '--preview-digest', digest], {
    at: (step) => {
      if (step !== 'codehost.bound') return
      mkdirSync(join(stagesOf(at), 'job_of_nobody'))
      throw new Error('cut off')
    },
  })
  t.not(cut.status, 0)
  t.strictSame(readdirSync(stagesOf(at)), ['job_of_nobody'], 'a failure leaves no stage')
  mkdirSync(join(stagesOf(at), job))
  writeFileSync(join(stagesOf(at), job, 'half'), '')
  t.strictSame(await strays(at), ['job_of_nobody', job].sort())
  must(await at.approve(job))
  t.strictSame(await strays(at), ['job_of_nobody'], 'the next approval makes it anew')
  await at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), state: 'cancelled' }))
  t.strictSame(await strays(at), ['job_of_nobody', job].sort())
  const other = must(await at.publish(at.place.path('source'))).json().id
  must(await at.run(['codehost', 'cancel', other]))
  t.strictSame(readdirSync(stagesOf(at)), ['job_of_nobody'])
})

t.test('a copy has the stages with it; what was approved is put back with its stage and taken over by no session', async (t) => {
  const at = await working(t)
  const job = await prepared(at)
  must(await at.approve(job))
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  t.strictSame(readdirSync(join(kept, 'state', 'stages')), [job])
  t.strictSame(await strays(at), [])
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  t.strictSame(readdirSync(stagesOf(at)), [job])
  const ran = await at.run(['codehost', 'preview', job, '--json'])
  t.equal(ran.error().code, 'root_replaced', 'no session takes over its authority')
  t.strictSame(await strays(at), [])
})
