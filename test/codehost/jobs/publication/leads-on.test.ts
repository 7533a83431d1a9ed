/** What a refusal of a job that was begun names is taken in that very situation. */
import { effectHistory, type EffectEntry } from '../../../../src/codehost/jobs/histories.js'
import { requireHourly } from '../../../../src/codehost/jobs/earlier-posts.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { nextStepNow } from '../../../../src/codehost/jobs/next-step-now.js'
import { runJob } from '../../../../src/codehost/jobs/run.js'
import { SallyportError } from '../../../../src/base/errors.js'
import { historyHead } from '../../../../src/state/history/read-history.js'
import { remote } from '../../../support/codehost/elsewhere.js'
import { asked, prepared, terminal, withSite } from '../../../support/codehost/publish-lines.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { must } from '../../../support/must.js'
import { t } from '../../../support/tests-in-slices.js'

const isCut = async (at: Publishing, job: string, step = 'codehost.post_4_of_6'): Promise<void> => {
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (seen) => {
      if (seen === step) stop.abort()
    },
  })
}

const errorOf = async (work: Promise<unknown>): Promise<SallyportError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof SallyportError) return error
  }
  throw new Error('it was not refused')
}

const commandIn = (hint: string | null): string => /`sallyport ([^`]+)`/.exec(hint ?? '')?.[1] ?? ''

const typed = (at: Publishing, line: string) =>
  at.run(line.split(' '), { terminal, answers: [true] })

t.test('a publication that was sent in part and whose consent or session ends too soon is led to the line that closes it, wherever that is told', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  await isCut(at, job)
  const row = at.job(job)
  t.hasStrict(row, { state: 'blocked', contacted: 3, created: 3, reserved: true })
  const until = (ms: number): Promise<unknown> => at.transact((tx) => tx.put(jobCollection, job, {
    ...row, consent: {
      ...row.consent, expires_at: new Date(at.clock.wallMs() + ms).toISOString(),
    },
  }))
  await until(2_000)
  const ctx = remote(at)
  const refused = await errorOf(runJob(ctx, at.session(), job, { verb: 'resume' }))
  t.hasStrict(refused, { code: 'codehost_too_short', reason: 'consent' })
  const close = commandIn(refused.next)
  t.match(close, `codehost close-capacity ${job} `)
  t.notMatch(refused.next, /prepare it again|onsent anew/)
  t.equal(nextStepNow(ctx.gov, at.view(), at.job(job)).command, `sallyport ${close}`)
  await until(4_000)
  t.equal(nextStepNow(ctx.gov, at.view(), at.job(job)).command,
    `sallyport codehost run ${job} --resume`)
  await at.transact((tx) => tx.put(jobCollection, job, row))
  must(await typed(at, close))
  t.equal(at.connection().active_job_id, null)
})

t.test('a publication that waits and whose consent ends too soon is not told to be run', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const row = at.job(job)
  await at.transact((tx) => tx.put(jobCollection, job, {
    ...row, consent: {
      ...row.consent, expires_at: new Date(at.clock.wallMs() + 5_000).toISOString(),
    },
  }))
  const ctx = remote(at)
  t.equal((await errorOf(runJob(ctx, at.session(), job))).code, 'codehost_too_short')
  const { command } = nextStepNow(ctx.gov, at.view(), at.job(job))
  t.equal(command, `sallyport codehost cancel ${job}`)
  must(await at.run(['codehost', 'cancel', job]))
})

t.test('local work that was begun under a consent that was taken back is led to the line that closes it', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.produced' },
  })
  must(await at.run(['codehost', 'revoke', at.id]))
  t.hasStrict(at.job(job), { state: 'blocked', contacted: 0, reserved: true })
  const { command } = (await at.json(['codehost', 'job', job])).way_on
  t.match(command, `sallyport codehost close-capacity ${job} `)
  const refused = (await at.run(['codehost', 'resume', job, '--json'])).error()
  t.match(refused.hint, `\`${command}\``)
  must(await typed(at, command.replace('sallyport ', '')))
})

