/** A state that is destroyed: what it asks, what goes, what stays, and where it refuses. */
import {
  existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { jobCollection } from '../../src/codehost/jobs/job-rows.js'
import { balances } from '../../src/governance/ledger/find-reservation.js'
import { tryHoldFile } from '../../src/state/holds/kernel-file.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { openStore } from '../../src/state/store.js'
import { working } from '../support/codehost/working.js'
import { destroy, keyNames, treeOf } from '../support/fabric/destroyed.js'
import { settleCeiling } from '../support/fabric/settle-ceiling.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { limits, setupFlags } from '../world/alpha.js'
import type { Teardown } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'

const asked = (t: Teardown) => World.in(t).sandbox().state().session().alpha()

/** A question whose reply a killed process never recorded. */
const withUnknown = async (rig: AlphaWorld): Promise<void> => {
  const ran = await rig.place.spawn(['alpha', 'ask', '-', '--json'], {
    entry: 'test', coverage: false, stdin: 'what is a sally port?',
    env: { TEST_STOP_AT: 'ask.replied' },
  })
  if (ran.status !== 137) throw new Error(`the ask ended with ${ran.status}: ${ran.stderr}`)
}

const terminal = { stdin: true, stdout: true, stderr: true }

t.test('a whole state is destroyed: everything of it is gone, key, anchor and backups are as they were, another state is untouched, and what stays is told', async (t) => {
  const rig = await asked(t)
  const { place } = rig
  must(await rig.ask())
  must(await rig.run(['state', 'backup', place.path('copy')]))
  const other = { SALLYPORT_STATE_DIR: place.path('other') }
  must(await rig.run(['init'], { env: other }))
  const before = [treeOf(place.path('copy')), treeOf(place.path('other'))]
  const [keys, key] = [keyNames(place), readFileSync(
    join(place.configDir, 'keys', `${rig.gov.store.storeId}.key`), 'utf8')]

  const told = must(await rig.run(['state', 'destroy', '--dry-run', '--json'])).json()
  t.ok(existsSync(place.stateDir), 'looking changes nothing')
  const gone = must(await destroy(place)).json()
  t.equal(existsSync(place.stateDir), false)
  t.strictSame(
    [told.dry_run, gone.dry_run, gone.schema], [true, false, 'sallyport.state.destroy.v1'])
  t.strictSame([gone.name, gone.state_dir, gone.begun_at], ['state', place.stateDir, null])
  t.strictSame([gone.keys, gone.artifacts], [1, 3], 'a credential, a question, an answer')
  const kinds = new Map(gone.rows.map((one: { collection: string; count: number }) =>
    [one.collection, one.count]))
  t.strictSame([kinds.get('principals'), kinds.get('credentials')], [1, 1], 'rows by kind')
  t.hasStrict(gone.open, { reserved: 0, contacted: 0, unknown: 0, effects: 0, microusd: 0 })
  t.strictSame(gone.stays.map((one: { what: string }) => one.what),
    ['key_and_anchor', 'backups', 'images', 'blocks'])
  t.strictSame([treeOf(place.path('copy')), treeOf(place.path('other'))], before)
  t.strictSame(keyNames(place), keys)
  t.equal(readFileSync(
    join(place.configDir, 'keys', `${gone.store_id}.key`), 'utf8'), key)
  t.strictSame(failure(await destroy(place)), { status: 10, code: 'no_state', out: '' })
  must(await rig.run(['status'], { env: other }))
})

t.test('on a terminal what goes and stays is shown, and its name is typed; another one, and no terminal, change nothing', async (t) => {
  const rig = await asked(t)
  const { place, run } = rig
  const before = treeOf(place.stateDir)
  t.strictSame(failure(await run(['state', 'destroy', '--json'])),
    { status: 2, code: 'input_required', out: '' })
  t.strictSame(
    failure(await run(['state', 'destroy', '--acknowledged-destroy', 'State', '--json'])),
    { status: 3, code: 'state_name_wrong', out: '' })
  t.strictSame(treeOf(place.stateDir), before)
  const wrong = await run(['state', 'destroy'], { terminal, answers: ['yes'] })
  t.equal(wrong.status, 3)
  t.match(wrong.stderr, /Would destroy state at /)
  t.match(wrong.stderr, /rows +\d+ /)
  t.match(wrong.stderr, /1 sealed key/)
  t.match(wrong.stderr, /backup that is restored holds the whole ceiling/)
  t.equal((await rig.json(['policy', 'show'])).policy.state, 'active', 'and nothing was stopped')

  must(await run(['at', 'add', 'trial', place.stateDir]))
  const named = must(await run(['state', 'destroy'], { terminal, answers: ['trial'] }))
  t.match(named.stdout, /^Destroyed trial at /)
  t.match(named.stdout, /sallyport at remove trial/)
  t.equal(existsSync(place.stateDir), false)
})

t.test('what is open keeps a state from being destroyed, also what a dead process left, unless its very sum is acknowledged; on a terminal Enter means no', async (t) => {
  const rig = await asked(t)
  await withUnknown(rig)
  const before = (await rig.json(['policy', 'show'])).policy.revision
  for (const more of [
    [], ['--acknowledged-open-microusd', '0'], ['--acknowledged-open', '1.00usd'],
  ]) {
    const ran = await destroy(rig.place, more)
    t.strictSame([ran.status, ran.error().code], [7, 'open_not_acknowledged'], more.join(' '))
    t.equal(ran.error().details.microusd, limits.boundMicrousd)
    t.match(ran.error().message, 'charges (1 unknown) that hold $0.05')
  }
  const declined = await rig.run(['state', 'destroy'], { terminal, answers: [false] })
  t.equal(declined.status, 130)
  t.match(declined.stderr, /Open: charges \(1 unknown\) that hold \$0\.05/)
  t.equal((await rig.json(['policy', 'show'])).policy.revision, before, 'nothing was stopped')
  const gone = must(await destroy(rig.place, ['--acknowledged-open', '0.05usd'])).json()
  t.strictSame([gone.open.unknown, gone.open.microusd], [1, limits.boundMicrousd])
  t.equal(existsSync(rig.place.stateDir), false)
})

t.test('a backup that is restored behind it holds the whole ceiling, above what the anchor remembers, also one of before an unknown charge; init makes a state of its own', async (t) => {
  const rig = await asked(t)
  const { place, run } = rig
  must(await run(['state', 'backup', place.path('copy')]))
  await withUnknown(rig)
  const storeId = rig.gov.store.storeId
  must(await destroy(place, ['--acknowledged-open-microusd', '50000']))
  const viewed = () => openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'read' })

  const restored = must(await run(['state', 'restore', place.path('copy'), '--json'])).json()
  t.equal(restored.anchor, 'ok')
  const store = viewed()
  t.teardown(() => store.close())
  t.equal(balances(store.read()).available_microusd, 0, 'nothing can be spent')
  t.equal(balances(store.read()).unknown_microusd, limits.ceilingMicrousd)
  const head = policyHead(store.read())
  // The backup ends with revision 3, and the destruction had published 4.
  t.strictSame([head.state, head.revision], ['revoked', 5])
  must(await run(['login']))
  must(await run(setupFlags(place, head.revision)))
  t.equal((await rig.ask()).error().code, 'ceiling_exceeded', 'nor once it is set up anew')
  const open = (await rig.json(['state', 'destroy', '--dry-run'])).open
  must(await destroy(place, ['--acknowledged-open-microusd', String(open.microusd)]))

  must(await run(['init']))
  t.not(viewed().storeId, storeId)
  t.ok(keyNames(place).includes(`${storeId}.anchor`), 'beside the anchor of the one that is gone')
})

