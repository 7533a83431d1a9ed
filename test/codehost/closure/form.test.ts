/** Closing capacity as a form: nothing is checked, and what is read is shown as it comes. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Ran, RunOptions } from '../../world/place.js'
import { failure, must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'

const terminal = { stdin: true, stdout: true, stderr: true }

const form = (
  at: Closing, job: string, answers: readonly Answer[], flags: readonly string[] = [],
  more: RunOptions = {},
): Promise<Ran> =>
  at.run(['codehost', 'close-capacity', job, ...flags], { terminal, answers, ...more })

const kept = (at: Closing): readonly string[] => {
  const dir = join(at.place.stateDir, 'pending')
  return existsSync(dir) ? readdirSync(dir).map((name) => name.replace('.json', '')) : []
}

t.test('C-160 C-161 the form starts unchecked, and who does not check it changes and sends nothing', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unchecked', 'numbered')
  const before = at.bytes()
  t.strictSame(await at.during(async () => {
    const ran = await form(at, job, [false])
    t.match(ran.stderr, /\[ \] acknowledged_capacity_close/)
    t.match(ran.stderr, /declined/i)
    t.not(ran.status, 0)
    t.equal(failure(await at.run(['codehost', 'close-capacity', job, '--json'])).code,
      'request_invalid', 'without a terminal nothing is checked for anybody')
  }), [])
  t.strictSame(kept(at), [])
  t.strictSame([...at.bytes()], [...before])
  const ran = must(await form(at, job, [true]))
  t.match(ran.stderr, /seen {5}GET \/repos\/operator\/notes {2}\(1 of 4 GETs, 1[12]\d s left\)/)
  t.match(ran.stderr, /seen {5}GET \/repos\/operator\/notes\/issues\/1 {2}\(2 of 4 GETs/)
  t.equal(at.connection().active_job_id, null)
})

/** Text as it was before it was broken between words for a terminal. */
const unbroken = (text: string): string => text.replace(/ (?:\\)?\n +/g, ' ').replace(/\n +/g, ' ')

t.test('C-192 what is missing is told as it comes, and a refusal ends with what a person can do, as a command that works', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Lost')
  const none = await form(at, job, ['', true])
  t.equal(none.status, 7)
  t.match(unbroken(none.stderr), /close-capacity job_\S+ --idempotency-key UUID --remote-id N/)
  const [first = ''] = kept(at)
  const left = await form(at, job, ['leave it, and begin nothing'])
  t.match(left.stderr, new RegExp(`Declined|${first}`))
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1, after: 1 })
  const missing = await form(
    at, job, ['begin another one, under a key of its own', '1', true])
  at.sandbox.faults.clear()
  t.match(missing.stderr, /missing {2}GET \/repos\/operator\/notes\/issues\/1, remote_not_found/)
  t.match(unbroken(missing.stderr), /close-capacity job_\S+ --retry/)
  t.equal(kept(at).length, 2)
  const second = kept(at).find((key) => key !== first) ?? ''
  const again = must(await form(at, job, [], ['--retry', '--idempotency-key', second]))
  t.match(again.stderr, /seen {5}GET/)
  t.notMatch((await at.run(['codehost', 'close-capacity', job, '--retry', '--idempotency-key',
    second])).stderr, /GET/, 'no terminal, no lines; and nobody was asked')
})

t.test('C-147 C-148 discard resets the controls: what follows is acknowledged anew, under a new key and the numbers of then', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Discarded', 'numbered')
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 2 })
  t.equal((await form(at, job, [true])).status, 7)
  at.sandbox.faults.clear()
  const [old = ''] = kept(at)
  const was = at.connection().revision
  must(await at.run(['codehost', 'mode', at.id, 'reconcile_only']))
  t.hasStrict(await at.json(['codehost', 'inspect', job]), {
    verdict: 'stale', reason: 'connection_revision_passed',
  })
  must(await at.run(['codehost', 'discard', job]))
  t.strictSame(kept(at), [])
  t.strictSame(await at.during(async () => {
    t.equal(failure(await at.run(['codehost', 'close-capacity', job, '--retry', '--json'])).code,
      'pending_missing')
    t.equal(failure(await at.run(['codehost', 'close-capacity', job, '--json'])).code,
      'request_invalid')
    t.not((await form(at, job, [false])).status, 0)
  }), [])
  must(await form(at, job, [true]))
  const [key = ''] = kept(at)
  t.not(key, old)
  const { request } = JSON.parse(readFileSync(
    join(at.place.stateDir, 'pending', `${key}.json`), 'utf8'))
  t.equal(request.expected_connection_revision, was + 1)
})
