/** What a repair carries over: no money is forgotten and no key, whichever record is untrue. */
import { readFileSync, unlinkSync } from 'node:fs'
import { balances } from '../../src/governance/ledger/find-reservation.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
import { collections } from '../../src/governance/rows.js'
import type { View } from '../../src/state/types.js'
import { ask, availableIn, copied, keyOf } from '../support/fabric/copies.js'
import { must } from '../support/must.js'
import { flipBit, newestLog, zeroBlock } from '../support/state/forge.js'
import { recordsOf } from '../support/state/places-of-damage.js'
import { t } from '../support/tests-in-slices.js'
import { limits, setupFlags } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

/** Asks that were settled, passed their bound, and whose charge nobody knows; in this order. */
const lived = async (t: { teardown(fn: () => void): void }): Promise<AlphaWorld> => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await ask(rig, keyOf(0)))
  rig.sandbox.faults.set('billing_overrun', { service: 'provider' })
  await ask(rig, keyOf(1))
  rig.sandbox.faults.clear()
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  await ask(rig, keyOf(2))
  rig.sandbox.faults.clear()
  return rig
}

const holdsIn = (view: View): readonly string[] => [
  ...view.all(collections.openReservations), ...view.all(collections.closedReservations),
].map(({ doc }) => `${doc.state} ${doc.overrun}`).sort()

t.test('A-026 A-089 A-124 zeroes over any one record: a repair forgets no money and no key, and the same questions are not sent again', async (t) => {
  const rig = await lived(t)
  const posts = rig.inferences().length
  const records = recordsOf(newestLog(rig.place.stateDir))
  const wrong: string[] = []
  for (const [n, { start }] of records.entries()) {
    const copy = copied(rig, `zeroed-${n}`)
    zeroBlock(newestLog(copy.place.dir), start + 30)
    const found = (text: string): void => void wrong.push(`record ${n + 1}: ${text}`)
    const repair = () => rig.run(['state', 'repair', '--json'], { env: copy.env })
    const first = await repair()
    if (first.status !== 0) {
      // The record that made the directory: the same arguments make it again.
      if (n > 0 || first.error().code !== 'init_lost') found(first.stderr)
      must(await rig.run(['init', '--profile', rig.sandbox.profileFile], { env: copy.env }))
    }
    const repaired = (first.status === 0 ? first : must(await repair())).json()
    if (repaired.unread_operations.length !== 1) found('no hold for what is unread')
    const view = copy.view()
    if (availableIn(view) > 0) found(`available ${availableIn(view)}`)
    if (verifyLedger(view).length > 0) found('the ledger does not balance')
    const checked = await rig.run(['state', 'check', '--json'], { env: copy.env })
    if (checked.status !== 0) {
      found(checked.json().problems.map((one: { code: string }) => one.code).join())
    }
    await rig.run(['login'], { env: copy.env })
    const shown = (await rig.run(['alpha', 'show', '--json'], { env: copy.env })).json()
    await rig.run(setupFlags(rig.place, shown.policy_revision), { env: copy.env })
    if (availableIn(copy.view()) > 0) found(`then available ${availableIn(copy.view())}`)
    const fresh = n % 8 === 0 ? await ask(rig, keyOf(3), copy.env) : undefined
    if (fresh?.status === 0) found('a new question was sent')
    for (const operation of repaired.unread_operations) {
      await rig.run([
        'ledger', 'settle', operation, '--amount-microusd', '0', '--yes',
      ], { env: copy.env })
    }
    for (const key of [0, 1, 2]) await ask(rig, keyOf(key), copy.env)
  }
  t.ok(records.length > 20, `${records.length} records`)
  t.strictSame(wrong, [])
  t.equal(rig.inferences().length, posts, 'no question was sent again')
})

