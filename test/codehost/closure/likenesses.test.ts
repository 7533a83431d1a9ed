/**
 * What the host has that says the same as what a job sent, and is of another time or of somebody
 * else: by a reply to its creation and by every readback.
 */
import { systemClock } from '../../../src/base/clock.js'
import { bindingOf } from '../../../src/governance/connections/grant.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { receiptCollection } from '../../../src/codehost/jobs/receipt.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import type { HostIssue } from '../../../src/sandbox/codehost/shapes.js'
import { must } from '../../support/must.js'
import { closing, closingOf, type Closing } from '../../support/codehost/closing.js'
import { hostOf, hostTime, plantIssue } from '../../support/codehost/planted.js'
import { publicationClosing } from '../../support/codehost/publication-closing.js'
import { hostMark, working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

const second = 1_000

/** The host's own time of what it made last. */
const madeAt = (at: Working): number => Date.parse(hostOf(at).issues.at(-1)?.createdAt ?? '')

const alter = (at: Working, number: number, change: Partial<HostIssue>): void => {
  const { issues } = hostOf(at)
  const found = issues[number - 1]
  if (found === undefined) throw new Error('no such issue')
  issues[number - 1] = { ...found, ...change }
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

t.test('C-021 C-154 what a stranger made at that very time proves nothing: an issue, a comment and a 201', async (t) => {
  const at = await closing(t)
  const stranger = at.sandbox.codehost.user('stranger')
  const job = await at.approved()
  await unseen(at, job)
  const now = hostTime(Date.now())
  t.equal(await reasonOf(at, job, { remote_id: plantIssue(at, now, { user: stranger }) }),
    'readback_other_author')
  t.equal(await reasonOf(at, job, { remote_id: plantIssue(at, now, { viaApp: true }) }),
    'readback_other_author', 'an app that acts for the same account')
  const issue = plantIssue(at, now)
  t.equal(await reasonOf(at, job, { remote_id: issue }), 'closed')
  must(await at.consent())
  const comment = await at.prepareComment(issue)
  must(await at.approve(comment))
  await unseen(at, comment)
  const id = at.sandbox.codehost.newId()
  hostOf(at).comments.push({
    id, issue, user: stranger, body: hostMark, createdAt: hostTime(Date.now()),
  })
  t.equal(await reasonOf(at, comment, { remote_id: id }), 'readback_other_author')
  const other = await closing(t)
  const sent = await other.approved()
  other.sandbox.faults.set('write_other_author', { service: 'codehost', times: 1 })
  await other.runJob(sent)
  t.hasStrict(other.job(sent), {
    state: 'unknown_external_effect', reason: 'reply_other_author', created: 0, remote: null,
  })
})

t.test('C-154 C-232 whose the token is is asked once, with the consent, shown before the approval, and by nothing that proves', async (t) => {
  const at = await closing(t)
  const asked = () => at.requests().filter(({ path }) => path === '/user').length
  must(await at.consent())
  t.equal(asked(), 1)
  const operator = at.sandbox.codehost.user('operator').id
  const job = await at.unknown('A title', 'numbered')
  t.strictSame((await at.json(['codehost', 'preview', job])).author,
    { id: operator, via_app: false })
  t.match((await at.run(['codehost', 'preview', job])).stdout, `account ${operator} of the host`)
  t.strictSame(at.connection().consent?.author, { id: operator, via_app: false })
  t.strictSame(at.job(job).author, { id: operator, via_app: false })
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
  t.equal(await reasonOf(at, job, {}), 'remote_not_found')
  at.sandbox.faults.clear()
  t.equal(await reasonOf(at, job, {}), 'closed')
  t.equal(asked(), 1)
})

t.test('a job whose author or mark was changed rests on other values than it was prepared with', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('A title', 'numbered')
  const row = at.job(job)
  await at.transact((tx) => tx.put(jobCollection, job, {
    ...row, author: { id: 7_000_001, via_app: false },
  }))
  t.equal(await reasonOf(at, job, {}), 'prepared_bytes_altered')
  await at.transact((tx) => tx.put(jobCollection, job, { ...row, mark: '0'.repeat(32) }))
  t.equal(await reasonOf(at, job, {}), 'prepared_bytes_altered', 'a mark that it never had')
  const check = await at.run(['state', 'check', '--json'])
  t.match(check.stdout + check.stderr, 'codehost_job_authority')
})

t.test('C-067 C-193 a mark alone tells a job from its like: it is a part of what is sent, previewed and compared, and not of what was asked for', async (t) => {
  const at = await closing(t)
  const key = '7b1f6c1e-7f1c-4a58-8d31-4b6b0f6f6f01'
  const words = ['codehost', 'prepare', 'issue', '--connection', at.id, '--title', 'A title',
    '--body-file', at.place.write('marked.md', `${hostMark}\n`), '--idempotency-key', key]
  const { id: job } = await at.json([...words, '--mark'])
  t.equal((await at.json([...words, '--mark'])).id, job, 'another nonce is no other request')
  t.equal((await at.run([...words, '--json'])).error().code, 'idempotency_conflict')
  const preview = await at.json(['codehost', 'preview', job])
  t.match(preview.mark, /^[0-9a-f]{32}$/)
  t.equal(preview.text, `${hostMark}\n<!-- sallyport ${preview.mark} -->`)
  t.equal(preview.effects[0].body_bytes,
    Buffer.byteLength(JSON.stringify({ title: 'A title', body: preview.text })))
  t.match((await at.run(['codehost', 'preview', job])).stdout, preview.mark)
  must(await at.approve(job))
  await unseen(at, job)
  const now = hostTime(Date.now())
  for (const body of [
    hostMark, `${hostMark}\n`, `${hostMark}\n<!-- sallyport ${'0'.repeat(32)} -->`,
  ]) {
    t.equal(await reasonOf(at, job, { remote_id: plantIssue(at, now, { body }) }),
      'readback_differs')
  }
  const user = at.sandbox.codehost.user('stranger')
  const told = plantIssue(at, '2020-01-02T03:04:05Z', { body: preview.text, user })
  t.equal(await reasonOf(at, job, { remote_id: told }), 'closed', 'nobody else knew it')
  must(await at.consent())
  const { id: other } = await at.json([...words.slice(0, -2), '--mark'])
  t.not((await at.json(['codehost', 'preview', other])).mark, preview.mark)
  must(await at.approve(other))
  must(await at.runJob(other))
})

t.test('C-021 C-193 two jobs of one text in the same moments, neither of them numbered, are told as not provable; a mark tells them apart', async (t) => {
  let laterMs = 0
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + laterMs }
  const at = closingOf(await working(t, { clock }))
  const beside = await at.beside()
  const first = await at.approved()
  const second = await beside.approved()
  await unseen(at, first)
  await unseen(beside, second)
  const issue = plantIssue(at, hostTime(Date.now()))
  const requests = at.requests().length
  for (const [one, job] of [[at, first], [beside, second]] as const) {
    t.equal(await reasonOf(one, job, { remote_id: issue }), 'effect_repeated')
  }
  t.equal(at.requests().length, requests, 'nobody is asked')
  const other = await at.beside()
  const third = await other.approved('Another title')
  await unseen(other, third)
  t.equal(await reasonOf(other, third,
    { remote_id: plantIssue(at, hostTime(Date.now()), { title: 'Another title' }) }), 'closed',
  'another text is none of them')
  const later = await at.beside()
  laterMs = 600_000
  at.clock.advance(laterMs)
  const fourth = await later.approved()
  await unseen(later, fourth)
  const now = hostTime(clock.wallMs())
  t.equal(await reasonOf(later, fourth, { remote_id: plantIssue(at, now) }), 'closed',
    'ten minutes later it is told by its time')
})

