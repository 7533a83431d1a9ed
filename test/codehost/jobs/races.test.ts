/** Taken back while a job runs: before its first byte nothing leaves, behind it nothing is lost. */
import type { ChildProcess } from 'node:child_process'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import type { Tx } from '../../../src/state/types.js'
import { gate } from '../../support/gate.js'
import { failure, must } from '../../support/must.js'
import { takenForDead } from '../../support/taken-for-dead.js'
import { until } from '../../support/until.js'
import { publishing } from '../../support/codehost/publishing.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

type Act = (at: Working, job: string) => Promise<unknown>

const acts: Readonly<Record<string, Act>> = {
  'codehost revoke': async (at) => must(await at.run(['codehost', 'revoke', at.id])),
  'codehost mode': async (at) => must(await at.run(['codehost', 'mode', at.id, 'reconcile_only'])),
  'policy revoke': async (at) => must(await at.run(['policy', 'revoke'])),
  logout: async (at) => must(await at.run(['logout'])),
  'codehost cancel': async (at, job) => must(await at.run(['codehost', 'cancel', job])),
}

/** Each moment at which it is asked, once with each act at the last one. */
const before: readonly (readonly [string, string])[] = [
  ['preflight.before_dial', 'codehost revoke'],
  ['preflight.before_dial', 'codehost cancel'],
  ['codehost.claimed', 'policy revoke'],
  ['codehost.before_resolve', 'codehost mode'],
  ['codehost.before_dial', 'codehost revoke'],
  ['codehost.contact_begin', 'logout'],
  ['codehost.contact_intent', 'policy revoke'],
  ...Object.keys(acts).map((act) => ['codehost.before_first_byte', act] as const),
]

for (const [step, name] of before) {
  t.test(`C-011 C-012 C-016 C-215 ${name} at ${step}: no creation leaves, and the connection is free`, async (t) => {
    const at = await working(t)
    const job = await at.approved()
    let done = false
    const ran = await at.runJob(job, {
      at: async (announced) => {
        if (announced !== step || done) return
        done = true
        await acts[name]?.(at, job)
      },
    })
    t.ok(done, 'it happened')
    t.not(ran.status, 0)
    t.equal(at.posts().length, 0, 'nothing was created')
    t.equal(at.connection().active_job_id, null, 'proof that nothing was sent frees it')
    const row = at.job(job)
    t.hasStrict(row, { contacted: 0, created: 0, reserved: false })
    t.ok(['approved', 'blocked', 'cancelled'].includes(row.state), row.state)
    t.equal(row.state === 'cancelled', name === 'codehost cancel')
  })
}

/** Rows of a run that are another's, or no run's any more, and how each is told. */
const lost: Readonly<Record<string, (at: Working, job: Job, task: Task) => (tx: Tx) => void>> = {
  job_not_running: (_, job) => (tx) =>
    tx.put(jobCollection, job.job_id, { ...job, attempt: job.attempt + 1 }),
  reservation_lost: (at) => (tx) =>
    tx.put(connectionCollection, at.id, { ...at.connection(), active_job_id: 'job_x' }),
  task_not_running: (_at, _job, task) => (tx) =>
    tx.put(collections.openTasks, task.task_id, { ...task, state: 'queued' }),
  cancel_requested: (_at, _job, task) => (tx) =>
    tx.put(collections.openTasks, task.task_id, { ...task, cancel_requested_at: task.created_at }),
  lease_lost: (_at, _job, task) => (tx) => tx.put(collections.openTasks, task.task_id, {
    ...task, lease: task.lease && { ...task.lease, holder: 'op_x' },
  }),
  deadline_passed: (_at, _job, task) => (tx) =>
    tx.put(collections.openTasks, task.task_id, { ...task, deadline_at: task.created_at }),
}

for (const [reason, alter] of Object.entries(lost)) {
  t.test(`C-011 C-012 ${reason} at the last question of a run: no creation leaves`, async (t) => {
    const at = await working(t)
    const job = await at.approved()
    let done = false
    const ran = await at.runJob(job, {
      at: async (step) => {
        if (step !== 'codehost.before_first_byte' || done) return
        done = true
        const row = at.job(job)
        const task = at.task(row.task_id ?? '')
        if (task === undefined) throw new Error('it has no task')
        await at.transact(alter(at, row, task))
      },
    })
    t.ok(done)
    t.match(ran.stderr, `"${reason}"`)
    t.equal(at.posts().length, 0)
  })
}