t.test('A-026 A-124 a flipped bit in any one record: a repair leaves the log byte for byte, and the '
  + 'same questions are not sent again', async (t) => {
  const rig = await lived(t)
  t.strictSame(holdsIn(rig.view()), ['settled none', 'settled review_required', 'unknown none'])
  const before = balances(rig.view())
  const posts = rig.inferences().length
  const log = newestLog(rig.place.stateDir)
  const whole = readFileSync(log)
  const wrong: string[] = []
  for (const [n, { start, end }] of recordsOf(log).entries()) {
    flipBit(log, start + ((n * 97) % (end - start)), n % 8)
    const { changed, loss, unread_operations: unread } =
      must(await rig.run(['state', 'repair', '--json'])).json()
    const lost = loss.records_after !== null || unread.length > 0
    if (!changed || lost || !readFileSync(log).equals(whole)) wrong.push(`record ${n + 1}`)
  }
  t.strictSame(wrong, [])
  t.strictSame(balances(rig.view()), before)
  for (const key of [0, 1, 2]) await ask(rig, keyOf(key))
  t.equal(rig.inferences().length, posts)
  t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
})

t.test('A-026 A-124 a restore over a damaged state keeps what its records show behind the damage, '
  + 'and the ceiling for what they do not', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const backup = rig.place.path('backup')
  must(await rig.run(['state', 'backup', backup]))
  must(await ask(rig, keyOf(0)))
  const [, second] = recordsOf(newestLog(rig.place.stateDir)).slice(-8)
  zeroBlock(newestLog(rig.place.stateDir), second?.start ?? 0)
  const restored = must(await rig.run(['state', 'restore', backup, '--yes', '--json'])).json()
  t.hasStrict(restored, { kept_liabilities: 1, unreadable_states: 0 })
  t.equal(restored.unread_operations.length, 1)
  t.hasStrict(balances(rig.view()), {
    unknown_microusd: limits.boundMicrousd + limits.ceilingMicrousd, available_microusd: 0,
  })
  t.strictSame(verifyLedger(rig.view()), [])
  must(await rig.run(['state', 'restore', backup, '--yes', '--json']))
  t.strictSame(holdsIn(rig.view()), ['unknown none', 'unknown none'], 'held once')

  must(await rig.run(['login']))
  must(await rig.run([
    ...setupFlags(rig.place, await rig.revision()).filter((word) => !word.includes('ceiling')
      && word !== String(limits.ceilingMicrousd)),
    '--spend-ceiling-microusd', String(3 * limits.ceilingMicrousd),
  ]))
  t.equal(balances(rig.view()).available_microusd,
    2 * limits.ceilingMicrousd - limits.boundMicrousd, 'a raise gives what lies above')
  must(await rig.run([
    'ledger', 'settle', restored.unread_operations[0], '--amount-microusd', '7', '--yes',
  ]))
  t.equal(balances(rig.view()).settled_microusd, 7, 'a person settles it')
  t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
})

t.test('the lower ceiling of a damaged state stays: a repair never raises what may be spent',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const lower = limits.ceilingMicrousd / 2
    must(await rig.run([
      'alpha', 'setup', '--enable', '--spend-ceiling-microusd', String(lower),
      '--acknowledge-plaintext-egress', '--expected-policy-revision', String(await rig.revision()),
    ]))
    const lowered = recordsOf(newestLog(rig.place.stateDir)).at(-4)
    must(await ask(rig, keyOf(0)))
    zeroBlock(newestLog(rig.place.stateDir), lowered?.start ?? 0)
    const { unread_operations: unread } = must(await rig.run(['state', 'repair', '--json'])).json()
    t.hasStrict(balances(rig.view()), { ceiling_microusd: lower, available_microusd: 0 })
    t.equal(unread.length, 1)
    t.equal(rig.view().get(collections.openReservations, unread[0])?.bound_microusd,
      limits.ceilingMicrousd, 'the hold is the highest ceiling that was seen')
  })