t.test('local work that was begun before the base went on is led to the line that closes it, not to a cancel', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.produced' },
  })
  must(await at.run(['goal', 'add', 'after it']))
  at.sandbox.faults.set('ref_moved', { service: 'codehost', times: 1 })
  const refused = (await at.run(['codehost', 'resume', job, '--json'])).error()
  at.sandbox.faults.clear()
  t.equal(refused.code, 'base_moved')
  t.match(commandIn(refused.hint), `codehost close-capacity ${job} `)
  must(await typed(at, commandIn(refused.hint)))
})

t.test('a token that creates too much in an hour is told that no more was sent of a job that was sent in part', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const mark: EffectEntry = {
    type: 'contacted', at: new Date(at.clock.wallMs()).toISOString(), effect: 1, attempt: 1,
    operation_id: 'op_x', fence: 1, body_sha256: 'a'.repeat(64),
  }
  await at.transact((tx) => {
    tx.append(effectHistory, job, historyHead(tx, effectHistory, job),
      Array.from({ length: 480 }, () => mark))
    tx.put(jobCollection, job, { ...at.job(job), contacted: 480, updated_at: mark.at })
  })
  const { gov } = remote(at)
  for (const [contacted, text] of [[0, /^Nothing of it/], [3, /^No more of it/]] as const) {
    const row = { ...at.job(job), contacted }
    const refused = await errorOf((async () => requireHourly(gov, at.view(), row))())
    t.hasStrict(refused, { code: 'posts_an_hour' })
    t.match(refused.next, text)
  }
})

t.test('no consent is told to be given while a job occupies the connection, on any route', async (t) => {
  const at = await publishing(t)
  const waiting = await at.approvedPublication()
  const job = await at.approvedPublication()
  await isCut(at, job)
  const settles = async (words: readonly string[], code: string): Promise<void> => {
    const { code: told, hint } = (await at.run([...words, '--json'])).error()
    t.equal(told, code, words.join(' '))
    t.notMatch(hint, /codehost consent|consent anew/, words.join(' '))
    t.equal(commandIn(hint), `codehost jobs ${job}`, words.join(' '))
  }
  must(await at.run(['codehost', 'revoke', at.id]))
  await settles(['codehost', 'consent', at.id, '--acknowledge', '--action', 'issue.create',
    '--expected-revision', String(at.connection().revision)], 'capacity_reserved')
  await settles(['codehost', 'run', waiting], 'codehost_write_denied')
  at.folder({ 'one.txt': 'One\n' }, 'site')
  await settles(['codehost', 'publish', 'site', '--prepare', '--connection', at.id, '--base',
    'main', '--branch', 'b', '--title', 'T', '--author', 'Ann <ann@example.org>'],
  'codehost_write_denied')
  must(await at.run(['codehost', 'job', job]))
})

t.test('whoever says no to the rest of a publication is told that no more was sent, and every line that is named is taken', async (t) => {
  const at = await withSite(t)
  for (const [which, begins] of ['codehost run', 'codehost close-capacity'].entries()) {
    const key = { '--idempotency-key': `00000000-0000-4000-8000-00000000000${which}` }
    must(await at.consentToPublish())
    const { job, digest } = await prepared(at, key)
    must(await at.run(['codehost', 'approve', job, '--preview-digest', digest]))
    await isCut(at, job)
    const no = (await asked(at, [false], key)).error()
    t.equal(no.code, 'declined')
    t.match(no.message, /no more of it was sent/)
    t.notMatch(no.hint, 'codehost cancel')
    const lines = no.next.map(({ command }: { command: string }) => command)
    t.equal(lines.length, 2)
    const line = lines.find((one: string) => one.startsWith(`sallyport ${begins}`)) ?? ''
    must(await typed(at, line.replace('sallyport ', '')))
    t.equal(at.connection().active_job_id, null, begins)
  }
})