for (const name of ['codehost revoke', 'codehost mode', 'policy revoke', 'codehost cancel']) {
  t.test(`C-015 C-017 C-018 C-108 ${name} behind the last byte: what was created stays known, and is read back`, async (t) => {
    const at = await working(t)
    const job = await at.approved()
    let replied = 0
    const ran = await at.runJob(job, {
      at: async (step) => {
        if (step === 'codehost.replied' && (replied += 1) === 1) await acts[name]?.(at, job)
      },
    })
    t.equal(failure(ran).code, 'unknown_external_effect', ran.stderr)
    t.hasStrict(at.job(job), {
      state: 'unknown_external_effect', contacted: 1, created: 1, reserved: true, remote: { id: 1 },
    })
    t.equal(at.connection().active_job_id, job, 'it stays occupied')
    t.hasStrict((await at.json(['codehost', 'jobs']))[0], { state: 'unknown_external_effect' })
    t.equal((await at.run(['codehost', 'cancel', job, '--json'])).error().code, 'effect_stands')
    t.equal((await at.runJob(job)).error().code, 'job_state', 'it is never run again')
    must(await at.reconcile(job))
    t.hasStrict(at.job(job), { state: 'succeeded', reserved: false })
    t.equal(at.connection().active_job_id, null)
    t.equal(at.posts().length, 1)
    t.strictSame([...new Set(at.requests().map(({ method }) => method))], ['GET', 'POST'])
  })
}

t.test('C-018 a creation that was sent and not answered is shown as what may have happened, before a revoke and behind it, here and in another process', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_hang_before_headers', { service: 'codehost', times: 1 })
  let child: ChildProcess | undefined
  const running = at.place.spawn(['codehost', 'run', job, '--json'], {
    coverage: false, onChild: (process) => {
      child = process
    },
  })
  await until('it was sent', () => at.posts().length === 1)
  const shown = async (state: string): Promise<void> => {
    const wanted = { state, reserved: true, effects: { planned: 1, contacted: 1, created: 0 } }
    t.hasStrict(await at.json(['codehost', 'job', job]), wanted)
    t.hasStrict((await at.json(['codehost', 'jobs']))[0], wanted)
    const apart = await at.place.spawn(['codehost', 'jobs', '--json'], { coverage: false })
    t.hasStrict(must(apart).json()[0], wanted, 'in another process')
    t.match((await at.run(['codehost', 'job', job])).stdout, '1 planned, 1 may have happened')
    t.hasStrict((await at.json(['codehost', 'connections']))[0], { active_job_id: job })
  }
  await shown('running')
  must(await at.run(['codehost', 'revoke', at.id]))
  await shown('running')
  child?.kill('SIGKILL')
  await running
  at.sandbox.faults.clear()
  await shown('unknown_external_effect')
  must(await at.run(['goal', 'add', 'whoever writes next']))
  await shown('unknown_external_effect')
})

t.test('C-025 what is not as it was between the proof and the end counts for neither job nor task: the owner of the goal, its revision and state, the session', async (t) => {
  const goalPut = (change: object) => async (at: Working, job: string) => {
    const goal = at.view().get(collections.goals, at.job(job).goal_id)
    if (goal === undefined) throw new Error('it has a goal')
    await at.transact((tx) => tx.put(collections.goals, goal.goal_id, { ...goal, ...change }))
  }
  const taskPut = (change: object) => async (at: Working, job: string) => {
    const task = at.task(at.job(job).task_id ?? '')
    if (task === undefined) throw new Error('it has a task')
    await at.transact((tx) => tx.put(collections.openTasks, task.task_id, { ...task, ...change }))
  }
  type Change = (at: Working, job: string) => Promise<unknown>
  const changes: readonly (readonly [string, Change, string])[] = [
    ['the goal is another’s', goalPut({ owner: 'prn_other' }), 'goal_foreign'],
    ['the goal has another revision', goalPut({ revision: 99 }), 'goal_changed'],
    ['the goal is closed', goalPut({ state: 'closed' }), 'goal_not_open'],
    ['the session has ended', async (at) => must(await at.run(['logout'])), 'session_not_live'],
  ]
  for (const [what, change, reason] of changes) {
    const at = await working(t)
    const job = await at.approved()
    await at.runJob(job, {
      at: async (step) => {
        if (step === 'codehost.sealed') await change(at, job)
      },
    })
    t.hasStrict(at.job(job), {
      state: 'blocked', reason, created: 1, reserved: true,
    }, `run: ${what}`)
    t.equal(at.task(at.job(job).task_id ?? '')?.state, 'blocked', `run: ${what}`)
    const other = await working(t)
    const later = await other.approved()
    await other.runJob(later, {
      at: (step) => {
        if (step === 'codehost.created') {
          other.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
        }
      },
    })
    other.sandbox.faults.clear()
    const back = await other.reconcile(later, {
      at: async (step) => {
        if (step === 'reconcile.sealed') await change(other, later)
      },
    })
    t.not(back.status, 0, `reconcile: ${what}`)
    const row = other.job(later)
    t.not(row.state, 'succeeded', `reconcile: ${what}`)
    t.equal(row.reserved, true, `reconcile: ${what}`)
    t.equal(other.task(row.task_id ?? '')?.state, 'blocked', `reconcile: ${what}`)
  }
  for (const [what, change] of [
    ['the task has another first session', taskPut({ original_root: 'root_x' })],
    ['another session has taken the task over', taskPut({ current_root: 'root_x' })],
    ['the task is another’s', taskPut({ owner: 'prn_other' })],
  ] as const) {
    const at = await working(t)
    const job = await at.approved()
    at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1, after: 1 })
    await at.runJob(job)
    at.sandbox.faults.clear()
    must(await at.reconcile(job))
    await change(at, job)
    const adopted = await at.run(['codehost', 'adopt', job, '--json'])
    t.hasStrict(adopted.error(), { code: 'codehost_not_adopted' }, what)
    t.match(String(adopted.error().details.reasons), 'task_mismatch', what)
    t.equal(at.task(at.job(job).task_id ?? '')?.state, 'blocked', what)
  }
})