t.test('A-126 artifacts whose records were not replayed are kept aside until a person removes them by name', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const path = newestLog(rig.place.stateDir)
  const records = recordsOf(path).length
  must(await ask(rig, keyOf(0)))
  const names = rig.view().all(collections.artifacts).map(({ doc }) => doc.ref.stored_sha256)
  t.equal(names.length, 2)
  zeroBlock(path, recordsOf(path)[records]?.start ?? 0)
  const repaired = must(await rig.run(['state', 'repair', '--json'])).json()
  t.equal(repaired.kept_artifacts, 2)
  const compacted = must(await rig.run(['state', 'compact', '--json'])).json()
  t.equal(compacted.orphans_removed, 0)
  const kept = () => rig.json(['state', 'kept'])
  t.strictSame((await kept()).kept.map(({ name }: { name: string }) => name), [...names].sort())
  const [first = '', second = ''] = [...names].sort()
  t.equal((await rig.run(['state', 'kept', '--remove', first, '--json'])).status, 2, 'it asks')
  must(await rig.run(['state', 'kept', '--remove', first, '--yes']))
  t.strictSame((await kept()).kept.map(({ name }: { name: string }) => name), [second])
  const gone = await rig.run(['state', 'kept', '--remove', first, '--yes', '--json'])
  t.equal(gone.error().code, 'artifact_not_kept')
  t.match((await rig.run(['state', 'check'])).stdout, /artifacts_kept: 1 artifacts/)
})

t.test('a salvaged backup of a damaged state: a restore of it elsewhere forgets no money and no key',
  async (t) => {
    const rig = await lived(t)
    const posts = rig.inferences().length
    const records = recordsOf(newestLog(rig.place.stateDir))
    zeroBlock(newestLog(rig.place.stateDir), records.at(-12)?.start ?? 0)
    const to = rig.place.path('salvaged')
    const refused = await rig.run(['state', 'backup', to, '--json'])
    t.strictSame([refused.status, refused.error().code], [12, 'log_damaged'])
    const made = must(await rig.run(['state', 'backup', to, '--salvage', '--json'])).json()
    t.strictSame(made.loss, { damage: ['log_damaged'], artifacts: [] })
    const env = { SALLYPORT_STATE_DIR: rig.place.path('elsewhere') }
    const restored = must(await rig.run(['state', 'restore', to, '--json'], { env })).json()
    t.ok(restored.kept_liabilities > 0)
    t.equal(restored.unread_operations.length, 1)
    must(await rig.run(['login'], { env }))
    const { policy_revision: revision } =
      must(await rig.run(['alpha', 'show', '--json'], { env })).json()
    must(await rig.run(setupFlags(rig.place, revision), { env }))
    for (const key of [0, 1, 2, 3]) await ask(rig, keyOf(key), env)
    t.equal(rig.inferences().length, posts)
    t.equal(must(await rig.run(['state', 'check', '--json'], { env })).json().ok, true)
  })

t.test('A-089 A-124 a newest log that is gone: a repair holds the ceiling for what was in it',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    must(await ask(rig, keyOf(0)))
    must(await rig.run(['state', 'compact']))
    must(await ask(rig, keyOf(1)))
    const posts = rig.inferences().length
    unlinkSync(newestLog(rig.place.stateDir))
    const repaired = must(await rig.run(['state', 'repair', '--json'])).json()
    t.equal(repaired.unread_operations.length, 1)
    t.equal(balances(rig.view()).available_microusd, 0)
    must(await rig.run(['login']))
    must(await rig.run(setupFlags(rig.place, await rig.revision())))
    for (const key of [0, 1, 2]) await ask(rig, keyOf(key))
    t.equal(rig.inferences().length, posts)
    t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
  })

t.test('a task whose later records nobody can read never ends as one that was not contacted',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const path = newestLog(rig.place.stateDir)
    const records = recordsOf(path).length
    must(await ask(rig, keyOf(0)))
    zeroBlock(path, recordsOf(path)[records + 1]?.start ?? 0, 1_000_000)
    must(await rig.run(['state', 'repair']))
    t.strictSame(rig.view().all(collections.closedTasks).map(({ doc }) => doc.reason), [
      'interrupted_after_contact',
    ])
  })
