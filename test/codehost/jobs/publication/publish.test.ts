/** `codehost publish`: from a folder to a pull request, at a terminal and in a script. */
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { codehostBase } from '../../../../src/codehost/context.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import {
  columns, converse, keys, needsScript, type Step,
} from '../../../support/cli/pseudo-terminal.js'
import {
  asked, line, prepared, send, tailOf, terminal, withSite,
} from '../../../support/codehost/publish-lines.js'
import { failure, must } from '../../../support/must.js'
import { clientOf, settled } from '../../../support/sandbox/host-client.js'
import { t } from '../../../support/tests-in-slices.js'
import { World } from '../../../world/world.js'

t.test('C-007 C-008 C-079 prepared in one line and sent in the next: job and digest, then the pull request, its address and the receipt, and nothing that is sent twice', async (t) => {
  const at = await withSite(t)
  const key = randomUUID()
  const first = await prepared(at, { '--idempotency-key': key })
  t.hasStrict(first, {
    state: 'prepared', connection: at.id, repository: 'operator/notes', pull_request: null,
    receipt: null, branch: `site-${tailOf(first.job)}`,
  })
  t.equal(first.digest, at.job(first.job).preview_sha256)
  t.equal(first.preview.digest, first.digest)
  t.equal(at.posts().length, 0)
  const again = await prepared(at, { '--idempotency-key': key })
  t.equal(again.job, first.job, 'the same key gives the same job')
  const done = must(await send(at, first)).json()
  const { receipt_id: receipt } = at.job(first.job)
  t.hasStrict(done, {
    schema: 'sallyport.codehost.publish.v1', job: first.job, digest: first.digest,
    state: 'succeeded', branch: first.branch, receipt, preview: null,
    pull_request: { number: 1, url: `${codehostBase(at.gov)}/operator/notes/pull/1` },
    effects: { planned: 6, contacted: 6, created: 6 },
  })
  const { length } = at.requests()
  t.strictSame(must(await send(at, first)).json(), done, 'sent again it is answered')
  must(await at.run(['logout']))
  must(await at.run(['login']))
  t.strictSame(must(await send(at, first)).json(), done, 'in a later session, too')
  t.hasStrict(await prepared(at, { '--idempotency-key': key }), {
    job: first.job, state: 'succeeded', preview: null,
  })
  t.equal(at.requests().length, length, 'and nobody is asked')
  await settled(t, clientOf(at.sandbox))
})

t.test('C-007 at a terminal what is left out is asked for, everything that is sent is shown before one question, and only a yes sends it', async (t) => {
  const at = await withSite(t)
  const fields = { '--base': null, '--branch': null, '--title': null, '--author': null }
  const questions: string[] = []
  const answer = (text: string | boolean) => async (question: string) => {
    questions.push(question)
    return text
  }
  const told = ['main', 'site/{id}', 'The site', 'Ann <ann@example.org>'].map(answer)
  const no = await asked(at, [...told, answer(false)], { ...fields, '--connection': null })
  t.hasStrict(failure(no), { status: 130, code: 'declined' })
  t.equal(at.posts().length, 0)
  t.equal(questions.length, 5)
  t.match(questions.at(-1), 'Send exactly this to operator/notes')
  const [job] = at.view().all(jobCollection)
  const id = job?.id ?? ''
  for (const shown of [
    `site/${tailOf(id)}, a new branch`, '+ src/new.ts', 'Effects, in this order:',
    job?.doc.preview_sha256 ?? '', id,
  ]) t.match(no.stderr, shown)
  t.match(no.stderr, `codehost preview ${id}`)
  t.match(no.stderr.replace(/ \\\n */g, ' '), "--title 'The site' --author 'Ann <ann@example.org>'",
    'nobody types it again')
  const yes = must(await asked(at, [true]))
  t.hasStrict(yes.json(), { state: 'succeeded', pull_request: { number: 1 } })
  t.match(yes.stderr, 'Effects, in this order:')
  t.equal(at.posts().length, 6)
  at.folder({ '.env': 'A=1\n' }, 'site')
  const quiet = await at.run([...line(at), '--quiet'], { terminal, answers: [false] })
  t.match(quiet.stderr, 'Effects, in this order:', 'what is agreed to is shown to whoever is quiet')
  t.match(quiet.stderr, 'LOOK: 1 file above may hold what is secret.')
})