t.test('whoever works in the state is named, and nothing is removed; then every route is stopped',
  async (t) => {
  const rig = await asked(t)
  const { place } = rig
  for (const name of [
    'run/ops/op_01890000-0000-7000-8000-000000000000', 'run/lane/holder', 'run/shots/job-scan',
    'run/turn/prn_1/0000000000000001-1-00000000',
  ]) {
    const held = tryHoldFile(join(place.stateDir, name))
    const ran = await destroy(place, ['--wait', '0'])
    held?.remove()
    t.strictSame([ran.status, ran.error().code], [11, 'work_under_way'], name)
    t.equal(ran.error().details.held, name)
  }
  t.equal((await rig.json(['policy', 'show'])).policy.state, 'revoked')
  t.equal((await rig.json(['state', 'check'])).ok, true)
  const stop = new AbortController()
  const guard = tryHoldFile(join(place.stateDir, 'run/ops/op_01890000-0000-7000-8000-000000000000'))
  const stopped = await destroy(place, [], {
    stop: stop.signal, at: (step) => void (step === 'destroy.revoked' && stop.abort()),
  })
  guard?.remove()
  t.strictSame([stopped.status, stopped.error().code], [130, 'destroy_stopped'])
  const lock = tryHoldFile(join(place.stateDir, 'lock'))
  const locked = await destroy(place, ['--wait', '0'])
  lock?.release()
  t.strictSame([locked.status, locked.error().code], [11, 'lock_held'])
  t.equal((await rig.json(['state', 'check'])).ok, true)
  must(await destroy(place))
})

t.test('what comes to be open while others are waited for is acknowledged anew', async (t) => {
  const rig = await asked(t)
  const { place, run } = rig
  must(await run(['state', 'backup', place.path('copy')]))
  const ran = await destroy(place, [], {
    at: async (step) => {
      if (step === 'destroy.quiet') {
        must(await run(['state', 'restore', place.path('copy'), '--yes']))
      }
    },
  })
  t.strictSame([ran.status, ran.error().code], [7, 'open_not_acknowledged'])
  t.equal(ran.error().details.microusd, limits.ceilingMicrousd)
  t.equal((await rig.json(['state', 'check'])).ok, true)
})

