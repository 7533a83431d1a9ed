/** What is no publication is refused by name: before anybody is asked where that can be told. */
import { execFileSync } from 'node:child_process'
import {
  mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { effectHistory, type EffectEntry } from '../../../../src/codehost/jobs/histories.js'
import { runJob } from '../../../../src/codehost/jobs/run.js'
import { earlierPosts, requireHourly } from '../../../../src/codehost/jobs/earlier-posts.js'
import { preparePublication } from '../../../../src/codehost/jobs/publication/prepare.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { historyHead } from '../../../../src/state/history/read-history.js'
import { must } from '../../../support/must.js'
import { remote } from '../../../support/codehost/elsewhere.js'
import { onCall } from '../../../support/codehost/on-call.js'
import { onFailingDisk } from '../../../support/soak/failing-disk.js'
import { working, type Working } from '../../../support/codehost/working.js'
import { t } from '../../../support/tests-in-slices.js'
import type { RunOptions } from '../../../world/place.js'

const ready = async (t: Parameters<typeof working>[0]): Promise<Working> => {
  const at = await working(t)
  must(await at.consentToPublish())
  return at
}

/** Code, or code and reason, of a refused preparation; and how many requests were made for it. */
const refusal = async (
  at: Working, source: string, flags: Readonly<Record<string, string>> = {}, how?: RunOptions,
): Promise<readonly [string, string | null, number]> => {
  const before = at.requests().length
  const { code, reason } = (await at.publish(source, flags, how)).error()
  return [code, reason, at.requests().length - before]
}

const sealed = (at: Working): number =>
  readdirSync(join(at.place.stateDir, 'artifacts'), { recursive: true })
    .filter((name) => /[0-9a-f]{64}$/.test(String(name))).length

t.test('texts, names and authors that cannot be published are refused before anybody is asked', async (t) => {
  const at = await ready(t)
  const source = at.folder({ 'a.txt': 'a\n' })
  const before = sealed(at)
  const file = (text: string): string => at.place.write('text', text)
  const cases: readonly (readonly [Record<string, string>, string, string | null])[] = [
    [{ '--branch': 'a..b' }, 'branch_name_invalid', 'dots'],
    [{ '--branch': 'a@{1}' }, 'branch_name_invalid', 'at_brace'],
    [{ '--branch': 'a.lock' }, 'branch_name_invalid', 'component'],
    [{ '--base': 'https://host.example' }, 'branch_name_invalid', 'character'],
    [{ '--branch': 'main' }, 'branch_is_base', null],
    [{ '--title': ' x' }, 'host_text_invalid', 'title_form'],
    [{ '--author': 'Ann' }, 'commit_text_invalid', 'author_form'],
    [{ '--author': 'Ann <a@b> <c@d>' }, 'commit_text_invalid', 'author_form'],
    [{ '--author': '.Ann <a@b>' }, 'commit_text_invalid', 'name_form'],
    [{ '--message-file': file('One\r\n') }, 'commit_text_invalid', 'message_carriage_return'],
  ]
  for (const [flags, code, reason] of cases) {
    t.strictSame(await refusal(at, source, flags), [code, reason, 0], JSON.stringify(flags))
  }
  for (const [text, reason] of [
    ['One', 'message_final_newline'], ['One\n\n', 'message_final_newline'],
    ['One\0\n', 'message_nul'], ['\n', 'message_empty'],
  ] as const) {
    t.strictSame(await refusal(at, source, { '--message-file': file(text) }),
      ['commit_text_invalid', reason, 0], reason)
  }
  t.strictSame(await refusal(at, source, { '--body-file': file('One\r\n') }),
    ['host_text_invalid', 'body_form', 0])
  for (const flags of [{ '--issue': '1' }, { '--idempotency-key': 'x' }]) {
    t.equal((await refusal(at, source, flags))[2], 0)
  }
  t.equal(sealed(at), before)
})

t.test('folders with pipes, sockets or names that are no text are refused before anybody is asked, those with new links, repositories or names that git refuses once the base is known', async (t) => {
  const at = await ready(t)
  const make = (name: string): string => at.folder({ 'a.txt': 'a\n' }, name)
  symlinkSync('a.txt', join(make('linked'), 'link'))
  execFileSync('mkfifo', [join(make('piped'), 'pipe')])
  mkdirSync(join(make('nested'), 'in', '.git'), { recursive: true })
  writeFileSync(join(make('named'), '.GIT '), '')
  writeFileSync(join(make('lined'), 'a\nb'), '')
  writeFileSync(Buffer.concat([Buffer.from(`${make('bytes')}/`), Buffer.from([0xff])]), '')
  const server = createServer().listen(join(make('socketed'), 's'))
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  for (const [name, code, reason, asked] of [
    ['piped', 'source_refused', 'fifo', 0], ['socketed', 'source_refused', 'socket', 0],
    ['bytes', 'path_not_publishable', 'not_utf8', 0], ['none', 'source_refused', 'missing', 0],
    ['linked', 'source_refused', 'link', 5], ['nested', 'source_refused', 'nested_git', 5],
    ['named', 'path_not_publishable', 'git_name', 5],
    ['lined', 'path_not_publishable', 'control_character', 5],
  ] as const) {
    t.strictSame(await refusal(at, at.place.path(name)), [code, reason, asked], name)
  }
  t.strictSame(await refusal(at, at.place.stateDir), ['source_refused', 'own_folder', 0])
  t.strictSame(await refusal(at, at.place.dir), ['source_refused', 'own_folder', 0])
  mkdirSync(at.place.edgeDir, { recursive: true })
  t.strictSame(
    await refusal(at, at.place.edgeDir), ['source_refused', 'own_folder', 0], 'pictures that wait')
})

t.test('a plan that cannot be carried out on this base is refused by its name, and nothing sealed stays', async (t) => {
  const at = await ready(t)
  const before = sealed(at)
  const base = { 'README.md': '# Notes\n\nA repository to try publications on.\n' }
  const last = async (source: string) => (await refusal(at, source)).slice(0, 2)
  t.strictSame(await last(at.folder(base, 'same')), ['nothing_to_publish', null])
  t.strictSame(await last(at.folder({ 'docs': 'x' }, 'over')),
    ['overlay_refused', 'file_over_folder'])
  t.strictSame(await last(at.folder({ 'README.md/x': 'x' }, 'below')),
    ['overlay_refused', 'folder_over_file'])
  t.strictSame(await last(at.folder({ '.github/workflows/x.yml': 'x' }, 'flow')),
    ['path_not_publishable', 'workflow'])
  const large = at.folder({ 'a': '' }, 'large')
  truncateSync(join(large, 'a'), 2 * 1024 * 1024 + 1)
  t.strictSame(await last(large), ['source_refused', 'file_too_large'])
  const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`f${n}`, '']))
  t.strictSame(await last(at.folder(many, 'many')), ['plan_not_closable', 'expected_files'])
  t.equal(sealed(at), before)
  const told = await at.publish(at.place.path('same'))
  t.not(told.status, 3, 'the host was asked by then')
})