t.test('without a terminal nothing is sent by the folder alone: it names the two halves, and asks nobody', async (t) => {
  const at = await withSite(t)
  const before = at.requests().length
  for (const how of [
    {}, { terminal: { ...terminal, stderr: false } }, { terminal: { ...terminal, stdin: false } },
  ]) {
    const ran = await at.run([...line(at), '--json'], how)
    t.hasStrict(ran.error(), { code: 'input_required' })
    t.equal(ran.status, 2)
    t.match(ran.stderr, '--prepare --json')
  }
  t.equal((await at.run([...line(at), '--no-input'], { terminal })).status, 2)
  const env = { SALLYPORT_STATE_DIR: at.place.path('nowhere') }
  t.equal((await at.run(line(at, { '--title': null }).concat('--prepare'), { env })).status, 2)
  const both = ['codehost', 'publish', 'job_x', '--preview-digest', 'd', '--json']
  for (const more of [['--prepare'], ['--title', 'x'], ['--connection', at.id]]) {
    t.hasStrict(failure(await at.run([...both, ...more])), { status: 2, code: 'publish_flags' })
  }
  t.equal(at.requests().length, before)
})

t.test('a job in the place of the folder is told how jobs are sent, before anything is asked', async (t) => {
  const at = await withSite(t)
  const { job } = await prepared(at)
  const before = at.requests().length
  for (const named of [job, `job_${tailOf(job)}`]) {
    const ran = await at.run(['codehost', 'publish', named, '--json'], { terminal })
    t.hasStrict(failure(ran), { status: 2, code: 'publish_flags' }, named)
    t.strictSame(ran.error().next.map(({ command }: { command: string }) => command), [
      `sallyport codehost preview ${job}`,
      `sallyport codehost publish ${job} --preview-digest D`,
    ])
  }
  t.equal(at.requests().length, before)
  at.folder({ 'a.txt': 'A' }, job)
  const words = line(at).with(2, job)
  t.equal(must(await at.run([...words, '--prepare', '--json'])).json().state, 'prepared')
})

t.test('C-213 C-214 where no consent stands a script is told the line that gives one, and a person is asked for it, unchecked', async (t) => {
  const at = await withSite(t)
  must(await at.run(['codehost', 'revoke', at.id]))
  const { revision } = at.connection()
  const before = at.requests().length
  const refused = await at.run([...line(at), '--prepare', '--json'])
  t.hasStrict(refused.error(), {
    code: 'codehost_write_denied', reason: 'consent_revoked', next: [{
      command: `sallyport codehost consent ${at.id} --action git.object.create git.ref.create `
        + `pull_request.create --expected-revision ${revision}`,
      needs_person: true,
    }],
  })
  t.equal(at.requests().length, before, 'nobody was asked')
  const wrong = await asked(at, [], { '--branch': 'a..b' })
  t.hasStrict(failure(wrong), { status: 3, code: 'branch_name_invalid' }, 'told before a consent')
  t.equal(at.requests().length, before)
  const no = await asked(at, [false])
  t.hasStrict(failure(no), { status: 130, code: 'declined' })
  t.not(at.connection().consent?.ended ?? null, null, 'no consent stands')
  const yes = must(await asked(at, [true, true])).json()
  t.equal(yes.state, 'succeeded')
  t.strictSame(at.connection().consent?.actions,
    ['git.object.create', 'git.ref.create', 'pull_request.create'])
  must(await at.consent())
  const narrow = await at.run([...line(at), '--prepare', '--json'])
  t.hasStrict(narrow.error(), { code: 'codehost_write_denied', reason: 'action_not_allowed' })
  t.equal(at.posts().length, 6)
})

t.test('C-007 only the digest of what this very job will send is sent: another job’s, an altered one and an issue are refused', async (t) => {
  const at = await withSite(t)
  const [one, other] = [await prepared(at), await prepared(at)]
  const before = at.requests().length
  for (const digest of [other.digest, one.digest.replace(/^./, 'x'), '']) {
    const ran = await send(at, { job: one.job, digest })
    t.hasStrict(failure(ran), { status: 5, code: 'preview_changed' })
  }
  must(await at.consent(['--action', 'issue.create', 'git.object.create', 'git.ref.create',
    'pull_request.create']))
  const issue = await at.prepare()
  const { preview_sha256: digest } = at.job(issue)
  t.hasStrict(failure(await send(at, { job: issue, digest })), {
    status: 3, code: 'not_a_publication',
  })
  t.hasStrict(failure(await send(at, { job: 'job_x', digest })), { code: 'job_not_found' })
  t.hasStrict(failure(await send(at, one)), { code: 'codehost_write_denied' }, 'another consent')
  t.equal(at.job(one.job).state, 'prepared')
  t.equal(at.posts().length, 0)
  t.equal(at.requests().length - before, 2, 'the look of the consent')
  const third = await prepared(at)
  must(await send(at, third))
  for (const { digest: wrong } of [one, other]) {
    const ran = await send(at, { job: third.job, digest: wrong })
    t.hasStrict(failure(ran), { status: 5, code: 'preview_changed' }, 'nor answered by another')
  }
})

