/** A connection that is not needed any more: its token goes, its row stays. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { disconnect as disconnectNow, revokeConsent } from '../../src/codehost/restrict.js'
import { collections } from '../../src/governance/rows.js'
import { connectionCollection } from '../../src/governance/connections/connection-rows.js'
import { connected, type Connected } from '../support/codehost/connected.js'
import { must } from '../support/must.js'
import { working } from '../support/codehost/working.js'
import { t } from '../support/tests-in-slices.js'

const disconnect = (at: Pick<Connected, 'run' | 'id'>) =>
  at.run(['codehost', 'disconnect', at.id, '--json'])

t.test('disconnecting removes the token, ends the consent by an aimed stop and keeps the row', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const { credential_ref: ref } = at.row()
  const stored = at.view().get(collections.credentials, ref)?.artifact.stored_sha256 ?? ''
  const path = join(at.place.stateDir, 'artifacts', stored.slice(0, 2), stored)
  t.ok(existsSync(path))
  t.hasStrict(must(await disconnect(at)).json(), {
    id: at.id, mode: 'disabled', capacity: 'free', consent: { state: 'stopped' },
  })
  t.equal(at.view().get(collections.credentials, ref), undefined)
  t.notOk(existsSync(path), 'the sealed bytes are gone, too')
  t.hasStrict(at.view().all(collections.stops).map(({ doc }) => doc), [{
    kind: 'connection_disabled', target: at.id, by: { verb: 'codehost disconnect' },
    outcome: 'recorded',
  }])
  const { revision } = at.row()
  must(await disconnect(at))
  t.equal(at.row().revision, revision, 'again it changes nothing')
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr + check.stdout)
  t.equal((await at.consent()).status === 0, false, 'nothing is consented to without a token')
  t.equal((await at.run(['codehost', 'disconnect', 'cnn_x', '--json'])).error().code,
    'connection_not_found')
})

t.test('connecting again takes up the row of a free one that was disconnected, and never one that has a token', async (t) => {
  const at = await connected(t)
  const connect = async () => must(await at.run(['codehost', 'connect', '--repo',
    'octo-org/hello', '--token-file', at.place.path('token'), '--json'])).json()
  const other = await connect()
  t.not(other.id, at.id, 'a token that is saved is left alone')
  must(await disconnect(at))
  const { revision } = at.row()
  t.hasStrict(await connect(), { id: at.id, mode: 'disabled', revision: revision + 1 })
  must(await at.consent())
  t.equal(at.row().mode, 'active')
  t.equal(at.view().all(connectionCollection).length, 2)
})

t.test('C-184 a connection that a job occupies is not disconnected, nor is its token changed by connecting again', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(job)
  const before = at.connection()
  t.equal(before.active_job_id, job)
  t.hasStrict((await disconnect(at)).error(), { code: 'capacity_reserved' })
  t.strictSame(at.connection(), before, 'nothing of it has ended')
  t.strictSame(at.view().all(collections.stops), [])
  const other = must(await at.run(['codehost', 'connect', '--repo', 'operator/notes',
    '--token-file', at.sandbox.keyFiles.codehost, '--json'])).json()
  t.not(other.id, at.id)
  t.strictSame(at.connection(), before)
})

t.test('C-184 connecting offers a free connection of the repository: in words, and in the form; one that a job occupies is not offered', async (t) => {
  const at = await working(t)
  const before = at.connection()
  const connect = ['codehost', 'connect', '--repo', 'operator/notes', '--token-file',
    at.sandbox.keyFiles.codehost]
  const offer = `\`sallyport codehost connect --connection ${at.id} --token-file F `
    + `--expected-revision ${before.revision}\``
  const made = must(await at.run([...connect, '--json']))
  t.match(made.stderr.replace(/\s+/g, ' '), offer)
  t.not(made.json().id, at.id)
  t.strictSame(at.connection(), before, 'it is offered, not taken')
  const terminal = { stdin: true, stdout: true, stderr: true }
  const form = (answers: readonly (string | boolean)[]) =>
    at.run(['codehost', 'connect'], { terminal, answers: [...answers] })
  const count = () => at.view().all(connectionCollection).length
  t.equal(count(), 2)
  must(await form(['operator/notes', at.id, 'another-token', true]))
  t.equal(count(), 2, 'the chosen one has the token')
  t.hasStrict(at.connection(), { revision: before.revision + 1, mode: 'disabled' })
  must(await form(['operator/notes', 'another connection to it', 'another-token', true]))
  t.equal(count(), 3)
  must(await at.consent())
  const job = await at.approved()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(job)
  t.equal(at.connection().active_job_id, job)
  const told = must(await at.run([...connect, '--json']))
  t.notMatch(told.stderr, at.id, 'an occupied one is not offered')
  t.match(told.stderr, made.json().id)
  for (const { id } of at.view().all(connectionCollection)) {
    if (id !== at.id) must(await at.run(['codehost', 'disconnect', id]))
  }
  const last = await form(['operator/notes', 'another-token', true])
  t.equal(last.status, 0, last.stderr)
})

t.test('two that connect at once take up one row between them, and neither is refused', async (t) => {
  const at = await connected(t)
  must(await disconnect(at))
  const line = ['codehost', 'connect', '--repo', 'octo-org/hello', '--token-file',
    at.place.path('token'), '--json']
  const ids = (await Promise.all([
    at.place.spawn(line, { coverage: false }), at.place.spawn(line, { coverage: false }),
  ])).map((ran) => must(ran).json().id)
  t.ok(ids.includes(at.id))
  t.equal(at.view().all(connectionCollection).length, new Set(ids).size)
})

/** Who acts with a session that ends just before the record which takes the token out. */
const endingBefore = (at: Connected, end: () => Promise<unknown>): Connected['gov'] => {
  const { store } = at.gov
  const transact: typeof store.transact = async (verb, act, options) => {
    // The stop goes before whatever waits; what follows it does not.
    if (options === undefined) await end()
    return store.transact(verb, act, options)
  }
  return { ...at.gov, store: new Proxy(store, {
    get: (target, name) => {
      const found: unknown = name === 'transact' ? transact : Reflect.get(target, name, target)
      return typeof found === 'function' ? found.bind(target) : found
    },
  }) }
}

t.test('a session that has ended stops nothing, and one that ends behind its stop takes no token out', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const first = at.session()
  must(await at.run(['logout']))
  await t.rejects(revokeConsent(at.gov, first, at.id), { code: 'session_ended' })
  t.strictSame(at.view().all(collections.stops).map(({ doc: { kind } }) => kind), ['root'],
    'the logout alone')
  must(await at.run(['login']))
  const gov = endingBefore(at, async () => must(await at.run(['logout'])))
  await t.rejects(disconnectNow(gov, at.session(), at.id), { code: 'session_ended' })
  t.hasStrict(at.row(), { mode: 'disabled' }, 'its stop is in force')
  t.ok(at.view().get(collections.credentials, at.row().credential_ref), 'the token stays')
})