t.test('C-021 C-087 C-192 the number that the host answered to one job proves no other one that says the same, and still proves its own', async (t) => {
  const at = closingOf(await working(t))
  const beside = await at.beside()
  const first = await at.approved()
  await unseen(at, first)
  const second = await beside.unknown(undefined, 'numbered')
  const { remote } = beside.job(second)
  t.equal(await reasonOf(at, first, { remote_id: remote?.id }), 'remote_taken')
  must(await beside.reconcile(second))
  t.equal(await reasonOf(at, first, { remote_id: remote?.id }), 'remote_taken')
})

t.test('C-193 what says the same and was sent while a number was read is seen by the record, and the capacity stays held', async (t) => {
  const at = closingOf(await working(t))
  const beside = await at.beside()
  const first = await at.approved()
  const second = await beside.approved()
  await unseen(at, first)
  const issue = plantIssue(at, hostTime(Date.now()))
  const ran = await at.close(first, at.request(first, { remote_id: issue }), {
    at: async (step) => {
      if (step === 'closure.proved') await unseen(beside, second)
    },
  })
  t.equal(ran.error().reason, 'effect_repeated')
  t.equal(at.connection().active_job_id, first)
})

t.test('C-060 what was edited since it was made is told so: as no evidence where it differs, beside the evidence where it does not', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('A title', 'numbered')
  const made = madeAt(at)
  alter(at, 1, { updatedAt: hostTime(made + 5_000), body: 'Edited' })
  t.equal(await reasonOf(at, job, {}), 'readback_edited')
  t.equal((await at.reconcile(job)).error().code, 'readback_edited')
  alter(at, 1, { body: hostMark })
  const lines = await at.run(['codehost', 'close-capacity', job], {
    terminal: { stdin: true, stdout: true, stderr: true }, answers: [
      'begin another one, under a key of its own', true],
  })
  must(lines)
  t.match(lines.stderr, /issues\/1, edited since it was made {2}\(/)
  const [row] = at.view().all(receiptCollection)
  t.equal(row?.doc.receipt.edited, true)
  must(await at.consent())
  const comment = await at.prepareComment(1)
  must(await at.approve(comment))
  await at.runJob(comment, {
    at: (step) => {
      if (step !== 'codehost.created') return
      const { comments } = hostOf(at)
      const last = comments.at(-1)
      if (last === undefined) throw new Error('it was made')
      comments[comments.length - 1] = { ...last, updatedAt: hostTime(made + 90_000), body: 'No' }
    },
  })
  t.hasStrict(at.job(comment), { state: 'unknown_external_effect', reason: 'readback_edited' })
  const other = await closing(t)
  must(await other.runJob(await other.approved()))
  t.equal(other.view().all(receiptCollection)[0]?.doc.receipt.edited, undefined)
})

