/** What changes between the look at a publication and the yes to it. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import {
  asked, files, line, prepared, send, terminal, withSite,
} from '../../../support/codehost/publish-lines.js'
import type { Publishing } from '../../../support/codehost/publishing.js'
import { gate } from '../../../support/gate.js'
import { failure, must } from '../../../support/must.js'
import { t } from '../../../support/tests-in-slices.js'

const asTheBase = { 'docs/plan.md': '# Plan\n\n- one\n- two\n' }

/** What changes while a person thinks. */
const changes: Readonly<Record<string, (at: Publishing) => unknown>> = {
  'a file': (at) => at.folder({ 'README.md': '# Another\n' }, 'site'),
  'a file more': (at) => at.folder({ 'new.txt': 'new\n' }, 'site'),
  'a file that the base has as well': (at) => at.folder(asTheBase, 'site'),
  'a file that was as the base has it': (at) => at.folder({ '.gitignore': 'other/\n' }, 'site'),
  'a file in place of another': (at) => {
    rmSync(at.place.path('site/src/new.ts'))
    at.folder(asTheBase, 'site')
  },
  'a file less': (at) => rmSync(at.place.path('site/src/new.ts')),
  'a large file': (at) => at.folder({ 'README.md': Buffer.alloc(3 << 20, 'x') }, 'site'),
  'no folder': (at) => rmSync(at.place.path('site'), { recursive: true }),
  'the consent': async (at) => must(await at.run(['codehost', 'revoke', at.id])),
  'another consent': async (at) => must(await at.consentToPublish()),
  'the mode': async (at) => must(await at.run(['codehost', 'mode', at.id, 'reconcile_only'])),
  'the token': async (at) => must(await at.run(['codehost', 'connect', '--connection', at.id,
    '--token-file', at.sandbox.keyFiles.codehost, '--expected-revision',
    String(at.connection().revision)])),
  'the session': async (at) => {
    must(await at.run(['logout']))
    must(await at.run(['login']))
  },
  'the job, given up': async (at) => {
    const [job] = await at.json(['codehost', 'jobs', '--limit', '1'])
    must(await at.run(['codehost', 'cancel', job.id]))
  },
  'the job, approved by another': async (at) => {
    const [{ id, preview_digest: digest }] = await at.json(['codehost', 'jobs', '--limit', '1'])
    must(await at.run(['codehost', 'approve', id, '--preview-digest', digest]))
  },
}

t.test('C-079 what changed between the look and the yes sends nothing: the folder, the consent, the connection, the session, the job', async (t) => {
  const at = await withSite(t)
  for (const [what, change] of Object.entries(changes)) {
    at.folder({ ...files, '.gitignore': 'build/\n' }, 'site')
    const ran = await asked(at, [async () => {
      await change(at)
      return true
    }])
    t.not(failure(ran).status, 0, what)
    t.equal(at.posts().length, 0, what)
    if (what.includes('file')) t.equal(failure(ran).code, 'source_not_as_shown', what)
    if (what.includes('another by')) t.equal(failure(ran).code, 'job_changed', what)
    rmSync(at.place.path('site'), { recursive: true, force: true })
    must(await at.consentToPublish())
  }
})

/** How far another process is when the line is typed again, where it stops, and what it sent. */
const stopped: Readonly<Record<string, readonly [string, number]>> = {
  'sent in part by another': ['codehost.post_4_of_6', 3],
  'left by another before its local work': ['codehost.claimed', 0],
}

/** The same line once more; something happens while the folder is read for it. Nobody is asked. */
const typedAgain = (at: Publishing, key: string, change: () => Promise<unknown>) =>
  at.run([...line(at, { '--idempotency-key': key }), '--json'], {
    terminal, answers: [], at: async (step) => {
      if (step === 'codehost.asked_again') await change()
    },
  })

for (const [what, [where, sent]] of Object.entries(stopped)) {
  t.test(`a job that is ${what} while its folder is read once more is not sent by whoever was asked nothing`, async (t) => {
    const at = await withSite(t)
    const key = randomUUID()
    const one = await prepared(at, { '--idempotency-key': key })
    const [reached, go, stop] = [gate(), gate(), new AbortController()]
    const first = send(at, one, {
      stop: stop.signal, at: async (step) => {
        if (step !== where) return
        stop.abort()
        reached.open()
        await go.passed
      },
    })
    await reached.passed
    t.equal(at.job(one.job).state, 'running')
    const ran = await typedAgain(at, key, async () => {
      go.open()
      await first
    })
    t.equal(failure(ran).code, 'job_changed', ran.stderr)
    t.hasStrict(at.job(one.job), { state: 'blocked', contacted: sent })
    t.equal(at.posts().length, sent)
  })
}

t.test('a job that is settled by another while its folder is read once more is not sent by whoever was asked nothing', async (t) => {
  const at = await withSite(t)
  const key = randomUUID()
  const one = await prepared(at, { '--idempotency-key': key })
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 2, times: 1 })
  await send(at, one)
  at.sandbox.faults.clear()
  t.equal(at.job(one.job).state, 'unknown_external_effect')
  const ran = await typedAgain(at, key, () => at.reconcile(one.job))
  t.equal(failure(ran).code, 'job_changed', ran.stderr)
  t.hasStrict(at.job(one.job), { state: 'blocked', contacted: 3, created: 3 })
  t.equal(at.posts().length, 3)
})

t.test('the yes to what was shown sends nothing of a job that another process has sent in part since', async (t) => {
  const at = await withSite(t)
  const ran = await asked(at, [async () => {
    const [job] = await at.json(['codehost', 'jobs', '--limit', '1'])
    const stop = new AbortController()
    await send(at, { job: job.id, digest: job.preview_digest }, {
      stop: stop.signal, at: (step) => {
        if (step === 'codehost.post_4_of_6') stop.abort()
      },
    })
    return true
  }])
  t.equal(failure(ran).code, 'job_changed', ran.stderr)
  t.equal(at.posts().length, 3)
})
