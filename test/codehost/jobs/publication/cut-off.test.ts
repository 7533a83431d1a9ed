/** A run that dies or is given up where its ledger says all: the job stands where that says. */
import type { Test } from 'tap'
import { jobCollection, type Job } from '../../../../src/codehost/jobs/job-rows.js'
import { diesUnsent } from '../../../support/codehost/dies-unsent.js'
import { must } from '../../../support/must.js'
import { send } from '../../../support/codehost/publish-lines.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { t } from '../../../support/tests-in-slices.js'

const wayOf = async (at: Publishing, job: string): Promise<{ command: string, text: string }> =>
  (await at.json(['codehost', 'job', job])).way_on

const killedAt = async (
  at: Publishing, verb: 'run' | 'resume', job: string, step: string,
): Promise<void> => {
  const killed = await at.place.spawn(['codehost', verb, job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
  })
  if (killed.status === 0) throw new Error(`${step} was not reached`)
}

/** Three of six were made, and the fourth was never sent. */
const partly = async (at: Publishing): Promise<string> => {
  const job = await at.approvedPublication()
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.post_4_of_6') stop.abort()
    },
  })
  return job
}

const coded = async (at: Publishing, ...words: string[]): Promise<string> =>
  (await at.run(['codehost', ...words, '--json'])).error().code

/** The refusal that was written down counts, whoever was left to say so. */
const isRefused = async (t: Test, at: Publishing, job: string, of: Partial<Job>): Promise<void> => {
  const [posts, told] = [at.posts().length, JSON.stringify(of)]
  t.hasStrict(at.job(job), { ...of, state: 'failed', reason: 'status_422', reserved: true }, told)
  t.hasStrict(at.task(at.job(job).task_id ?? ''), {
    state: 'blocked', blocked: { kind: 'external_effect', reason: 'effect_refused' },
  }, told)
  const { command } = await wayOf(at, job)
  t.equal(command, 'sallyport codehost connect --repo operator/notes --token-file F', told)
  t.equal((await at.reconcile(job)).error().code, 'effect_refused', told)
  t.equal(await coded(at, 'resume', job), 'job_state', told)
  t.equal(at.posts().length, posts, 'nothing is sent')
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
}

t.test('C-018 a refusal that was written down before the process died is one afterwards, and never told to be gone on with', async (t) => {
  const at = await publishing(t)
  const refused = async (job: string, after: number): Promise<void> => {
    at.sandbox.faults.set('write_not_done_422', { service: 'codehost', after, times: 1 })
    await killedAt(at, 'run', job, 'codehost.charge_known')
    at.sandbox.faults.clear()
    must(await at.run(['goal', 'add', job]))
    await isRefused(t, at, job, { contacted: after + 1, created: after })
  }
  for (const after of [0, 2, 5]) {
    const job = await at.approvedPublication()
    await refused(job, after)
    // As an earlier version has left it.
    await at.transact((tx) => tx.put(jobCollection, job, {
      ...at.job(job), state: 'unknown_external_effect', reason: 'interrupted_after_contact',
    }))
    t.equal((await at.reconcile(job)).error().code, 'effect_refused')
    await at.free(job)
  }
  must(await at.consent())
  await refused(await at.approved(), 0)
})

t.test('a publication whose run died behind the proof that its next creation never left goes on with that', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  await diesUnsent(at, job, 4)
  must(await at.run(['goal', 'add', 'recovered']))
  t.hasStrict(at.job(job), {
    state: 'blocked', reason: 'interrupted_before_contact', contacted: 3, created: 3,
    reserved: true,
  })
  t.equal((await wayOf(at, job)).command, `sallyport codehost run ${job} --resume`)
  must(await at.run(['codehost', 'resume', job]))
  t.equal(at.job(job).state, 'succeeded')
  t.equal(at.posts().length, 6)
})

t.test('a resume that is stopped before it looked at what a dead run made takes no proof away: the next one sends', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  await killedAt(at, 'run', job, 'codehost.produced')
  must(await at.run(['goal', 'add', 'recovered']))
  const stop = new AbortController()
  const ran = await at.run(['codehost', 'resume', job, '--json'], {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.claimed') stop.abort()
    },
  })
  t.equal(ran.error().code, 'codehost_not_sent')
  t.hasStrict(at.job(job), {
    state: 'blocked', reason: 'interrupted_after_spawn', contacted: 0, reserved: true,
  })
  const goesOn = async (how: string): Promise<void> => {
    t.hasStrict(await at.json(['codehost', 'job', job]), {
      way_on: { command: `sallyport codehost run ${job} --resume`, for_good: false },
    }, how)
    t.not((await at.json(['codehost', 'connections']))[0].occupied_for_good, true, how)
  }
  await goesOn('now')
  await at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), reason: 'run_cancelled' }))
  await goesOn('as an earlier version has left it')
  must(await send(at, { job, digest: at.job(job).preview_sha256 }))
  t.equal(at.job(job).state, 'succeeded')
  t.equal(at.posts().length, 6)
})