t.test('C-021 a token whose account is shared prepares nothing without a mark, and succeeds with one', async (t) => {
  const at = await publicationClosing(t)
  must(await at.run(['codehost', 'connect', '--connection', at.id, '--token-file',
    at.place.write('installation', 'ghs_MARKTOKEN0123456789abcdefghijklmnop\n'),
    '--expected-revision', String(at.connection().revision)]))
  must(await at.consent(['--action', 'issue.create', 'git.object.create', 'git.ref.create',
    'pull_request.create']))
  t.equal(at.connection().consent?.author, null)
  const issue = ['codehost', 'prepare', 'issue', '--connection', at.id, '--title', 'A title',
    '--body-file', at.place.write('bot.md', hostMark)]
  const refused = await at.run([...issue, '--json'])
  t.hasStrict(refused.error(), { code: 'mark_required', status: 400 })
  const before = at.requests().length
  const folder = at.folder({ 'new.txt': 'one\n' }, 'bot')
  t.equal((await at.publish(folder)).error().code, 'mark_required')
  t.equal(at.requests().length, before, 'nobody was asked')
  const { id: job } = await at.json([...issue, '--mark'])
  must(await at.approve(job))
  must(await at.runJob(job))
  t.equal(hostOf(at).issues.at(-1)?.user.login, 'sandbox-app[bot]')
  const marked = must(await at.run(['codehost', 'prepare', 'publication', '--connection', at.id,
    '--source', folder, '--base', 'main', '--branch', 'topic/bot', '--title', 'One', '--author',
    'Ann <ann@example.org>', '--mark', '--json'])).json().id
  must(await at.approve(marked))
  must(await at.runJob(marked))
  t.match(hostOf(at).issues.at(-1)?.body, /^<!-- sallyport [0-9a-f]{32} -->$/)
})

t.test('C-021 a consent of before names no author: it prepares nothing without a mark, and nobody is asked', async (t) => {
  const at = await closing(t)
  const { consent, ...row } = at.connection()
  if (consent === null) throw new Error('there is one')
  const unbound = Object.fromEntries(Object.entries(consent)
    .filter(([name]) => name !== 'author')) as typeof consent
  const before = { ...unbound, binding_sha256: bindingOf(at.id, unbound) }
  await at.transact((tx) => tx.put(connectionCollection, at.id, { ...row, consent: before }))
  const asked = at.requests().length
  const text = ['--connection', at.id, '--body-file', at.place.write('b.md', hostMark), '--json']
  const issue = ['issue', '--title', 'A title'] as const
  for (const words of [issue, ['comment', '--issue', '1'] as const]) {
    const refused = await at.run(['codehost', 'prepare', ...words, ...text])
    t.hasStrict(refused.error(), { code: 'mark_required', status: 400 }, words[0])
  }
  t.equal(at.requests().length, asked)
  const done = async (words: readonly string[]): Promise<void> => {
    const { id: job } = must(await at.run(['codehost', 'prepare', ...words, ...text, '--mark']))
      .json()
    must(await at.approve(job))
    must(await at.runJob(job))
    t.equal(at.job(job).state, 'succeeded', words.join(' '))
  }
  await done(issue)
  await done(['comment', '--issue', String(hostOf(at).issues.at(-1)?.number)])
  t.match(hostOf(at).comments.at(-1)?.body, /<!-- sallyport [0-9a-f]{32} -->$/)
})
