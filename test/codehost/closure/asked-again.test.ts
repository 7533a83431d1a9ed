/** What a closure, a look after it and a kept request ask by themselves, before all else. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createHttpsClient } from '../../../src/net/client.js'
import { codehostBase, type CodehostContext } from '../../../src/codehost/context.js'
import { closeCapacity } from '../../../src/codehost/closure/close.js'
import { closureKinds } from '../../../src/codehost/closure/kinds.js'
import { discardKept, inspectKept } from '../../../src/codehost/closure/look.js'
import { observeClosed } from '../../../src/codehost/closure/observe/observe.js'
import { closeRequestOf } from '../../../src/codehost/jobs/closed/request.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { holdGuard } from '../../../src/state/holds/guard.js'
import { newStop } from '../../../src/governance/stops/act.js'
import { putStop } from '../../../src/state/stop-folder.js'
import type { Loose } from '../../world/place.js'
import { must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'
import { stopsDirOf } from '../../support/stops-dir.js'

/** The code host as a closure asks it in this process; told are each step and each reply. */
const contextOf = (
  at: Closing, step: (name: string) => unknown = () => undefined,
  replied: () => unknown = () => undefined,
): CodehostContext => {
  const client = createHttpsClient({
    clock: at.clock, env: {}, execArgv: [], ca: [at.sandbox.caPem], loopbackOnly: true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  const observer = { at: async (name: string) => { await step(name) } }
  return {
    gov: { ...at.gov, observer: { ...at.gov.observer, ...observer } },
    signal: new AbortController().signal, baseUrl: codehostBase(at.gov),
    client: async () => ({
      request: (asked) => client.request(asked),
      openSession: () => {
        const opened = client.openSession()
        return {
          close: () => opened.close(),
          request: async (asked) => {
            const reply = await opened.request(asked)
            replied()
            return reply
          },
        }
      },
    }),
  }
}

const stop = (at: Closing, job: string): void => putStop(stopsDirOf(at.gov.store), newStop(
  at.clock, { kind: 'principal', target: at.job(job).owner },
  { principal: null, root: null, verb: 'principal disable' }))

const clearStops = (at: Closing): void => {
  const folder = stopsDirOf(at.gov.store)
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
}

const orderOf = (at: Closing, job: string, more: Loose = {}) => ({
  jobId: job, read: closeRequestOf(at.request(job, more), at.job(job).native_kind),
})

t.test('C-239 a stop that nobody has recorded is asked for where a closure begins, also where it was applied before', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Stopped', 'numbered')
  const [order, session] = [orderOf(at, job), at.session()]
  await closeCapacity(contextOf(at), session, order)
  t.equal((await closeCapacity(contextOf(at), session, order)).fresh, false)
  stop(at, job)
  await t.rejects(closeCapacity(contextOf(at), session, order), { code: 'principal_disabled' })
})

t.test('C-239 a stop that nobody has recorded ends a closure whose reads are done', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Stopped', 'numbered')
  const steps: string[] = []
  await t.rejects(closeCapacity(contextOf(at, (name) => {
    steps.push(name)
    if (name === 'closure.staged') stop(at, job)
  }), at.session(), orderOf(at, job)), { code: 'principal_disabled' })
  t.ok(steps.includes('closure.staged'))
  t.equal(at.job(job).reserved, true)
})

t.test('C-239 a stop that nobody has recorded ends a look: before it, behind a reply and before its record', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Looked at', 'numbered')
  must(await at.close(job, at.request(job)))
  const order = {
    jobId: job,
    request: { acknowledged_closure_observation: true as const,
      expected_read_revision: at.connection().revision },
  }
  const steps: string[] = []
  const session = at.session()
  const observe = (when: string, replied?: () => unknown) => observeClosed(contextOf(at, (name) => {
    steps.push(name)
    if (name === when) stop(at, job)
  }, replied), session, order)
  const isRefused = async (asked: Promise<unknown>) =>
    t.rejects(asked, { code: 'principal_disabled' })
  let replies = 0
  await isRefused(observe('', () => {
    if ((replies += 1) === 2) stop(at, job)
  }))
  t.equal(replies, 2)
  t.notOk(steps.includes('observe.sealed'), 'what was read is thrown away')
  clearStops(at)
  await isRefused(observe('observe.sealed'))
  t.ok(steps.includes('observe.sealed'))
  steps.length = 0
  t.strictSame(await at.during(() => isRefused(observe(''))), [], 'nobody is asked')
  t.strictSame(steps, [], 'and nothing is begun')
})

t.test('C-084 a job that cannot be closed is refused without waiting for who closes it', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Held', 'numbered')
  const { limits } = closureKinds[at.job(job).native_kind]
  const guard = await holdGuard(at.gov.store.dir, `close_${job}`)
  const stale = orderOf(at, job, { expected_job_revision: at.job(job).revision + 1 })
  const steps: string[] = []
  await t.rejects(closeCapacity(contextOf(at, (name) => steps.push(name)), at.session(), {
    ...stale, limits: { ...limits, windowMs: 1 },
  }), { code: 'stale_job_revision' })
  t.strictSame(steps, [])
  guard.release()
})

t.test('C-191 who waited for another closure asks again before anything is kept or read', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Waits', 'numbered')
  const guard = await holdGuard(at.gov.store.dir, `close_${job}`)
  const steps: string[] = []
  const left = await at.during(() =>
    t.rejects(closeCapacity(contextOf(at, async (name) => {
      steps.push(name)
      if (name !== 'closure.waits') return
      await at.transact((tx) =>
        tx.put(jobCollection, job, { ...at.job(job), revision: at.job(job).revision + 1 }))
      guard.release()
    }), at.session(), orderOf(at, job)), { code: 'stale_job_revision' }))
  t.strictSame(left, [])
  t.strictSame(steps, ['closure.waits'], 'no request is kept')
})

t.test('a kept request of a job of somebody else is not looked for, whether it is there or not', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Another’s', 'numbered')
  const own = at.session()
  const other = { ...own, principal: { ...own.principal, principal_id: 'prn_other' } }
  for (const ask of [inspectKept, discardKept]) {
    t.throws(() => ask(at.gov, own, { jobId: job }), { code: 'pending_missing' })
    t.throws(() => ask(at.gov, other, { jobId: job }), { code: 'job_not_found' })
  }
})
