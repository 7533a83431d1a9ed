/** Who may close, and what even a repeated answer rests on. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dropPending, keepPending, readPending } from '../../../src/codehost/jobs/closed/pending.js'
import { closeRequestOf } from '../../../src/codehost/jobs/closed/request.js'
import { followThroughKind } from '../../../src/codehost/jobs/kinds.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { nodeFiles } from '../../../src/state/files.js'
import { failure, must } from '../../support/must.js'
import { closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

t.test('C-164 C-167 C-168 C-188 another session closes nothing and gets no answer, whatever it consents to', async (t) => {
  const at = await closing(t)
  const open = await at.unknown('Open', 'numbered')
  const request = at.request(open)
  must(await at.run(['login', '--replace', '--json']))
  t.strictSame(await at.during(async () => {
    const ran = await at.close(open, request)
    t.equal(ran.status, 4)
    t.equal(failure(ran).code, 'closure_root_ended')
  }), [])
  t.equal(at.connection().active_job_id, open)
})

t.test('C-165 C-166 C-188 an ended or idle session closes nothing, and gets no answer again', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Ended', 'numbered')
  const request = at.request(job)
  must(await at.close(job, request))
  at.clock.advance(31 * 60_000)
  const idle = await at.close(job, request)
  t.equal(failure(idle).code, 'session_idle')
  t.equal(idle.stdout, '')
})

t.test('C-166 closing, and looking at what became of it, does not count as a use of the session', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Use', 'numbered')
  at.clock.advance(29 * 60_000)
  const request = at.request(job)
  must(await at.close(job, request))
  for (const line of [
    ['closures'], ['inspect', job, '--idempotency-key', request['idempotency_key']],
    ['discard', job, '--idempotency-key', request['idempotency_key']],
  ]) must(await at.run(['codehost', ...line]))
  at.clock.advance(2 * 60_000)
  t.equal(failure(await at.run(['session', 'show', '--json'])).code, 'session_idle')
})

t.test('C-184 C-189 another token, repository or connection refuses a request and its repetition', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Identity', 'numbered')
  const request = at.request(job)
  must(await at.close(job, request))
  const row = at.connection()
  const states: readonly (readonly [string, Partial<typeof row>])[] = [
    ['repository_changed', { repository: 'operator/other' }],
    ['repository_changed', { repository_id: 99 }],
    ['connection_not_found', { owner: 'prn_other' }],
    ['credential_changed', { credential_ref: 'vault:none' }],
  ]
  for (const [code, change] of states) {
    await at.transact((tx) => tx.put(connectionCollection, at.id, { ...row, ...change }))
    t.equal(failure(await at.close(job, request)).code, code)
    await at.transact((tx) => tx.put(connectionCollection, at.id, row))
  }
  must(await at.close(job, request))
})

t.test('C-146 a kept request that changed since it was looked at is not dropped', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Changed', 'numbered')
  const request = at.request(job)
  must(await at.close(job, request))
  const { stateDir } = at.place
  const kept = readPending(stateDir, request['idempotency_key'])
  if (kept === undefined) throw new Error('it is kept')
  const path = join(stateDir, 'pending', `${kept.key}.json`)
  writeFileSync(path, 'other')
  t.throws(() => dropPending(stateDir, kept), { code: 'pending_changed' })
  writeFileSync(path, kept.bytes)
  dropPending(stateDir, kept)
  t.equal(readPending(stateDir, kept.key), undefined)
  dropPending(stateDir, kept)
})

t.test('a request whose name the disk refuses is told as not kept, and one that another process kept meanwhile is kept', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Kept', 'numbered')
  const { stateDir } = at.place
  const read = closeRequestOf(at.request(job), followThroughKind)
  const { request: { idempotency_key: key } } = read
  const subject = { jobId: job, kind: followThroughKind, read } as const
  const files = nodeFiles as { link: typeof nodeFiles.link }
  const { link } = files
  t.teardown(() => (files.link = link))
  files.link = () => {
    throw Object.assign(new Error('i/o error'), { code: 'EIO' })
  }
  t.throws(() => keepPending(stateDir, subject), { code: 'io_failed' })
  t.equal(readPending(stateDir, key), undefined)
  files.link = (from, to) => {
    link(from, to)
    link(from, to)
  }
  keepPending(stateDir, subject)
  files.link = link
  t.equal(readPending(stateDir, key)?.read.sha256, read.sha256)
  t.strictSame(readdirSync(join(stateDir, 'pending')), [`${key}.json`], 'nothing half written')
})
