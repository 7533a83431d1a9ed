/** A publication that is refused, lost, killed, interrupted or sent by two, and sent again. */
import { randomUUID } from 'node:crypto'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { asked, line, prepared, send, withSite } from '../../../support/codehost/publish-lines.js'
import type { Publishing } from '../../../support/codehost/publishing.js'
import { failure, must } from '../../../support/must.js'
import { clientOf, settled } from '../../../support/sandbox/host-client.js'
import { slice } from '../../../support/slice.js'
import { t } from '../../../support/tests-in-slices.js'
import type { Loose, Ran } from '../../../world/place.js'

t.test('C-011 a creation that the host refuses is not repeated, however often it is asked for', async (t) => {
  for (const [fault, kind] of [
    ['write_not_done_422', 'effect_refused'], ['write_limit_spent', 'effect_refused'],
  ] as const) {
    const at = await withSite(t)
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
    const at = await withSite(t)
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
    t.equal(told, `sallyport codehost recover reconcile ${one.job} --expected-revision `
      + String(at.connection().revision))
    const read = await at.run([...told.split(' ').slice(1), '--json'])
    t.hasStrict(failure(read), { status: 7, code: 'codehost_incomplete' })
    const wrong = await send(at, { job: one.job, digest: '0'.repeat(64) })
    t.hasStrict(failure(wrong), { status: 5, code: 'preview_changed' })
    t.equal(at.posts().length, length, 'the rest is not sent by another digest')
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
  const at = await withSite(t)
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
  let last = ''
  for (let left = 4; left > 0; left -= 1) {
    const ran = await send(at, one)
    last = ran.stderr
    if (ran.status === 0) return ran.json()
    const [way] = ran.error().next
    if (way?.command.startsWith('sallyport codehost recover reconcile') !== true) break
    await at.run(way.command.split(' ').slice(1))
  }
  throw new Error(`it did not come to its end: ${at.job(one.job).state}, ${last}`)
}

t.test('C-045 killed anywhere and run again with the same key it comes to one pull request, and no creation is sent twice', async (t) => {
  const at = await withSite(t)
  const cells = slice('killed at', cuts, {
    axesOf: ([, posts]) => [String(posts)], idOf: ([step]) => step,
  })
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
  const at = await withSite(t)
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
  const at = await withSite(t)
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