t.test('what becomes executable and what stops being so is shown in words', async (t) => {
  const at = await withSite(t)
  at.folder({ 'run.sh': '#!/bin/sh\n' }, 'site')
  const path = at.place.path('site/run.sh')
  const shown = async (flags: Readonly<Record<string, string>>): Promise<string> => {
    const { job, digest } = await prepared(at, flags)
    const { stdout } = must(await at.run(['codehost', 'preview', job]))
    must(await send(at, { job, digest }))
    return stdout
  }
  chmodSync(path, 0o755)
  t.match(await shown({ '--branch': 'first' }), '+ run.sh  executable, 10 B')
  chmodSync(path, 0o644)
  t.match(await shown({ '--branch': 'second', '--base': 'first' }),
    'x run.sh  no longer executable, 10 B')
})

t.test('without --connection it is the only one; of several none is guessed, and a person chooses', async (t) => {
  const at = await withSite(t)
  const none = { '--connection': null }
  t.equal((await prepared(at, none)).connection, at.id)
  const { id: other } = await at.json(['codehost', 'connect', '--repo', 'operator/other',
    '--token-file', at.sandbox.keyFiles.codehost])
  const { length } = at.requests()
  const ran = await at.run([...line(at, none), '--prepare', '--json'])
  t.hasStrict(failure(ran), { status: 2, code: 'connection_needed' })
  t.equal(at.requests().length, length)
  const sent = must(await asked(at, [`operator/notes  ${at.id}`, true], none)).json()
  t.hasStrict(sent, { state: 'succeeded', connection: at.id })
  for (const id of [at.id, other]) must(await at.run(['codehost', 'disconnect', id]))
  const gone = await at.run([...line(at, none), '--prepare', '--json'])
  t.hasStrict(failure(gone), { status: 6, code: 'connection_not_found' })
  const fields = { '--title': null, '--branch': null, '--author': null, '--base': null }
  const early = await asked(at, [], { ...none, ...fields })
  t.hasStrict(failure(early), { status: 6, code: 'connection_not_found' }, 'nothing was asked')
  const foreign = await asked(at, [], { ...fields, '--connection': 'cnn_x' })
  t.hasStrict(failure(foreign), { status: 6, code: 'connection_not_found' }, 'nor of another one')
})

t.test('from nothing to the first pull request it takes four commands at a terminal, and every line of them fits', {
  skip: needsScript,
}, async (t) => {
  const at = await World.in(t).sandbox()
  const { profileFile, keyFiles } = at.sandbox
  mkdirSync(at.place.path('site'))
  at.place.write('site/index.html', '<p>MARK-site</p>\n')
  const { enter } = keys
  const token = readFileSync(keyFiles.codehost, 'utf8').trim()
  const typed: readonly (readonly [string, readonly Step[]])[] = [
    [`init --profile '${profileFile}'`, []],
    ['login', []],
    ['codehost connect', [
      { at: 'Repository', keys: `operator/notes${enter}` },
      { at: 'Token', keys: `${token}${enter}` },
      { at: 'Store this token', keys: `y${enter}` },
    ]],
    ['codehost publish site', [
      { at: 'Branch to start from', keys: enter }, { at: 'New branch', keys: enter },
      { at: 'Title', keys: `The site${enter}` },
      { at: 'Author', keys: `Ada <ada@example.org>${enter}` },
      { at: 'I consent to these writes', keys: `y${enter}` },
      { at: 'Send exactly this', keys: `y${enter}` },
    ]],
  ]
  for (const [words, steps] of typed) {
    const { status, shown, lines } = await converse(t, at, words, steps)
    t.equal(status, 0, shown)
    t.strictSame(lines.filter((one) => one.length > columns), [], words)
    if (words.startsWith('codehost publish')) {
      t.match(shown, /pull request: #1 {2}https:\S+\/operator\/notes\/pull\/1/)
      t.match(shown, /receipt: +rdb_/)
      t.match(shown, '$ sallyport codehost publish site')
    }
  }
  t.equal(typed.length, 4)
})

t.test('Enter alone through `codehost publish` sends nothing', { skip: needsScript }, async (t) => {
  const at = await withSite(t)
  const words = line(at, { '--title': 'Site', '--author': null, '--branch': 'site-{id}' })
  const { status, shown } = await converse(t, at, words.map((word) => `'${word}'`).join(' '), [
    { at: 'Author', keys: `Ada <ada@example.org>${keys.enter}` },
    { at: 'Send exactly this', keys: keys.enter },
  ])
  t.equal(status, 130, shown)
  t.match(shown, 'Declined; nothing was sent.')
  t.equal(at.posts().length, 0)
})
