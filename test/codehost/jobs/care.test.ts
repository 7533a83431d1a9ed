/** Jobs in a state that is looked after: copied, restored, unable to write, checked. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { carryJobs } from '../../../src/codehost/jobs/carry.js'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { receiptCollection } from '../../../src/codehost/jobs/receipt.js'
import { diesUnsent } from '../../support/codehost/dies-unsent.js'
import { must } from '../../support/must.js'
import { newestLog, zeroBlock } from '../../support/state/forge.js'
import { holdLock } from '../../support/state/hold-lock.js'
import { recordsOf } from '../../support/state/places-of-damage.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

t.test('C-045 a copy that is put back over later contacts knows that they may have happened, and sends nothing again', async (t) => {
  const at = await working(t)
  const before = await at.approved('Before')
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(before)
  at.sandbox.faults.clear()
  t.equal(at.job(before).state, 'unknown_external_effect')
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  const row = at.job(before)
  t.hasStrict(row, {
    state: 'unknown_external_effect', reason: 'restored_over_later_state', contacted: 1,
    restored: true,
  })
  t.equal(at.connection().active_job_id, before, 'its connection stays occupied')
  const { history } = await at.json(['codehost', 'job', before, '--history', 'effects'])
  t.equal(history.entries, 3, 'what the later state wrote down is carried over')
  for (const verb of ['run', 'resume']) {
    t.equal((await at.run(['codehost', verb, before, '--json'])).error().code, 'job_state')
  }
  t.equal(at.posts().length, 1)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('a job that was prepared and sent after the copy is known in it, and keeps its connection', async (t) => {
  const at = await working(t)
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  const later = await at.approved('Later')
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(later)
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  t.hasStrict(at.job(later), { state: 'unknown_external_effect', restored: true })
  t.equal(at.connection().active_job_id, later)
  t.equal((await at.json(['codehost', 'connections']))[0].occupied_for_good, true)
})

t.test('C-045 a job that was proved since the copy stays proved in it, with its receipt and a free connection', async (t) => {
  const at = await working(t)
  const unknown = await at.approved('Unknown')
  await at.runJob(unknown, {
    at: (step) => {
      if (step !== 'codehost.created') return
      at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
    },
  })
  t.equal(at.job(unknown).state, 'unknown_external_effect')
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  const then = at.view()
  must(await at.reconcile(unknown))
  const alone = join(at.place.dir, 'alone')
  must(await at.run(['state', 'backup', alone]))
  must(await at.run(['state', 'restore', kept, '--yes']))
  t.hasStrict(at.job(unknown), { state: 'succeeded', reserved: false, restored: true })
  t.equal(at.connection().active_job_id, null, 'no reservation came since')
  must(await at.run(['state', 'restore', alone, '--yes']))
  must(await at.run(['login']))
  must(await at.consent())
  must(await at.runJob(await at.approved('Another')))
  const later = await at.approved('Later')
  must(await at.runJob(later))
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  for (const job of [unknown, later]) {
    t.hasStrict(at.job(job), { state: 'succeeded', reserved: false, restored: true })
  }
  t.equal(at.connection().active_job_id, null)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
  t.equal(at.posts().length, 3)
  await at.transact((tx) => carryJobs(tx, then))
  t.equal(at.job(unknown).state, 'succeeded',
    'what an older state thought of it takes nothing back')
})

t.test('a job that waits in a copy whose later records are gone may have been sent: no word says that it was not, and it never goes on', async (t) => {
  const at = await working(t)
  const [kept, sent, waits] = [join(at.place.dir, 'kept'), await at.approved(), await at.prepare()]
  must(await at.run(['state', 'backup', kept]))
  must(await at.runJob(sent))
  rmSync(at.place.stateDir, { recursive: true })
  const restored = async (round: string): Promise<void> => {
    must(await at.run(['state', 'restore', kept, '--yes']))
    must(await at.run(['login']))
    const check = await at.run(['state', 'check'])
    t.equal(check.status, 0, round + check.stdout + check.stderr)
    for (const job of [sent, waits]) {
      t.hasStrict(at.job(job), { reason: 'records_unread', reserved: false }, round)
      const { text } = (await at.json(['codehost', 'job', job])).way_on
      t.match(text, /may have been sent.+Look on the host/, round)
      for (const line of [['preview', job], ['reconcile', job, '--expected-read-revision', '1']]) {
        const { code, hint } = (await at.run(['codehost', ...line, '--json'])).error()
        t.equal(code, 'root_replaced', round)
        const isOver = at.job(job).state === 'cancelled'
        t.match(hint, isOver ? `codehost jobs ${job}` : /may have been sent.+Look on the host/,
          `${round}: ${line[0]}`)
        t.notMatch(hint, /another key/, `${round}: ${line[0]}`)
      }
      for (const verb of ['run', 'resume']) {
        const ran = await at.run(['codehost', verb, job, '--json'])
        t.hasStrict(ran.error(), { code: 'job_state' }, `${round}: ${verb}`)
      }
    }
    t.notMatch(must(await at.run(['codehost', 'jobs', '--json'])).stdout, /othing of it was sent/)
    t.match(must(await at.run(['codehost', 'jobs', sent])).stdout, 'what was sent are lost', round)
    const exported = await at.run(['receipt', 'export', sent, '--json'])
    t.hasStrict(exported.error(), { code: 'no_receipt', reason: 'records_unread' }, round)
  }
  await restored('where the state is gone')
  await restored('over what that restore left')
  for (const job of [sent, waits]) {
    const { command } = (await at.json(['codehost', 'job', job])).way_on
    t.equal(command, `sallyport codehost cancel ${job}`)
    t.match(must(await at.run(['codehost', 'cancel', job])).stdout, /may have been sent/)
  }
  await restored('where they were given up')
  t.strictSame([sent, waits].map((job) => at.job(job).state), ['cancelled', 'cancelled'])
  t.equal(at.posts().length, 1)
})

t.test('C-045 a run whose mark is in a record that nobody can read keeps its connection: that nothing was sent is not proved', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const killed = await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.contact_intent' },
  })
  t.equal(killed.status, 137, killed.stderr)
  const log = newestLog(at.place.stateDir)
  zeroBlock(log, (recordsOf(log).at(-1)?.start ?? 0) + 30)
  must(await at.run(['state', 'repair']))
  must(await at.run(['login']))
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', contacted: 0, reserved: true })
  t.hasStrict(at.task(at.job(job).task_id ?? ''), {
    state: 'blocked', blocked: { kind: 'external_effect' },
  })
  t.equal(at.connection().active_job_id, job, 'its capacity is not given back')
  t.match((await at.json(['codehost', 'job', job])).way_on.text, /Look on the host for it/)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('nor is it by an earlier run that proved so: the mark of the later one may be what is lost', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await diesUnsent(at, job)
  must(await at.run(['goal', 'add', 'recovered']))
  const killed = await at.place.spawn(['codehost', 'resume', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.contact_intent' },
  })
  t.equal(killed.status, 137, killed.stderr)
  const log = newestLog(at.place.stateDir)
  zeroBlock(log, (recordsOf(log).at(-1)?.start ?? 0) + 30)
  must(await at.run(['state', 'repair']))
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', attempt: 2, reserved: true })
  t.equal(at.connection().active_job_id, job)
})

t.test('a key whose job may be among lost records is told with the host to look at first', async (t) => {
  const at = await working(t)
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  const prepare = () => at.run(['codehost', 'prepare', 'issue', '--connection', at.id, '--title',
    'One', '--body-file', at.place.write('b.md', 'MARK-text'), '--json', '--idempotency-key',
    '0190f0c0-0000-4000-8000-000000000001'])
  const { id } = must(await prepare()).json()
  must(await at.approve(id))
  must(await at.runJob(id))
  rmSync(at.place.stateDir, { recursive: true })
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  must(await at.consent())
  const { code, hint } = (await prepare()).error()
  t.equal(code, 'idempotency_key_spent')
  t.match(hint, /may have been sent\. First look for it there/)
})

t.test('C-036 of two histories that went on apart neither frees what the other occupies', async (t) => {
  const lost = async (at: Working): Promise<string> => {
    const job = await at.approved()
    at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
    await at.runJob(job)
    at.sandbox.faults.clear()
    t.hasStrict(at.job(job), { state: 'unknown_external_effect', reserved: true })
    return job
  }
  const others: Readonly<Record<string, (at: Working) => Promise<unknown>>> = {
    'under the same fence another job': lost,
    'under a later fence none': async (at) => {
      for (let n = 0; n < 2; n += 1) must(await at.runJob(await at.approved()))
    },
    'under a later fence another job': async (at) => {
      must(await at.runJob(await at.approved()))
      await lost(at)
    },
  }
  for (const [what, goOn] of Object.entries(others)) {
    const at = await working(t)
    const { place: { dir, stateDir, configDir } } = at
    const [kept, state, config] = ['kept', 'state-before', 'config-before'].map((n) => join(dir, n))
    cpSync(stateDir, state ?? '', { recursive: true })
    cpSync(configDir, config ?? '', { recursive: true })
    const mine = await lost(at)
    must(await at.run(['state', 'backup', kept ?? '']))
    for (const [from, to] of [[state, stateDir], [config, configDir]] as const) {
      rmSync(to, { recursive: true })
      cpSync(from ?? '', to, { recursive: true })
    }
    await goOn(at)
    must(await at.run(['state', 'restore', kept ?? '', '--yes']))
    must(await at.run(['login']))
    const occupant = at.connection().active_job_id
    t.not(occupant, null, what)
    if (!what.endsWith('later fence another job')) t.equal(occupant, mine, what)
    t.equal((await at.consent()).error().code, 'capacity_reserved', what)
    t.hasStrict(at.job(mine), { state: 'unknown_external_effect', reserved: true }, what)
    const check = await at.run(['state', 'check'])
    t.equal(check.status, 0, what + check.stdout + check.stderr)
  }
})

t.test('what came of a creation and cannot be written down is told as not recorded, never as not sent', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  let release: (() => void) | undefined
  const ran = await at.run(['codehost', 'run', job, '--json', '--wait', '0'], {
    at: (step) => {
      if (step !== 'codehost.replied' || release !== undefined) return
      release = holdLock(at)
      at.clock.advance(120_000)
    },
  })
  release?.()
  t.equal(ran.status, 7)
  t.hasStrict(ran.error(), { reason: 'outcome_not_recorded' })
  t.equal(ran.error().details.job_id, job)
  t.equal(at.posts().length, 1)
  must(await at.run(['codehost', 'cancel', await at.prepare()]))
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', reserved: true, remote: null })
})

t.test('a mark of which nothing left, and whose outcome could not be written down at once, is closed behind it, and the way on is no circle', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  let release: (() => void) | undefined
  const ran = await at.run(['codehost', 'run', job, '--json', '--wait', '0'], {
    at: (step) => {
      if (step === 'codehost.charge_known') release?.()
      if (step !== 'codehost.contact_intent') return
      release = holdLock(at)
      at.clock.advance(120_000)
    },
  })
  t.equal(at.posts().length, 0)
  t.not(ran.status, 0, ran.stderr)
  const { history } = await at.json(['codehost', 'job', job, '--history', 'effects'])
  t.match(history.lines.at(-1), '"outcome":"unsent"')
  t.hasStrict(at.job(job), { state: 'blocked', contacted: 0, created: 0, reserved: false })
  t.equal(at.connection().active_job_id, null, 'nothing may have happened: it is free')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('a state whose jobs contradict ledger, connection, task or receipt is not sound', async (t) => {
  const at = await working(t)
  const done = await at.approved()
  must(await at.runJob(done))
  const row = at.job(done)
  const codes = async (): Promise<string[]> => {
    const ran = await at.run(['state', 'check', '--json'])
    return [...`${ran.stdout}${ran.stderr}`.matchAll(/codehost_[a-z_]+/g)].map(([code]) => code)
  }
  t.strictSame(await codes(), [])
  const altered: readonly (readonly [Partial<Job>, string])[] = [
    [{ contacted: 2 }, 'codehost_job_ledger'], [{ reserved: true }, 'codehost_job_capacity'],
    [{ authority_sha256: '0'.repeat(64) }, 'codehost_job_authority'],
    [{ plan: { ...row.plan, sha256: '0'.repeat(64) } }, 'codehost_job_plan'],
    [{ capability: 'engineering.repo-publication.v1' }, 'codehost_job_kind'],
    [{ state: 'blocked' }, 'codehost_job_task'], [{ approval: null }, 'codehost_job_approval'],
    [{ receipt_id: null }, 'codehost_job_receipt'],
  ]
  for (const [change, code] of altered) {
    await at.transact((tx) => tx.put(jobCollection, done, { ...row, ...change }))
    t.ok((await codes()).includes(code), code)
  }
  await at.transact((tx) => tx.put(jobCollection, done, row))
  const receipt = at.view().get(receiptCollection, row.receipt_id ?? '')
  if (receipt === undefined) throw new Error('no receipt')
  await at.transact((tx) => tx.put(receiptCollection, receipt.readback_id, {
    ...receipt, receipt: { ...receipt.receipt, count: 9 },
  }))
  t.ok((await codes()).includes('codehost_receipt'))
  await at.transact((tx) => {
    tx.put(receiptCollection, receipt.readback_id, receipt)
    tx.put(connectionCollection, at.id, {
      ...at.connection(), active_job_id: 'job_x', active_fence: 9,
    })
  })
  t.ok((await codes()).includes('codehost_occupied_by_none'))
})

t.test('status tells of a job that waits for a person before anything else', async (t) => {
  const at = await working(t)
  const consents = '1 consent to write is in force. See: `sallyport codehost connections --grants`'
  t.strictSame((await at.json(['status'])).codehost,
    { status: 'configured', reason_code: null, reason: consents })
  const job = await at.approved()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(job)
  t.hasStrict((await at.json(['status'])).codehost,
    { status: 'blocked', reason_code: 'unknown_external_effect' })
  t.match(must(await at.run(['doctor'])).stdout, /1 job whose effects nobody read back occupies/)
})

t.test('status tells that a consent to write stands, also where it was given behind a revoke', async (t) => {
  const at = await working(t)
  const told = async () => (await at.json(['status'])).codehost
  t.match((await told()).reason, /^1 consent to write is in force/)
  must(await at.run(['policy', 'revoke']))
  t.strictSame(await told(), { status: 'configured', reason_code: null })
  await at.consent()
  t.match((await told()).reason, /^1 consent to write is in force/)
  const status = must(await at.run(['status'])).stdout
  t.match(status, /no model is asked until a route is set up anew/)
  t.notMatch(status, /contacts anybody/)
  t.match(must(await at.run(['policy', 'show'])).stdout, 'codehost connections --grants')
})
