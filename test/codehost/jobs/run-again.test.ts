/**
 * What may be sent is asked for before anybody is asked, in the record that claims the run, and in
 * the record of each mark; what was read back counts for the row that it was read for alone. So it
 * is for an issue and for a publication.
 */
import t, { type Test } from 'tap'
import { appendEntry, effectHistory } from '../../../src/codehost/jobs/histories.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { anchorOf } from '../../support/anchor.js'
import { publishing, type Publishing } from '../../support/codehost/publishing.js'
import { working, type Working } from '../../support/codehost/working.js'

const kinds: readonly (readonly [string, (t: Test) => Promise<readonly [Working, string]>])[] = [
  ['an issue', async (t) => {
    const at = await working(t)
    return [at, await at.approved()]
  }],
  ['a publication', async (t) => {
    const at: Publishing = await publishing(t)
    return [at, await at.approvedPublication()]
  }],
]

/** As if another process had marked the first effect. */
const marked = (at: Working, job: string): Promise<void> => at.transact((tx) => {
  appendEntry(tx, effectHistory, job, {
    type: 'contacted', at: new Date(at.clock.wallMs()).toISOString(), effect: 1, attempt: 1,
    operation_id: 'op_other', fence: 1, body_sha256: 'a'.repeat(64),
  })
  const row = at.job(job)
  tx.put(jobCollection, job, { ...row, contacted: row.contacted + 1 })
})

for (const [kind, made] of kinds) {
  t.test(`what of ${kind} was marked already is refused before anybody is asked`, async (t) => {
    const [at, job] = await made(t)
    const before = at.requests().length
    await marked(at, job)
    t.hasStrict((await at.runJob(job)).error(), { code: 'effect_contacted' })
    t.equal(at.requests().length, before)
  })

  t.test(`what of ${kind} was marked between look and claim is claimed by no run`, async (t) => {
    const [at, job] = await made(t)
    const ran = await at.runJob(job, {
      at: async (step) => {
        if (step === 'preflight.finished') await marked(at, job)
      },
    })
    t.hasStrict(ran.error(), { code: 'effect_contacted' })
    t.hasStrict(at.job(job), { state: 'approved', attempt: 0, task_id: null, reserved: false })
    t.equal(at.posts().length, 0)
  })

  t.test(`what of ${kind} was marked between claim and mark is not sent`, async (t) => {
    const [at, job] = await made(t)
    const ran = await at.runJob(job, {
      at: async (step) => {
        if (step === 'codehost.contact_begin') await marked(at, job)
      },
    })
    t.hasStrict(ran.error(), { reason: 'effect_contacted' })
    t.equal(at.posts().length, 0)
    t.equal(at.job(job).contacted, 1, 'the mark is another’s: this run proves nothing of it')
  })

  t.test(`what was read back of ${kind} settles no row that changed since`, async (t) => {
    const [at, job] = await made(t)
    const ran = await at.runJob(job, {
      at: async (step) => {
        if (step !== 'codehost.sealed') return
        const row = at.job(job)
        await at.transact((tx) => tx.put(jobCollection, job, {
          ...row, revision: row.revision + 1,
        }))
      },
    })
    t.hasStrict(ran.error(), { code: 'unknown_external_effect', reason: 'receipt_overtaken' })
    t.hasStrict(at.job(job), {
      state: 'unknown_external_effect', reason: 'receipt_overtaken', reserved: true,
      receipt_id: null,
    })
  })
}

t.test('the record that leaves a connection occupied moves the anchor', async (t) => {
  const at = await working(t)
  for (const [fault, state] of [
    ['write_close_before_headers', 'unknown_external_effect'], ['write_not_done_422', 'failed'],
  ] as const) {
    const job = await at.approved(fault)
    const anchors = new Map<string, unknown>()
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    await at.runJob(job, {
      at: (step) => {
        anchors.set(step, anchorOf(at.place))
      },
    })
    at.sandbox.faults.clear()
    t.hasStrict(at.job(job), { state, reserved: true })
    t.not(anchors.get('codehost.finished'), anchors.get('codehost.sealed'), state)
    await at.transact((tx) => tx.put(connectionCollection, at.id, {
      ...at.connection(), active_job_id: null,
    }))
  }
})