t.test('a file that changes while the folder is read, or a disk that is full while it is sealed, leaves no job and nothing that counts', async (t) => {
  const at = await ready(t)
  const source = at.folder({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
  const before = sealed(at)
  const changed = await onCall('openSync', (_, [path]) => {
    if (String(path).endsWith('/b.txt')) writeFileSync(join(source, 'a.txt'), 'other\n')
  }, () => at.publish(source))
  t.hasStrict(changed.error(), { code: 'source_changed' })
  t.equal(sealed(at), before)
  const artifacts = [join(at.place.stateDir, 'artifacts'), '/proc/self/fd']
  let [full, named, stored] = [0, 0, before]
  for (let call = 1; at.view().all(jobCollection).length === 0; call += 1) {
    const ran = await onFailingDisk(artifacts, { at: call, fault: 'ENOSPC', seen: [] },
      () => at.publish(source))
    if (ran.status === 0) break
    t.equal(ran.error().code, 'disk_full', `call ${call}`)
    full += 1
    if (sealed(at) === stored) continue
    named += 1
    stored = sealed(at)
  }
  t.ok(full >= 6, `${full} calls failed`)
  t.ok(named <= 2, 'only a file whose name could not be made durable stays, for the sweep')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('what the consent does not allow, or no consent at all, asks nobody', async (t) => {
  const at = await working(t)
  const source = at.folder({ 'a.txt': 'a\n' })
  t.strictSame(await refusal(at, source), ['codehost_write_denied', 'action_not_allowed', 0])
  must(await at.consentToPublish())
  must(await at.run(['codehost', 'revoke', at.id]))
  t.strictSame(await refusal(at, source), ['codehost_write_denied', 'consent_revoked', 0])
  must(await at.consentToPublish())
  at.clock.advance(1_800_001)
  const late = await at.publish(source)
  t.not(late.status, 0)
  t.strictSame(at.view().all(jobCollection), [])
})

t.test('a consent that is taken back while the base is read ends the reading, and no job is made', async (t) => {
  const at = await ready(t)
  const source = at.folder({ 'a.txt': 'a\n' })
  const during = async (act: () => Promise<void>) => {
    let acted = false
    const ran = await at.publish(source, {}, {
      at: async (step) => {
        if (acted || !step.startsWith('base.')) return
        acted = true
        await act()
      },
    })
    t.ok(acted, 'there was a step of the reading')
    return ran.error()
  }
  t.hasStrict(await during(async () => {
    must(await at.run(['codehost', 'revoke', at.id]))
  }), { code: 'codehost_read_denied', reason: 'stale_connection_revision' })
  must(await at.consent(['--action', 'git.object.create', 'git.ref.create',
    'pull_request.create', '--duration', '1m']))
  const asked = at.requests().length
  t.hasStrict(await during(async () => at.clock.advance(60_001)),
    { code: 'codehost_write_denied', reason: 'consent_expired' })
  t.equal(at.requests().length, asked, 'no read was made without the consent')
  t.strictSame(at.view().all(jobCollection), [])
})

t.test('a session that ends behind the reading makes no job, and what was sealed for it is let go', async (t) => {
  const at = await ready(t)
  const before = sealed(at)
  const ran = await at.publish(at.folder({ 'a.txt': 'a\n' }), {}, {
    at: (step) => {
      if (step === 'codehost.planned') at.clock.advance(1_800_001)
    },
  })
  t.hasStrict(ran.error(), { code: 'session_idle' })
  t.strictSame(at.view().all(jobCollection), [])
  t.equal(sealed(at), before)
})

t.test('the same key and request give the first job again and ask nobody; another request is refused', async (t) => {
  const at = await ready(t)
  const source = at.folder({ 'a.txt': 'a\n' })
  const key = { '--idempotency-key': '2b1f6a3e-3c57-4f0e-9a3e-1c1d2e3f4a5b' }
  const first = must(await at.publish(source, key)).json()
  const before = at.requests().length
  const stored = sealed(at)
  t.equal(must(await at.publish(source, key)).json().id, first.id)
  t.strictSame(await refusal(at, source, { ...key, '--title': 'Two' }),
    ['idempotency_conflict', null, 0])
  const { hint } = (await at.publish(source, { ...key, '--title': 'Two' })).error()
  t.match(hint, `\`sallyport codehost jobs ${first.id}\``, 'an own job is what may be a repeat')
  t.strictSame([at.requests().length, sealed(at)], [before, stored])
  for (const change of [
    () => writeFileSync(join(source, 'a.txt'), 'b\n'),
    () => writeFileSync(join(source, 'b.txt'), 'b\n'),
  ]) {
    change()
    t.strictSame(await refusal(at, source, key), ['idempotency_conflict', 'source', 0])
    t.strictSame([at.requests().length, sealed(at)], [before, stored])
    writeFileSync(join(source, 'a.txt'), 'a\n')
  }
  rmSync(join(source, 'b.txt'))
  t.equal(must(await at.publish(source, key)).json().id, first.id, 'as it was, it is that job')
})

t.test('where no producer can run nothing is prepared, and issues still are', async (t) => {
  const at = await ready(t)
  const source = at.folder({ 'a.txt': 'a\n' })
  t.strictSame(await refusal(at, source, {}, { producer: { platform: 'darwin' } }),
    ['producer_unsupported', 'platform', 0])
  t.strictSame(await refusal(at, source, {}, { producer: { helper: '/none' } }),
    ['producer_unsupported', 'helper_missing', 0])
})

const prepareRemote = (at: Working, source: string) =>
  preparePublication(remote(at), at.session(), {
    connectionId: at.id, source, ownFolders: [at.place.stateDir], base: 'main', branch: 'topic',
    title: 'T', body: '', author: 'Ann <ann@example.org>',
  })

t.test('at a host of others creations of a token are counted over all its connections for an hour, and the plan says so', async (t) => {
  const at = await working(t)
  const sent = await at.approved()
  must(await at.runJob(sent))
  const { token_fingerprint: token } = at.job(sent)
  const now = at.clock.wallMs()
  t.equal(earlierPosts(at.view(), token, now), 1)
  t.equal(earlierPosts(at.view(), token, now + 3_599_000), 1)
  t.equal(earlierPosts(at.view(), token, now + 3_601_000), 0)
  t.equal(earlierPosts(at.view(), 'another', now), 0)
  const twin = must(await at.run(['codehost', 'connect', '--repo', 'operator/notes',
    '--token-file', at.sandbox.keyFiles.codehost, '--json'])).json().id
  must(await at.run(['codehost', 'consent', twin, '--action', 'issue.create', '--acknowledge',
    '--expected-revision', '1']))
  const other = (await at.json(['codehost', 'prepare', 'issue', '--connection', twin, '--title',
    'x', '--body-file', at.place.write('body.md', 'x')])).id
  t.equal(at.job(other).token_fingerprint, token, 'the token tells, not the connection')
  const mark: EffectEntry = {
    type: 'contacted', at: new Date(now).toISOString(), effect: 1, attempt: 1,
    operation_id: 'op_x', fence: 1, body_sha256: 'a'.repeat(64),
  }
  const old = { ...mark, at: new Date(now - 3_601_000).toISOString() }
  await at.transact((tx) => {
    tx.append(effectHistory, other, historyHead(tx, effectHistory, other),
      [...Array.from({ length: 10 }, () => old), ...Array.from({ length: 474 }, () => mark)])
    tx.put(jobCollection, other, {
      ...at.job(other), contacted: 1, updated_at: new Date(now).toISOString(),
    })
  })
  must(await at.consentToPublish())
  const source = at.folder({ 'a.txt': 'a\n' })
  const job = await prepareRemote(at, source)
  t.equal(job.plan.effects, 5, '475 and 5 are 480')
  writeFileSync(join(source, 'b'), Buffer.from([0]))
  await t.rejects(prepareRemote(at, source), {
    code: 'plan_not_closable', reason: 'posts_an_hour',
  })
})

t.test('what a token has created is counted again when a job is run, what others of it have still to send among it', async (t) => {
  const at = await working(t)
  const other = await at.prepare('Other')
  const { token_fingerprint: token } = at.job(other)
  const now = new Date(at.clock.wallMs()).toISOString()
  const mark: EffectEntry = {
    type: 'contacted', at: now, effect: 1, attempt: 1, operation_id: 'op_x', fence: 1,
    body_sha256: 'a'.repeat(64),
  }
  await at.transact((tx) => {
    tx.append(effectHistory, other, historyHead(tx, effectHistory, other),
      Array.from({ length: 400 }, () => mark))
    tx.put(jobCollection, other, {
      ...at.job(other), contacted: 400, state: 'running', updated_at: now,
      plan: { ...at.job(other).plan, effects: 479 },
    })
  })
  t.equal(earlierPosts(at.view(), token, at.clock.wallMs()), 400)
  const job = await at.approved()
  const more = (effects: number) => at.transact((tx) => tx.put(jobCollection, other, {
    ...at.job(other), plan: { ...at.job(other).plan, effects },
  }))
  const ctx = remote(at)
  const before = at.requests().length
  await more(480)
  await t.rejects(runJob(ctx, at.session(), job), {
    code: 'posts_an_hour', details: { earlier: 480, needed: 1, limit: 480 },
  })
  t.equal(at.requests().length, before, 'nobody was asked')
  const counted = at.job(other)
  await at.transact((tx) => tx.put(jobCollection, other, {
    ...counted, contacted: 0, token_fingerprint: 'f'.repeat(token.length),
  }))
  t.doesNotThrow(() => requireHourly(ctx.gov, at.view(), at.job(job)), 'of another token')
  await at.transact((tx) => tx.put(jobCollection, other, counted))
  await more(479)
  let isLate = false
  const late = { ...ctx, gov: { ...ctx.gov, observer: { at: async (step: string) => {
    if (step !== 'preflight.finished' || isLate) return
    isLate = true
    await more(480)
  } } } }
  await t.rejects(runJob(late, at.session(), job), { code: 'posts_an_hour' })
  t.hasStrict(at.job(job), { state: 'approved', attempt: 0, reserved: false })
  t.equal(at.posts().length, 0)
  await more(479)
  t.hasStrict((await runJob(ctx, at.session(), job)).job, { state: 'succeeded' })
})

t.test('a publication that consent, session or its idle time would not outlive is refused when it is prepared', async (t) => {
  const at = await working(t)
  const binary = Object.fromEntries(Array.from({ length: 70 }, (_, n) =>
    [`f${n}`, Buffer.from([0, n])]))
  const source = at.folder(binary)
  must(await at.consent(['--action', 'git.object.create', 'git.ref.create',
    'pull_request.create', '--duration', '1m']))
  await t.rejects(prepareRemote(at, source), { code: 'codehost_too_short', reason: 'consent' })
  must(await at.consentToPublish())
  t.equal((await prepareRemote(at, source)).plan.effects, 74)
})

t.test('what is sealed of a publication holds no word of it in the clear', async (t) => {
  const at = await ready(t)
  must(await at.publish(at.folder({ 'a.txt': 'MARK-content\n', 'MARK-name': 'x' }), {
    '--title': 'MARK-title', '--author': 'MARK-ann <ann@example.org>',
  }))
  t.notOk(readFileSync(join(at.place.stateDir, 'STATE')).includes('MARK-'))
})
