/** What takes a write through a connection back while it leaves: nothing of it goes on. */
import type { Test } from 'tap'
import { collections } from '../../src/governance/rows.js'
import { working, type Working } from '../support/codehost/working.js'
import { must } from '../support/must.js'
import { holdWrites } from '../support/net/held-writes.js'
import { serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'

/** Does it; gives the document that was answered. */
type Act = (at: Working, job: string, t: Test, dials: (port: number) => void) => Promise<Loose>

const line = (argv: (at: Working, job: string) => readonly string[]): Act =>
  async (at, job, t) => {
    const ran = must(await at.run([...argv(at, job), '--json']))
    t.match(ran.stderr, `1 request was cut off while it was being sent: task ${at.job(job).task_id}`)
    return ran.json()
  }

const acts: Readonly<Record<string, Act>> = {
  'codehost connect --token-file OTHER': line((at) => ['codehost', 'connect', '--connection',
    at.id, '--token-file', at.place.write('other-token', 'MARK-another-token\n'),
    '--expected-revision', String(at.connection().revision)]),
  'codehost connect --mode reconcile_only': line((at) => ['codehost', 'connect', '--connection',
    at.id, '--mode', 'reconcile_only', '--expected-revision', String(at.connection().revision)]),
  'PUT of another token': async (at, _job, t, dials) => {
    const service = await serving(t, at)
    dials(Number(new URL(service.started.identity.origin).port))
    const got = await service.ask('PUT', `/capabilities/codehost/connections/${at.id}`, { body: {
      token: 'MARK-another-token', expected_revision: at.connection().revision,
    } })
    await service.stop()
    t.equal(got.status, 200, got.bytes.toString())
    return got.json()
  },
  'codehost mode': line((at) => ['codehost', 'mode', at.id, 'reconcile_only']),
  'codehost revoke': line((at) => ['codehost', 'revoke', at.id]),
  'codehost cancel': line((_at, job) => ['codehost', 'cancel', job]),
  'principal disable': async (at) => {
    const secret = at.place.write('passphrase', 'another person')
    must(await at.run(['principal', 'add', 'other', '--passphrase-file', secret]))
    return must(await at.run(['principal', 'disable', 'owner', '--yes', '--json'])).json()
  },
}

for (const [name, act] of Object.entries(acts)) {
  t.test(`C-016 C-045 nothing of a creation leaves once ${name} has answered, and it is named`, async (t) => {
    const at = await working(t)
    const job = await at.approved()
    let isOpen = true
    let own: number | null = null
    const writes = holdWrites(t, () => isOpen, () => own)
    const running = at.runJob(job, {
      at: (step) => { isOpen &&= step !== 'codehost.before_first_byte' },
    })
    await until('the creation waits to be written',
      () => !isOpen && writes.begun() > writes.left.length)
    const { requests } = await act(at, job, t, (port) => { own = port })
    const left = writes.left.length
    writes.go()
    t.not((await running).status, 0)
    t.strictSame(writes.left.slice(left), [], 'nothing left after it')
    t.equal(at.posts().length, 0, 'no byte came to the host')
    const { state, task_id: task } = at.job(job)
    t.equal(state, 'unknown_external_effect', 'nobody can prove that none had left')
    t.strictSame(requests, [{
      operation_id: at.task(task ?? '')?.operation_id, task_id: task, sent: 'partly',
    }])
    t.strictSame(at.view().all(collections.stops).map(({ doc }) => doc.outcome), ['recorded'])
  })
}

t.test('C-046 a save of a connection that is refused ends nothing of what was consented to', async (t) => {
  const at = await working(t)
  const before = at.connection()
  const refused = await at.run(['codehost', 'connect', '--connection', at.id, '--mode',
    'reconcile_only', '--expected-revision', String(before.revision + 1), '--json'])
  t.equal(refused.error().code, 'stale_connection_revision')
  t.strictSame([at.connection(), at.view().all(collections.stops)], [before, []],
    'what is refused at a look stops nothing')
})

t.test('C-014 C-046 a save that is refused under the lock leaves its stop refused, and the consent stands', async (t) => {
  const at = await working(t)
  const before = at.connection()
  const ran = await at.run(['codehost', 'connect', '--connection', at.id, '--token-file',
    at.place.write('other-token', 'MARK-another-token\n'), '--expected-revision',
    String(before.revision), '--json'], {
    at: async (step) => {
      if (step !== 'save.stopped') return
      must(await at.run(['codehost', 'mode', at.id, 'disabled']))
      must(await at.consent())
    },
  })
  t.equal(ran.error().code, 'stale_connection_revision', ran.stderr)
  t.equal(at.connection().mode, 'active')
  t.hasStrict(at.view().all(collections.stops).map(({ doc }) => doc)
    .filter(({ kind }) => kind === 'saved_connection'),
  [{ target: at.id, outcome: 'refused', reason: 'save_not_made' }])
  const job = await at.approved()
  must(await at.runJob(job))
})
