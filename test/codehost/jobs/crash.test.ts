/** The process is killed at each step that it announces: no effect is sent twice, ever. */
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { must } from '../../support/must.js'
import { diesUnsent } from '../../support/codehost/dies-unsent.js'
import { working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

/** Each step, whether the creation is marked by then, and whether its number is known. */
const steps: readonly (readonly [string, 'clean' | 'marked' | 'numbered' | 'done'])[] = [
  ['preflight.before_first_byte', 'clean'],
  ['codehost.claimed', 'clean'],
  ['codehost.reserved', 'clean'],
  ['codehost.before_dial', 'clean'],
  ['codehost.contact_begin', 'clean'],
  ['codehost.contact_intent', 'marked'],
  ['codehost.before_first_byte', 'marked'],
  ['codehost.replied', 'marked'],
  ['codehost.created', 'numbered'],
  ['codehost.replied#2', 'numbered'],
  ['codehost.sealed', 'numbered'],
  ['codehost.finished', 'done'],
]

t.test('a killed run leaves a job that nobody knows of occupied, frees one that sent nothing, and no creation is sent twice', async (t) => {
  const at = await working(t)
  const free = () => at.transact((tx) =>
    tx.put(connectionCollection, at.id, { ...at.connection(), active_job_id: null }))
  for (const [step, kind] of steps) {
    const job = await at.approved(`At ${step}`)
    const posts = at.posts().length
    const killed = await at.place.spawn(['codehost', 'run', job, '--json'], {
      entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
    })
    t.not(killed.status, 0, step)
    const sent = at.posts().length - posts
    t.ok(sent <= 1, step)
    if (kind === 'clean') t.equal(sent, 0, step)
    // The next command that changes something resolves what the dead one left.
    const other = await at.prepare('Another')
    must(await at.run(['codehost', 'cancel', other]))
    const row = at.job(job)
    if (kind === 'clean') {
      t.hasStrict(row, { contacted: 0, reserved: false }, step)
      t.equal(at.connection().active_job_id, null, step)
      const verb = row.state === 'approved' ? 'run' : 'resume'
      must(await at.run(['codehost', verb, job]))
    } else if (kind === 'done') {
      t.hasStrict(row, { state: 'succeeded', reserved: false }, step)
    } else {
      t.hasStrict(row, { state: 'unknown_external_effect', contacted: 1, reserved: true }, step)
      t.equal(at.connection().active_job_id, job, step)
      t.equal(at.task(row.task_id ?? '')?.state, 'blocked', step)
      for (const verb of ['run', 'resume']) {
        t.equal((await at.run(['codehost', verb, job, '--json'])).error().code, 'job_state', step)
      }
      const back = await at.reconcile(job)
      if (kind === 'numbered') must(back)
      else {
        t.equal(back.error().code, 'remote_id_required', step)
        await free()
      }
    }
    t.ok(at.posts().length - posts <= 1, `${step}: at most once`)
  }
})

t.test('a job that was cut off before it sent anything goes on as its second attempt, under the same approval', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await at.place.spawn(['codehost', 'run', job], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.before_dial' },
  })
  must(await at.run(['codehost', 'resume', job]))
  const row = at.job(job)
  t.hasStrict(row, { state: 'succeeded', attempt: 2 })
  t.hasStrict(at.task(row.task_id ?? ''), { state: 'succeeded', attempt: 2 })
  t.equal(at.posts().length, 1)
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('a run that died behind the proof that its creation never left frees its connection, and goes on', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await diesUnsent(at, job)
  t.hasStrict(at.job(job), { state: 'running', contacted: 0, reserved: true })
  must(await at.run(['goal', 'add', 'recovered']))
  t.hasStrict(at.job(job), {
    state: 'blocked', reason: 'interrupted_before_contact', contacted: 0, reserved: false,
  })
  t.equal(at.connection().active_job_id, null)
  must(await at.run(['codehost', 'resume', job]))
  t.hasStrict(at.job(job), { state: 'succeeded', attempt: 2 })
  t.equal(at.posts().length, 1)
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('a job whose dead run is cancelled before anybody recovered it is cancelled, and its connection free', async (t) => {
  const at = await working(t)
  for (const verb of ['codehost', 'task']) {
    const job = await at.approved(`By ${verb}`)
    await at.place.spawn(['codehost', 'run', job], {
      entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.claimed' },
    })
    t.hasStrict(at.job(job), { state: 'running', reserved: true })
    must(await at.run([verb, 'cancel', verb === 'task' ? at.job(job).task_id ?? '' : job]))
    t.hasStrict(at.job(job), { state: 'cancelled', reserved: false })
    t.equal(at.connection().active_job_id, null)
  }
  t.equal(at.posts().length, 0)
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('a job that is cancelled while its run lives is ended by that run, and by nobody who recovers meanwhile', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const seen: object[] = []
  const ran = await at.runJob(job, {
    at: async (step) => {
      if (step !== 'codehost.claimed') return
      must(await at.run(['task', 'cancel', at.job(job).task_id ?? '']))
      must(await at.run(['goal', 'add', 'meanwhile']))
      const { state, reserved } = at.job(job)
      seen.push({ state, reserved, holder: at.connection().active_job_id })
    },
  })
  t.strictSame(seen, [{ state: 'running', reserved: true, holder: job }])
  t.not(ran.status, 0)
  t.hasStrict(at.job(job), { state: 'cancelled', reserved: false })
  t.equal(at.connection().active_job_id, null)
  t.equal(at.posts().length, 0)
})
