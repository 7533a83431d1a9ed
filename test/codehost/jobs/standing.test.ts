/** Standing authority, scheduled runs, and the one boundary that four paths share. */
import { requirePrerequisites } from '../../../src/codehost/jobs/boundary.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { codehostBase } from '../../../src/codehost/context.js'
import { historyNames } from '../../../src/codehost/jobs/jobs-contract.js'
import { must } from '../../support/must.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

const inMinutes = (at: Working, minutes: number): string =>
  new Date(at.clock.wallMs() + minutes * 60_000).toISOString()

const standing = (at: Working, more: readonly string[] = []) => at.run([
  'codehost', 'approve', '--standing', '--connection', at.id, '--json',
  ...(more.includes('--action') ? [] : ['--action', 'issue.create']),
  ...(more.includes('--until') ? [] : ['--until', inMinutes(at, 10)]),
  ...(more.includes('--max-jobs') ? [] : ['--max-jobs', '2']), ...more,
])

t.test('C-007 a standing authority stands for so many jobs of its actions, each once, and ends with its consent', async (t) => {
  const at = await working(t)
  t.equal((await standing(at, ['--action', 'git.ref.create'])).error().code, 'standing_action')
  t.equal((await standing(at, ['--until', inMinutes(at, 61)])).error().code, 'standing_until')
  t.equal((await standing(at, ['--until', inMinutes(at, -1)])).error().code, 'standing_until')
  must(await standing(at))
  const jobs = [await at.prepare('One'), await at.prepare('Two'), await at.prepare('Three')]
  for (const job of jobs.slice(0, 2)) must(await at.runJob(job))
  t.hasStrict(at.job(jobs[0] ?? '').approval, { kind: 'standing' })
  t.equal((await at.runJob(jobs[2] ?? '')).error().reason, 'approval_missing', 'it is used up')
  const [grant] = await at.json(['codehost', 'grants'])
  t.hasStrict(grant.standing[0], { jobs_max: 2, jobs_used: 2, actions: ['issue.create'] })
  const comment = await at.prepareComment(1)
  must(await standing(at))
  t.equal((await at.runJob(comment)).error().reason, 'approval_missing', 'another action')
  must(await at.run(['codehost', 'revoke', at.id]))
  must(await at.consent())
  const later = await at.prepare('Four')
  t.equal((await at.runJob(later)).error().reason, 'approval_missing', 'a new consent, a new one')
  t.equal(at.posts().length, 2)
})

t.test('a scheduled run runs what was approved, oldest first, and leaves what was not', async (t) => {
  const at = await working(t)
  const jobs = [await at.approved('One'), await at.prepare('Two'), await at.approved('Three')]
  const { jobs: ran } = await at.json(['codehost', 'run', '--approved'])
  t.strictSame(ran.map(({ id, state }: { id: string; state: string }) => [id, state]),
    [[jobs[0], 'succeeded'], [jobs[2], 'succeeded']])
  t.equal(at.job(jobs[1] ?? '').state, 'prepared')
  t.strictSame((await at.json(['codehost', 'run', '--approved'])).jobs, [])
  const [first, second] = [await at.approved('Four'), await at.approved('Five')]
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  const partly = await at.run(['codehost', 'run', '--approved', '--json'])
  t.equal(partly.status, 7, 'the second finds the connection occupied')
  t.strictSame(partly.json().jobs.map(({ failure }: { failure: { code: string } }) => failure.code),
    ['unknown_external_effect', 'connection_occupied'])
  t.equal(at.job(first).state, 'unknown_external_effect')
  t.equal(at.job(second).state, 'approved')
})

t.test('a scheduled run that is stopped between two jobs says so, and which it left', async (t) => {
  const at = await working(t)
  const jobs = [await at.approved('One'), await at.approved('Two')]
  const stop = new AbortController()
  const ran = await at.run(['codehost', 'run', '--approved', '--json'], {
    stop: stop.signal, at: (step) => void (step === 'codehost.finished' && stop.abort()),
  })
  t.hasStrict([ran.status, ran.error().code], [130, 'codehost_run_stopped'])
  t.strictSame(ran.json().jobs.map(({ id, failure }: { id: string; failure: unknown }) =>
    [id, failure === null]), [[jobs[0], true], [jobs[1], false]])
  t.equal(at.job(jobs[1] ?? '').state, 'approved')
  t.equal(at.posts().length, 1)
})

t.test('C-007 a scheduled run ends with the authority that it runs under: what it does not stand for waits on', async (t) => {
  const at = await working(t)
  must(await standing(at, ['--max-jobs', '1']))
  const jobs = [await at.prepare('One'), await at.prepare('Two')]
  const ran = must(await at.run(['codehost', 'run', '--approved', '--json']))
  t.strictSame(ran.json().jobs.map(({ id }: { id: string }) => id), [jobs[0]])
  t.hasStrict(at.job(jobs[1] ?? ''), { state: 'prepared', approval: null })
  t.equal(at.posts().length, 1)
})

