/** `codehost publish`: from a folder to a pull request, at a terminal and in a script. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { codehostBase } from '../../../../src/codehost/context.js'
import { jobCollection } from '../../../../src/codehost/jobs/rows.js'
import { followLine, seriesOf } from '../../../../src/codehost/jobs/series.js'
import { connectionCollection } from '../../../../src/governance/connections/rows.js'
import type { Answer, Loose, Ran, RunOptions } from '../../../world/place.js'
import { failure, must } from '../../../support/must.js'
import { publishing, type Folder, type Publishing } from '../../../support/codehost/publishing.js'
import {
  columns, converse, keys, needsScript, type Step,
} from '../../../support/cli/pseudo-terminal.js'
import { World } from '../../../world/world.js'
import { clientOf, settled } from '../../../support/sandbox/host-client.js'
import { slice } from '../../../support/slice.js'
import { t } from '../../../support/tests-in-slices.js'

const terminal = { stdin: true, stdout: true, stderr: true }

const files: Folder = {
  'README.md': '# Notes, of another kind\n', 'src/new.ts': 'export const one = "MARK-new"\n',
  'src/binary': Buffer.from([0, 1, 2, 255]),
}

/** What names a publication on a line; a flag of null is left out. */
const line = (at: Publishing, more: Readonly<Record<string, string | null>> = {}): string[] => [
  'codehost', 'publish', 'site', ...Object.entries({
    '--connection': at.id, '--base': 'main', '--branch': 'site-{id}', '--title': 'The site',
    '--author': 'Ann <ann@example.org>', ...more,
  }).flatMap(([flag, value]) => (value === null ? [] : [flag, value])),
]

const prepared = async (
  at: Publishing, more: Readonly<Record<string, string | null>> = {}, how?: RunOptions,
): Promise<Loose> => must(await at.run([...line(at, more), '--prepare', '--json'], how)).json()

const send = (at: Publishing, { job, digest }: Loose, how?: RunOptions): Promise<Ran> =>
  at.run(['codehost', 'publish', job, '--preview-digest', digest, '--json'], how)

/** The same at a terminal, where somebody answers. */
const asked = (
  at: Publishing, answers: readonly Answer[],
  more: Readonly<Record<string, string | null>> = {},
): Promise<Ran> => at.run([...line(at, more), '--json'], { terminal, answers })

const world = async (...[t]: Parameters<typeof publishing>): Promise<Publishing> => {
  const at = await publishing(t)
  at.folder(files, 'site')
  return at
}

const tailOf = (job: string): string => job.slice(-8)

t.test('C-007 C-008 C-079 prepared in one line and sent in the next: job and digest, then the pull request, its address and the receipt, and nothing that is sent twice', async (t) => {
  const at = await world(t)
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
  const at = await world(t)
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
  const yes = must(await asked(at, [true]))
  t.hasStrict(yes.json(), { state: 'succeeded', pull_request: { number: 1 } })
  t.match(yes.stderr, 'Effects, in this order:')
  t.equal(at.posts().length, 6)
})

t.test('without a terminal nothing is sent by the folder alone: it names the two halves, and asks nobody', async (t) => {
  const at = await world(t)
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
  t.equal((await at.run(line(at, { '--title': null }).concat('--prepare'))).status, 2)
  const both = ['codehost', 'publish', 'job_x', '--preview-digest', 'd', '--json']
  for (const more of [['--prepare'], ['--title', 'x'], ['--connection', at.id]]) {
    t.hasStrict(failure(await at.run([...both, ...more])), { status: 2, code: 'publish_flags' })
  }
  t.equal(at.requests().length, before)
})

