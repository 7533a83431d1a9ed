/**
 * What the host has that says the same as what a job sent, and is of another time: made before it,
 * or after it, by a reply to its creation and by every readback.
 */
import t from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import type { HostIssue } from '../../../src/sandbox/codehost/shapes.js'
import type { Kept } from '../../../src/sandbox/codehost/store.js'
import { must } from '../../support/must.js'
import { closing, closingOf, type Closing } from '../../support/codehost/closing.js'
import { publicationClosing } from '../../support/codehost/publication-closing.js'
import { hostMark, working, type Working } from '../../support/codehost/working.js'

const hostOf = ({ sandbox }: Working): Kept => {
  const kept = sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('the sandbox has its repository')
  return kept
}

const second = 1_000
const hostTime = (ms: number): string =>
  new Date(Math.floor(ms / second) * second).toISOString().replace('.000Z', 'Z')

/** The host's own time of what it made last. */
const madeAt = (at: Working): number => Date.parse(hostOf(at).issues.at(-1)?.createdAt ?? '')

const alter = (at: Working, number: number, change: Partial<HostIssue>): void => {
  const { issues } = hostOf(at)
  const found = issues[number - 1]
  if (found === undefined) throw new Error('no such issue')
  issues[number - 1] = { ...found, ...change }
}

/** An issue of the same title and body that somebody else's day has made. */
const plantIssue = (at: Working, createdAt: string, change: Partial<HostIssue> = {}): number => {
  const kept = hostOf(at)
  const number = kept.issues.length + 1
  kept.issues.push({
    id: at.sandbox.codehost.newId(), number, user: at.sandbox.codehost.user('operator'),
    title: 'A title', body: hostMark, state: 'open', comments: 0, createdAt, pull: null, ...change,
  })
  return number
}

/** A job whose creation the host never did, and nobody knows it. */
const unseen = async (at: Closing, job: string): Promise<void> => {
  at.sandbox.faults.set('write_not_done_500', { service: 'codehost', times: 1 })
  await at.runJob(job)
  at.sandbox.faults.clear()
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', contacted: 1, reserved: true })
}

const reasonOf = async (at: Closing, job: string, more: object): Promise<string> => {
  const ran = await at.close(job, at.request(job, more))
  t.equal(at.connection().active_job_id, ran.status === 0 ? null : job)
  return ran.status === 0 ? 'closed' : ran.error().reason ?? ran.error().code
}

t.test('C-021 C-154 C-196 an issue of the same words that is older, or of the next night, proves no creation that the host never saw', async (t) => {
  const at = await closing(t)
  const job = await at.approved()
  await unseen(at, job)
  const now = Date.now()
  for (const ms of [Date.UTC(2020, 0, 2), now - 60_000, now + 60_000, now + 86_400_000]) {
    const number = plantIssue(at, hostTime(ms))
    t.equal(await reasonOf(at, job, { remote_id: number }), 'readback_other_time', hostTime(ms))
  }
  const reopened = plantIssue(at, hostTime(now - 86_400_000), { updatedAt: hostTime(now) })
  t.equal(await reasonOf(at, job, { remote_id: reopened }), 'readback_other_time', 'reopened now')
})

t.test('C-021 C-154 so does an old comment of the same words', async (t) => {
  const at = await closing(t)
  const issue = plantIssue(at, hostTime(Date.now()))
  const job = await at.prepareComment(issue)
  must(await at.approve(job))
  await unseen(at, job)
  const kept = hostOf(at)
  const comment = (createdAt: string): number => {
    const id = at.sandbox.codehost.newId()
    const user = at.sandbox.codehost.user('operator')
    kept.comments.push({ id, issue, user, body: hostMark, createdAt })
    return id
  }
  t.equal(await reasonOf(at, job, { remote_id: comment('2020-01-02T03:04:05Z') }),
    'readback_other_time')
  t.equal(await reasonOf(at, job, { remote_id: comment(hostTime(Date.now())) }), 'closed')
})

t.test('C-021 what was made within the contact is evidence up to its edges, whatever the host’s clock says', async (t) => {
  for (const aheadMs of [0, -3 * 86_400_000, 7 * 3_600_000]) {
    const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs }
    const at = closingOf(await working(t, { clock }))
    const job = await at.unknown('A title', 'numbered')
    const made = madeAt(at)
    for (const [offsetMs, reason] of [
      [-30 * second, 'readback_other_time'], [40 * second, 'readback_other_time'],
    ] as const) {
      alter(at, 1, { createdAt: hostTime(made + offsetMs) })
      t.equal(await reasonOf(at, job, {}), reason, `${aheadMs} ${offsetMs}`)
    }
    alter(at, 1, { createdAt: hostTime(made) })
    t.equal(await reasonOf(at, job, {}), 'closed', String(aheadMs))
  }
})

t.test('C-021 C-196 a host that tells no time of what it made, or none of its own, proves nothing by it', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('A title', 'numbered')
  at.sandbox.faults.set('read_no_time', { service: 'codehost' })
  t.equal(await reasonOf(at, job, {}), 'readback_time_missing')
  at.sandbox.faults.clear()
  t.equal(await reasonOf(at, job, {}), 'closed')
  const other = await at.approved('Another title')
  at.sandbox.faults.set('read_no_date', { service: 'codehost' })
  await at.runJob(other)
  at.sandbox.faults.clear()
  t.hasStrict(at.job(other), {
    state: 'unknown_external_effect', reason: 'reply_time_missing', created: 0,
  })
  t.equal(await reasonOf(at, other, { remote_id: 2 }), 'readback_time_missing')
})

t.test('C-021 C-104 a 201 that names an old issue, or no time, is no success; nor does reconcile take an old one', async (t) => {
  for (const [fault, reason] of [
    ['write_old_time', 'reply_other_time'], ['write_no_time', 'reply_time_missing'],
  ] as const) {
    const at = await closing(t)
    const job = await at.approved()
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    await at.runJob(job)
    t.hasStrict(at.job(job), {
      state: 'unknown_external_effect', reason, created: 0, remote: null, reserved: true,
    })
    t.equal(await reasonOf(at, job, { remote_id: 1 }), 'closed', 'what it made is found')
  }
  const at = await closing(t)
  const job = await at.unknown('A title', 'numbered')
  const made = madeAt(at)
  alter(at, 1, { createdAt: '2020-01-02T03:04:05Z' })
  t.hasStrict((await at.reconcile(job)).error(), { code: 'readback_other_time' })
  alter(at, 1, { createdAt: hostTime(made) })
  must(await at.reconcile(job))
})

t.test('C-021 C-154 C-247 a pull request of another time is only like it; git objects and branches are evidence by their ids at any time', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.stopped('pull_request')
  const made = madeAt(at)
  for (const ms of [Date.UTC(2020, 0, 2), made + 86_400_000]) {
    alter(at, 1, { createdAt: hostTime(ms) })
    t.equal(await reasonOf(at, job, { pr_number: 1 }), 'readback_other_time')
  }
  alter(at, 1, { createdAt: hostTime(made) })
  t.equal(await reasonOf(at, job, { pr_number: 1 }), 'closed')
  const branch = await at.stopped('ref')
  at.sandbox.faults.set('read_no_time', { service: 'codehost' })
  t.equal(await reasonOf(at, branch, {}), 'closed')
})
