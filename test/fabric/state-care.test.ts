/** Looking after a whole state: what a restore keeps, what a check opens, what a sweep spares. */
import { readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdGuard } from '../../src/state/holds/guard.js'
import { collections } from '../../src/governance/rows.js'
import { checkLedger } from '../support/ledger.js'
import { limits, setupFlags } from '../world/alpha.js'
import type { Ran } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'
import { settleCeiling } from '../support/fabric/settle-ceiling.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

const key = '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10'
const codes = (ran: Ran): string[] =>
  ran.json().problems.map(({ code }: { code: string }) => code)

/** A backup, then one ask whose charge is known and one whose charge is not. */
const spentSince = async (rig: AlphaWorld): Promise<string> => {
  const backup = rig.place.path('backup')
  must(await rig.run(['state', 'backup', backup]))
  must(await rig.ask({ args: ['--idempotency-key', key] }))
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  t.equal((await rig.ask()).status, 7)
  rig.sandbox.faults.clear()
  return backup
}

t.test('A-026 A-089 A-124 a restore keeps what was owed since as unknown, and keys stay spent',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const backup = await spentSince(rig)
    const restored = must(await rig.run(['state', 'restore', backup, '--yes', '--json'])).json()
    t.hasStrict(restored, { kept_liabilities: 2, unreadable_states: 0, anchor: 'ok' })
    t.equal(restored.unread_operations.length, 1, 'and the whole ceiling is held')
    t.hasStrict(checkLedger(t, rig), {
      unknown_microusd: 2 * limits.boundMicrousd + limits.ceilingMicrousd,
      held_microusd: 0, settled_microusd: 0,
    })
    t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)

    must(await rig.run(['login']))
    must(await rig.run(setupFlags(rig.place, await rig.revision())))
    t.hasStrict(failure(await rig.ask()), { status: 8, code: 'ceiling_exceeded' })
    await settleCeiling(rig)
    const again = await rig.ask({ args: ['--idempotency-key', key] })
    t.strictSame([again.status, again.error().code], [5, 'idempotency_key_spent'])
    t.equal(rig.inferences().length, 2, 'nothing was sent again')

    const [first] = must(await rig.run(['ledger', 'reservations', '--json'])).json()
    must(await rig.run([
      'ledger', 'settle', first.operation_id, '--amount-microusd', '7', '--yes',
    ]))
    t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd, 'a person may settle it')
    t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
  })

t.test('A-089 liabilities above the ceiling of the backup are kept all the same', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ceiling = limits.boundMicrousd + 10_000
  must(await rig.run([
    'alpha', 'setup', '--enable', '--spend-ceiling-microusd', String(ceiling),
    '--acknowledge-plaintext-egress', '--expected-policy-revision', String(await rig.revision()),
  ]))
  const backup = rig.place.path('backup')
  must(await rig.run(['state', 'backup', backup]))
  for (let asked = 0; asked < 3; asked += 1) must(await rig.ask())
  const ran = must(await rig.run(['state', 'restore', backup, '--yes', '--json']))
  t.equal(ran.json().kept_liabilities, 3)
  t.hasStrict(checkLedger(t, rig), {
    unknown_microusd: 3 * limits.boundMicrousd + ceiling, ceiling_microusd: ceiling,
  })
  t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
})

t.test('a restore over a state that cannot be read says so, and stays revoked', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const backup = await spentSince(rig)
  const wal = join(rig.place.stateDir, 'wal')
  for (const name of readdirSync(wal)) writeFileSync(join(wal, name), 'no log at all')
  const ran = must(await rig.run(['state', 'restore', backup, '--yes', '--json']))
  t.hasStrict(ran.json(), { kept_liabilities: 0, unreadable_states: 1 })
  t.hasStrict(
    (await rig.run(['status', '--json'])).json().policy, { state: 'revoked', usable: false }
  )
})

t.test('A-070 a restore without an anchor publishes above the witness that is there', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const backup = await spentSince(rig)
  must(await rig.run(['policy', 'revoke']))
  const revision = await rig.revision()
  const keys = join(rig.place.configDir, 'keys')
  const anchor = readdirSync(keys).find((name) => name.endsWith('.anchor')) ?? ''
  renameSync(join(keys, anchor), rig.place.path('anchor'))
  must(await rig.run(['state', 'restore', backup, '--yes']))
  const checked = await rig.run(['state', 'check', '--json'])
  t.equal(checked.status, 0, checked.stdout)
  const after = (await rig.run(['status', '--json'])).json().policy
  t.hasStrict(after, { state: 'revoked', usable: false })
  t.ok(after.revision > revision, `${after.revision} is above ${revision}`)
})

t.test('A-100 a check opens what rows name: another digest in a row is found', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  const store = rig.open('write')
  const row = store.read().all(collections.artifacts)[0]?.doc
  if (!row) throw new Error('there is no artifact')
  await store.transact('forge', (tx) => tx.put(collections.artifacts, row.artifact_id, {
    ...row, ref: { ...row.ref, sha256: 'f'.repeat(64) },
  }))
  const ran = await rig.run(['state', 'check', '--json'])
  t.equal(ran.status, 12)
  t.strictSame(codes(ran), ['artifact_damaged'])
})

t.test('A-070 A-125 a check compares policy, consents, tasks and money', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  const store = rig.open('write')
  const view = store.read()
  const consent = view.all(collections.consents)[0]?.doc
  const money = view.all(collections.closedReservations)[0]?.doc
  if (!consent || !money) throw new Error('there is no consent or charge')
  await store.transact('forge', (tx) => {
    tx.put(collections.consents, consent.consent_id, { ...consent, bound_revision: 2 })
    tx.remove(collections.closedReservations, money.operation_id)
  })
  const ran = await rig.run(['state', 'check', '--json'])
  t.equal(ran.status, 12)
  t.strictSame([...new Set(codes(ran))].sort(), [
    'consent_bound_ahead', 'policy_consents_mismatch', 'reservation_missing',
    'task_money_mismatch',
  ])
})

t.test('A-126 a compaction sweeps what no row names, but not while an operation runs', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const store = rig.open('write')
  const answer = 'svc.alpha.text.answer.v1'
  const { stored_sha256: name } = store.artifacts.write(answer, Buffer.from('x'))
  const path = join(rig.place.stateDir, 'artifacts', name.slice(0, 2), name)
  const old = new Date(Date.now() - 3_600_000)
  utimesSync(path, old, old)
  const guard = await holdGuard(rig.place.stateDir, 'op_live')
  t.equal(must(await rig.run(['state', 'compact', '--json'])).json().orphans_removed, 0)
  guard.release()
  t.equal(must(await rig.run(['state', 'compact', '--json'])).json().orphans_removed, 1)
})