t.test('C-027 all four paths refuse a job without its consent, and let it pass with it', async (t) => {
  const at = await working(t)
  const job = at.job(await at.approved())
  const asked = { gov: at.gov, sealedHost: codehostBase(at.gov) }
  const paths = ['followThrough', 'dispatcher', 'workBoard', 'routine'] as const
  for (const path of paths) requirePrerequisites(path, asked, at.gov.store.read(), job)
  must(await at.run(['codehost', 'revoke', at.id]))
  for (const path of paths) {
    t.throws(() => requirePrerequisites(path, asked, at.gov.store.read(), job),
      { code: 'codehost_write_denied', reason: 'consent_revoked' }, path)
  }
  await at.transact((tx) =>
    tx.put(connectionCollection, at.id, { ...at.connection(), owner: 'prn_x' }))
  t.throws(() => requirePrerequisites('routine', asked, at.gov.store.read(), job),
    { code: 'codehost_write_denied', reason: 'connection_missing' })
})

t.test('C-070 the histories of a job only ever grow, and are told as the lines that are counted', async (t) => {
  const at = await working(t)
  const job = await at.prepare()
  const lines = async (): Promise<Record<string, string[]>> => Object.fromEntries(
    await Promise.all(historyNames.map(async (name) =>
      [name, (await at.json(['codehost', 'job', job, '--history', name])).history.lines] as const)))
  let seen = await lines()
  const grows = async (): Promise<void> => {
    const now = await lines()
    for (const [name, before] of Object.entries(seen)) {
      t.strictSame(now[name]?.slice(0, before.length), before, name)
    }
    seen = now
  }
  for (const line of [['preview', job], ['jobs'], ['job', job]]) {
    must(await at.run(['codehost', ...line]))
    await grows()
  }
  must(await at.approve(job))
  await grows()
  must(await at.runJob(job))
  await grows()
  must(await at.run(['codehost', 'revoke', at.id]))
  await grows()
  t.strictSame(Object.entries(seen).map(([name, all]) => [name, all.length]),
    [['effects', 3], ['artifacts', 2], ['checkpoints', 2], ['reads', 1]])
  const plain = must(await at.run(['codehost', 'job', job, '--history', 'effects'])).stdout
  t.equal(plain, `${seen['effects']?.join('\n')}\n`)
})

t.test('the same key and request give the first job, another request a conflict', async (t) => {
  const at = await working(t)
  const key = '0190f0c0-0000-4000-8000-000000000001'
  const prepare = (title: string, more: readonly string[] = []) => at.run([
    'codehost', 'prepare', 'issue', '--connection', at.id, '--title', title, '--body-file',
    at.place.write('b.md', 'MARK-text'), '--idempotency-key', key, '--json', ...more,
  ])
  const first = must(await prepare('One')).json()
  t.equal(must(await prepare('One')).json().id, first.id)
  t.equal((await prepare('Two')).error().code, 'idempotency_conflict')
  t.equal((await at.json(['codehost', 'jobs'])).length, 1)
})

t.test('C-036 two connections run two jobs of one kind, one connection one at a time', async (t) => {
  const at = await working(t)
  const jobs = [await at.approved('One'), await at.approved('Two')]
  let inside: string | undefined
  must(await at.runJob(jobs[0] ?? '', {
    at: async (step) => {
      if (step !== 'codehost.before_dial' || inside !== undefined) return
      inside = (await at.runJob(jobs[1] ?? '')).error().code
    },
  }))
  t.equal(inside, 'connection_occupied')
  t.equal(at.job(jobs[1] ?? '').state, 'approved')
  const other = must(await at.run(['codehost', 'connect', '--repo', 'operator/notes',
    '--token-file', at.sandbox.keyFiles.codehost, '--json'])).json().id
  must(await at.run(['codehost', 'consent', other, '--acknowledge', '--expected-revision', '1',
    '--action', 'issue.create']))
  const third = (await at.json(['codehost', 'prepare', 'issue', '--connection', other, '--title',
    'Three', '--body-file', at.place.path('body.md')])).id
  must(await at.approve(third))
  let ran: number | undefined
  must(await at.runJob(jobs[1] ?? '', {
    at: async (step) => {
      if (step !== 'codehost.before_dial' || ran !== undefined) return
      ran = 0
      ran = (await at.runJob(third)).status
    },
  }))
  t.equal(ran, 0, 'another connection is another place')
  t.equal(at.posts().length, 3)
})

t.test('a job that was taken on under a standing authority that has ended names no run that would be refused', async (t) => {
  const at = await working(t)
  must(await standing(at))
  const job = await at.prepare()
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.claimed') stop.abort()
    },
  })
  const way = async () => (await at.json(['codehost', 'job', job])).way_on
  t.hasStrict(at.job(job), { state: 'blocked', approval: { kind: 'standing' } })
  t.equal((await way()).command, `sallyport codehost run ${job} --resume`)
  at.clock.advance(660_000)
  t.equal((await at.run(['codehost', 'resume', job, '--json'])).error().reason, 'standing_ended')
  const { command, text } = await way()
  t.equal(command, `sallyport codehost cancel ${job}`)
  t.match(text, /prepare it anew/)
  must(await at.run(command.split(' ').slice(1)))
})