t.test('effects that come to be unknown meanwhile are acknowledged anew, whatever the sum', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(job)
  const sum = ['--acknowledged-open', '0.00usd']
  const ran = await destroy(at.place, sum, {
    at: async (step) => {
      if (step !== 'destroy.quiet') return
      const other = job.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
      await at.transact((tx) => tx.put(jobCollection, other, { ...at.job(job), job_id: other }))
    },
  })
  t.strictSame([ran.status, ran.error().code], [7, 'open_not_acknowledged'])
  t.equal(ran.error().details.effects, 2)
  t.equal(existsSync(at.place.stateDir), true)
})

t.test('jobs whose later records are lost may have been sent: a destruction asks, or wants them acknowledged, until they are given up', async (t) => {
  const at = await working(t)
  const [sent, waits] = [await at.approved(), await at.prepare()]
  const kept = at.place.path('kept')
  must(await at.run(['state', 'backup', kept]))
  must(await at.runJob(sent))
  rmSync(at.place.stateDir, { recursive: true })
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  await settleCeiling(at)
  const refused = await destroy(at.place)
  t.strictSame([refused.status, refused.error().code], [7, 'open_not_acknowledged'])
  t.hasStrict(refused.error().details, { unknown: 0, effects: 2, microusd: 0 })
  const declined = await at.run(['state', 'destroy'], { terminal, answers: [false] })
  t.equal(declined.status, 130)
  t.match(declined.stderr, 'Open: 2 unknown effects on a code host.')
  for (const job of [sent, waits]) must(await at.run(['codehost', 'cancel', job]))
  await at.transact((tx) => tx.put(jobCollection, waits,
    { ...at.job(waits), state: 'blocked', reason: 'consent_not_current' }))
  t.equal(must(await destroy(at.place)).json().open.effects, 0)
  t.equal(existsSync(at.place.stateDir), false)
})

t.test('files of others stay where they are, no link is followed, and what is behind a linked directory goes while the link stays', async (t) => {
  const rig = await asked(t)
  const { place } = rig
  must(await rig.ask())
  mkdirSync(place.path('elsewhere'))
  place.write('elsewhere/kept', 'kept')
  const at = (name: string): string => join(place.stateDir, name)
  writeFileSync(at('notes.txt'), 'mine')
  mkdirSync(at('mine'))
  writeFileSync(at('mine/session'), 'mine')
  writeFileSync(at('run/mine'), 'mine')
  // Of a state at a server, and of private files that killed processes were writing.
  for (const name of [
    'heard', 'machines', 'session.12.0a1b2c3d', 'page.html.1.00000000',
    'service-certificate.pem.7.ffffffff',
  ]) writeFileSync(at(`run/${name}`), 'ours')
  symlinkSync(place.path('elsewhere'), at('linked'))
  mkdirSync(at('run/shots'), { recursive: true })
  symlinkSync(place.path('elsewhere'), at('run/shots/linked'))
  renameSync(place.stateDir, place.path('real'))
  symlinkSync(place.path('real'), place.stateDir)
  const gone = must(await destroy(place)).json()
  t.strictSame(gone.stays.find((one: { what: string }) => one.what === 'foreign').where,
    ['linked', 'mine', 'notes.txt', 'run/mine'])
  t.strictSame(treeOf(place.path('real')).map((one) => one.split(' ')[0]),
    ['linked', 'linked/kept', 'mine', 'mine/session', 'notes.txt', 'run', 'run/mine'])
  t.equal(readFileSync(place.path('elsewhere/kept'), 'utf8'), 'kept')
  t.equal((await rig.run(['status', '--json'])).error().code, 'no_state')
  rmSync(place.path('real'), { recursive: true })
})

t.test('something of others in a folder of records keeps the removal from its end: it is named, nothing is taken for a state, and the same line goes on', async (t) => {
  const rig = await asked(t)
  const { place, run } = rig
  const mine = join(place.stateDir, 'wal', 'mine')
  writeFileSync(mine, 'mine')
  const ran = await destroy(place)
  t.strictSame([ran.status, ran.error().code], [1, 'destruction_unfinished'])
  t.hasStrict(ran.error().details, { left: 'wal', foreign: 'wal/mine' })
  for (const line of [
    ['status'], ['state', 'check'], ['state', 'repair'], ['state', 'compact'], ['login'],
    ['state', 'backup', 'no'], ['policy', 'revoke'],
  ]) {
    const refused = await run([...line, '--json'])
    t.strictSame([refused.status, refused.error().code], [10, 'state_destroyed'], line.join(' '))
    t.strictSame(refused.error().next.map(({ command }: { command: string }) => command),
      ['sallyport state destroy'], line.join(' '))
  }
  t.equal((await run(['init', '--json'])).error().code, 'state_destroyed')
  t.equal((await run(['state', 'destroy', '--acknowledged-destroy', 'x', '--json'])).error().code,
    'state_name_wrong')
  rmSync(mine)
  const rest = must(await destroy(place)).json()
  t.match(rest.begun_at, /^\d{4}-/)
  t.strictSame([rest.open, rest.rows], [null, []])
  t.equal(existsSync(place.stateDir), false)
})