t.test('C-025 C-026 what changes before the end is written leaves an explicit block and keeps the proof', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const goal = at.job(job).goal_id
  const ran = await at.runJob(job, {
    at: async (step) => {
      if (step === 'codehost.sealed') {
        must(await at.run(['goal', 'update', goal, '--title', 'Otherwise']))
      }
    },
  })
  t.hasStrict(ran.error(), { code: 'codehost_incomplete', reason: 'goal_changed' })
  const row = at.job(job)
  t.hasStrict(row, { state: 'blocked', reason: 'goal_changed', reserved: true, created: 1 })
  t.type(row.receipt_id, 'string')
  t.equal(at.task(row.task_id ?? '')?.state, 'blocked')
  const { history } = await at.json(['codehost', 'job', job, '--history', 'reads'])
  t.equal(history.entries, 1, 'the sealed readback is kept')
  t.equal((await at.reconcile(job)).error().reason, 'goal_changed', 'and does not mend it')
  t.equal((await at.run(['codehost', 'adopt', job, '--json'])).error().code, 'codehost_not_adopted')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('C-105 C-167 a session that ended behind the last byte leaves the job unknown for good, and that is said', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  let replied = 0
  await at.runJob(job, {
    at: async (step) => {
      if (step === 'codehost.replied' && (replied += 1) === 1) await acts['logout']?.(at, job)
    },
  })
  must(await at.run(['login']))
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', created: 1 })
  const before = at.requests().length
  const ran = await at.reconcile(job)
  t.equal(ran.error().code, 'root_replaced')
  t.match((await at.run(['codehost', 'reconcile', job, '--expected-read-revision', '2'])).stderr,
    /next: .*codehost connect/)
  t.equal(at.requests().length, before)
  t.equal((await at.json(['codehost', 'connections']))[0].occupied_for_good, true)
})

/** A run that waits at a step until it is let go. */
const heldAt = async (at: Working, job: string, where: string, nth = 1) => {
  const [reached, go] = [gate(), gate()]
  let seen = 0
  const ended = at.runJob(job, {
    at: async (step) => {
      if (step !== where || (seen += 1) !== nth) return
      reached.open()
      await go.passed
    },
  })
  await reached.passed
  return {
    end: () => {
      go.open()
      return ended
    },
  }
}

t.test('C-018 C-036 a run that was taken for dead behind its mark frees nothing, whatever it knows of its own creation', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const stop = new AbortController()
  const ran = await at.runJob(job, {
    stop: stop.signal,
    at: async (step) => {
      if (step !== 'codehost.contact_intent') return
      await takenForDead(at)
      stop.abort()
    },
  })
  t.equal(at.posts().length, 0)
  t.equal(ran.status, 7, ran.stderr)
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', contacted: 1, reserved: true })
  t.equal(at.connection().active_job_id, job)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('C-018 C-036 a run that was taken for dead before its mark ends nothing of the run that has gone on since, whose creation is on its way', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const first = await heldAt(at, job, 'codehost.before_dial')
  await takenForDead(at)
  t.hasStrict(at.job(job), { state: 'blocked', reserved: false })
  let ended = false
  must(await at.run(['codehost', 'resume', job, '--json'], {
    at: async (step) => {
      if (step !== 'codehost.before_first_byte' || ended) return
      ended = true
      t.equal(failure(await first.end()).code, 'unknown_external_effect')
      t.hasStrict(at.job(job), { state: 'running', attempt: 2, contacted: 1, reserved: true })
      t.equal(at.connection().active_job_id, job)
      t.equal(at.task(at.job(job).task_id ?? '')?.state, 'running')
    },
  }))
  t.hasStrict(at.job(job), { state: 'succeeded', contacted: 1, created: 1 })
  t.equal(at.posts().length, 1)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('C-018 C-036 a publication that was taken for dead while a reply was on its way sends and ends nothing once another run has gone on', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const first = await heldAt(at, job, 'codehost.replied', 3)
  await takenForDead(at)
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', contacted: 3, created: 2 })
  t.equal(failure(await at.reconcile(job)).code, 'codehost_incomplete')
  let ended = false
  must(await at.run(['codehost', 'resume', job, '--json'], {
    at: async (step) => {
      if (step !== 'codehost.before_first_byte' || ended) return
      ended = true
      await first.end()
      t.hasStrict(at.job(job), { state: 'running', attempt: 2, contacted: 4, reserved: true })
      t.equal(at.task(at.job(job).task_id ?? '')?.state, 'running')
    },
  }))
  t.hasStrict(at.job(job), { state: 'succeeded', contacted: 6, created: 6 })
  t.equal(at.posts().length, 6)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})