t.test('C-213 C-214 where no consent stands a script is told the line that gives one, and a person is asked for it, unchecked', async (t) => {
  const at = await world(t)
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

/** What changes while a person thinks, and how it is said where it is the folder's. */
const changes: Readonly<Record<string, (at: Publishing) => unknown>> = {
  'a file': (at) => at.folder({ 'README.md': '# Another\n' }, 'site'),
  'a file more': (at) => at.folder({ 'new.txt': 'new\n' }, 'site'),
  'a file that the base has as well': (at) =>
    at.folder({ 'docs/plan.md': '# Plan\n\n- one\n- two\n' }, 'site'),
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
  const at = await world(t)
  for (const [what, change] of Object.entries(changes)) {
    at.folder(files, 'site')
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

t.test('C-007 only the digest of what this very job will send is sent: another job’s, an altered one and an issue are refused', async (t) => {
  const at = await world(t)
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
})

t.test('C-011 a creation that the host refuses is not repeated, however often it is asked for', async (t) => {
  for (const [fault, kind] of [
    ['write_not_done_422', 'effect_refused'], ['write_limit_spent', 'effect_refused'],
  ] as const) {
    const at = await world(t)
    const one = await prepared(at)
    at.sandbox.faults.set(fault, { service: 'codehost', after: 2, times: 1 })
    const refused = await send(at, one)
    t.hasStrict(failure(refused), { status: 9, code: kind, out: '' }, fault)
    t.equal(at.posts().length, 3, fault)
    const { length } = at.requests()
    t.hasStrict(failure(await send(at, one)), { status: 9, code: kind, out: '' }, fault)
    t.equal(at.requests().length, length, `${fault}: nobody is asked again`)
  }
})

t.test('C-011 C-104 where a reply is lost it ends with 7 and the line that goes on; that line and the same one again send the rest, and nothing twice', async (t) => {
  for (const after of [2, 5]) {
    const at = await world(t)
    const key = randomUUID()
    const one = await prepared(at, { '--idempotency-key': key })
    at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after, times: 1 })
    const lost = await send(at, one)
    t.hasStrict(failure(lost), { status: 7, code: 'unknown_external_effect', out: '' })
    const next = (ran: Ran): string => ran.error().next[0]?.command ?? ''
    const told = next(lost)
    const { length } = at.posts()
    t.equal(length, after + 1)
    t.equal(next(await send(at, one)), told, 'asked again it is the same')
    const again = await prepared(at, { '--idempotency-key': key })
    t.hasStrict(again, { job: one.job, state: 'unknown_external_effect', preview: null })
    t.equal(at.posts().length, length, 'and nothing is sent')
    if (after === 5) {
      t.match(told, `sallyport codehost close-capacity ${one.job}`)
      continue
    }
    t.equal(told, `sallyport codehost reconcile ${one.job} --expected-read-revision `
      + String(at.connection().revision))
    const read = await at.run([...told.split(' ').slice(1), '--json'])
    t.hasStrict(failure(read), { status: 7, code: 'codehost_incomplete' })
    t.hasStrict(must(await send(at, one)).json(), {
      state: 'succeeded', pull_request: { number: 1 },
    })
    const sent = at.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
    t.equal(sent.length, 6)
    t.equal(new Set(sent).size, 6)
    await settled(t, clientOf(at.sandbox))
  }
})

t.test('C-011 a person who asks for the rest sees how far it came and is asked once more', async (t) => {
  const at = await world(t)
  const key = { '--idempotency-key': randomUUID() }
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 2, times: 1 })
  const lost = await asked(at, [true], key)
  t.hasStrict(failure(lost), { status: 7, code: 'unknown_external_effect' })
  const command = lost.error().next[0]?.command ?? ''
  const still = await asked(at, [], key)
  t.hasStrict(failure(still), { status: 7, code: 'unknown_external_effect' }, 'nothing is asked')
  t.equal((await at.run(command.split(' ').slice(1))).status, 7)
  const no = await asked(at, [false], key)
  t.hasStrict(failure(no), { status: 130, code: 'declined' })
  t.match(no.stderr, '6 planned, 3 may have happened, 3 confirmed')
  t.equal(at.posts().length, 3)
  t.hasStrict(must(await asked(at, [true], key)).json(), { state: 'succeeded' })
  t.equal(at.posts().length, 6)
  const { length } = at.requests()
  t.hasStrict(must(await asked(at, [], key)).json(), { state: 'succeeded' }, 'done is answered')
  t.equal(at.requests().length, length)
})