/** What was given up is told so; the line that is named closes it, and none sends the rest. */
const isGivenUp = async (
  t: Test, at: Publishing, job: string, how: string, sent = 3,
): Promise<void> => {
  const posts = at.posts().length
  t.hasStrict(at.job(job), {
    state: 'blocked', reason: 'cancelled_by_owner', contacted: sent, created: sent, reserved: true,
  }, how)
  const { command } = await wayOf(at, job)
  t.match(command, `sallyport codehost close-capacity ${job} `, how)
  const back = (await at.reconcile(job)).error()
  t.equal(back.code, 'nothing_to_reconcile', how)
  t.notMatch(back.hint, '--resume', how)
  const resumed = (await at.run(['codehost', 'resume', job, '--json'])).error()
  t.equal(resumed.code, 'job_state', how)
  t.match(resumed.hint, `\`${command}\``, how)
  must(await at.run(command.split(' ').slice(1), {
    terminal: { stdin: true, stdout: true, stderr: true }, answers: [true],
  }))
  t.equal(at.connection().active_job_id, null, how)
  t.equal(at.posts().length, posts, how)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, `${how}: ${check.stderr}`)
}

const cancels = [
  ['codehost cancel', (_at: Publishing, job: string) => ['codehost', 'cancel', job]],
  ['task cancel', (at: Publishing, job: string) => ['task', 'cancel', at.job(job).task_id ?? '']],
] as const

t.test('C-018 C-022 a publication that was sent in part and is given up behind a dead resume that sent nothing is given up, and what was made can be proved', async (t) => {
  const at = await publishing(t)
  for (const [verb, line] of cancels) {
    for (const step of ['codehost.claimed', 'codehost.reserved', 'codehost.post_4_of_6']) {
      const job = await partly(at)
      await killedAt(at, 'resume', job, step)
      must(await at.run([...line(at, job)]))
      await isGivenUp(t, at, job, `${verb} behind ${step}`)
    }
  }
})

t.test('C-018 C-022 a publication that was sent in part and is given up while its resume has sent nothing is given up', async (t) => {
  const at = await publishing(t)
  for (const [verb, line] of cancels) {
    for (const step of ['codehost.claimed', 'codehost.reserved', 'codehost.post_4_of_6']) {
      const job = await partly(at)
      const ran = await at.run(['codehost', 'resume', job, '--json'], {
        at: async (seen) => {
          if (seen === step) must(await at.run([...line(at, job)]))
        },
      })
      t.match(ran.error().hint, `codehost close-capacity ${job} `, `${verb} at ${step}`)
      await isGivenUp(t, at, job, `${verb} at ${step}`)
    }
  }
})

t.test('C-018 C-022 a publication that is given up behind a run that died in its local work is not told to go on', async (t) => {
  const at = await publishing(t)
  const given = async (job: string, how: string): Promise<void> => {
    t.hasStrict(at.job(job), {
      state: 'blocked', reason: 'cancelled_by_owner', contacted: 0, reserved: true,
    }, how)
    t.match((await wayOf(at, job)).command, `codehost close-capacity ${job} `, how)
    await isGivenUp(t, at, job, how, 0)
  }
  const dead = await at.approvedPublication()
  await killedAt(at, 'run', dead, 'codehost.produced')
  must(await at.run(['codehost', 'cancel', dead]))
  await given(dead, 'dead')
  const live = await at.approvedPublication()
  await killedAt(at, 'run', live, 'codehost.produced')
  must(await at.run(['goal', 'add', 'recovered']))
  await at.run(['codehost', 'resume', live, '--json'], {
    at: async (step) => {
      if (step === 'codehost.claimed') must(await at.run(['codehost', 'cancel', live]))
    },
  })
  await given(live, 'live')
})

t.test('C-022 what is found of a publication that was given up while it sent is not told to go on', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 2, times: 1 })
  await at.runJob(job, {
    at: async (step) => {
      if (step === 'codehost.post_3_of_6') return
      if (step !== 'codehost.replied#3' && step !== 'codehost.charge_known') return
      if (at.task(at.job(job).task_id ?? '')?.cancel_requested_at !== null) return
      must(await at.run(['codehost', 'cancel', job]))
    },
  })
  at.sandbox.faults.clear()
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', contacted: 3, created: 2 })
  const found = (await at.reconcile(job)).error()
  t.equal(found.code, 'codehost_incomplete')
  t.notMatch(found.hint, '--resume')
  await isGivenUp(t, at, job, 'found')
})