/** Where a process is killed or interrupted, and how many POSTs the host has seen by then. */
const cuts: readonly (readonly [string, number])[] = [
  ['codehost.planned', 0], ['codehost.bound', 0], ['codehost.claimed', 0],
  ['codehost.produced', 0], ['codehost.before_resolve#3', 2], ['codehost.replied#3', 3],
  ['codehost.created', 6], ['codehost.finished', 6],
]

const settledWith = async (at: Publishing, key: string): Promise<Loose> => {
  const one = await prepared(at, { '--idempotency-key': key })
  for (let left = 4; left > 0; left -= 1) {
    const ran = await send(at, one)
    if (ran.status === 0) return ran.json()
    const [way] = ran.error().next
    if (way?.command.startsWith('sallyport codehost reconcile') !== true) break
    await at.run(way.command.split(' ').slice(1))
  }
  throw new Error(`it did not come to its end: ${at.job(one.job).state}`)
}

t.test('C-045 killed anywhere and run again with the same key it comes to one pull request, and no creation is sent twice', async (t) => {
  const at = await world(t)
  const cells = slice('killed at', cuts, { axesOf: ([, posts]) => [posts], idOf: ([step]) => step })
  for (const [step, posts] of cells) {
    at.folder({ 'own.txt': step, 'src/binary': Buffer.from([0, ...Buffer.from(step)]) }, 'site')
    const before = at.posts().length
    const key = randomUUID()
    const words = [...line(at, { '--idempotency-key': key }), '--prepare', '--json']
    const how = { entry: 'test', coverage: false, env: { TEST_STOP_AT: step } } as const
    const first = await at.place.spawn(words, how)
    if (step === 'codehost.planned') t.not(first.status, 0, step)
    else {
      const { job, digest } = must(first).json()
      const killed = await at.place.spawn(
        ['codehost', 'publish', job, '--preview-digest', digest, '--json'], how)
      t.not(killed.status, 0, step)
    }
    t.equal(at.posts().length - before, posts, step)
    t.hasStrict(await settledWith(at, key), { state: 'succeeded' }, step)
    t.equal(at.posts().length - before, 6, step)
    const check = await at.run(['state', 'check'])
    t.equal(check.status, 0, `${step}: ${check.stderr}`)
  }
  const sent = at.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  t.equal(new Set(sent).size, sent.length, 'no effect was sent twice')
})

t.test('an interrupt leaves what the same leaves of `run`, and nothing is sent behind it', async (t) => {
  const at = await world(t)
  for (const [step, number, state, posts] of [
    ['preflight.before_dial', 1, 'approved', 0], ['codehost.before_resolve', 3, 'blocked', 2],
  ] as const) {
    const one = await prepared(at)
    const before = at.posts().length
    const stop = new AbortController()
    let seen = 0
    const ran = await send(at, one, {
      stop: stop.signal,
      at: (name) => {
        if (name === step && (seen += 1) === number) stop.abort()
      },
    })
    t.not(failure(ran).status, 0, step)
    t.hasStrict(at.job(one.job), { state, contacted: posts }, step)
    t.equal(at.posts().length - before, posts, step)
    t.hasStrict(must(await send(at, one)).json(), { state: 'succeeded' }, step)
    t.equal(at.posts().length - before, 6, step)
  }
})

t.test('two processes with one key make one job and one pull request', async (t) => {
  const at = await world(t)
  const key = randomUUID()
  const words = [...line(at, { '--idempotency-key': key }), '--prepare', '--json']
  const both = await Promise.all([at.place.spawn(words), at.place.spawn(words)])
  const [one, other] = both.map((ran) => must(ran).json())
  t.equal(one.job, other.job)
  t.equal(at.view().all(jobCollection).length, 1)
  const argv = ['codehost', 'publish', one.job, '--preview-digest', one.digest, '--json']
  const ran = await Promise.all([at.place.spawn(argv), at.place.spawn(argv)])
  t.ok(ran.some(({ status }) => status === 0), ran.map(({ stderr }) => stderr).join())
  for (const { status } of ran) t.ok([0, 5, 7].includes(status), String(status))
  t.hasStrict(must(await send(at, one)).json(), { state: 'succeeded' })
  t.equal(at.posts().length, 6)
})

t.test('C-029 {id} gives each publication a branch of its own that is known before; the body names the one before it and nothing is moved', async (t) => {
  const at = await world(t)
  const body = at.place.write('body.md', 'What was built.\n')
  const publishNext = async (more: Readonly<Record<string, string | null>> = {}) => {
    at.folder({ 'own.txt': randomUUID() }, 'site')
    return prepared(at, { '--body-file': body, ...more })
  }
  const first = await publishNext()
  t.equal(first.branch, `site-${tailOf(first.job)}`)
  t.equal(first.preview.publication.branch, first.branch)
  t.equal(first.preview.text, 'What was built.\n', 'it follows none')
  const meanwhile = await publishNext()
  t.equal(meanwhile.preview.text, 'What was built.\n', 'nor one that was not sent')
  must(await send(at, first))
  const line1 = `Follows #1 (\`${first.branch}\`).\n`
  const second = await publishNext()
  t.equal(second.preview.text, `What was built.\n\n${line1}`)
  t.not(second.branch, first.branch)
  t.equal(must(await send(at, second)).json().pull_request.number, 2)
  t.equal((await publishNext({ '--branch': 'other-{id}' })).preview.text, 'What was built.\n')
  t.equal((await publishNext({ '--branch': 'other' })).preview.text, 'What was built.\n')
  const marked = await prepared(at, { '--mark': null, '--body-file': null })
  t.equal(marked.preview.text, `Follows #2 (\`${second.branch}\`).\n`)
  const client = clientOf(at.sandbox)
  await settled(t, client)
  t.strictSame([...new Set(at.requests().map(({ method }) => method))].sort(), ['GET', 'POST'])
  t.strictSame(at.posts().map(({ path }) => path).filter((path) => path.endsWith('/git/refs'))
    .length, 2, 'each branch is made once')
})

t.test('a number of another repository is not followed, nor one of another owner of the name', async (t) => {
  const at = await world(t)
  must(await send(at, await prepared(at)))
  at.folder({ 'own.txt': 'another\n' }, 'site')
  const row = at.connection()
  await at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...row, repository_id: 99, consent: row.consent && { ...row.consent, repository_id: 99 },
  }))
  const job = seriesOf(at.connection(), 'site-{id}')
  t.not(job, seriesOf(row, 'site-{id}'))
  t.equal(followLine(at.view(), { owner: row.owner, series: job }, 'site-{id}'), null)
  const own = seriesOf(row, 'site-{id}')
  t.match(followLine(at.view(), { owner: row.owner, series: own }, 'site-{id}'), 'Follows #1')
  t.equal(followLine(at.view(), { owner: 'prn_x', series: own }, 'site-{id}'), null)
})

t.test('a branch that is there already is refused before anything is sealed, and once more before anything is sent', async (t) => {
  const at = await world(t)
  const name = { '--branch': 'site' }
  const [one, other] = [await prepared(at, name), await prepared(at, name)]
  must(await send(at, one))
  t.hasStrict(failure(await send(at, other)), { status: 7, code: 'branch_exists' })
  at.folder({ 'own.txt': 'another\n' }, 'site')
  const ran = await at.run([...line(at, name), '--prepare', '--json'])
  t.hasStrict(failure(ran), { status: 7, code: 'branch_exists', out: '' })
  t.equal(at.posts().length, 6)
})

t.test('without --connection it is the only one; of several none is guessed, and a person chooses', async (t) => {
  const at = await world(t)
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
      { at: 'Repository', keys: `operator/notes${enter}` }, { at: 'Token', keys: `${token}${enter}` },
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
