/**
 * An old copy of the state that is made to count: the anchor says that something is missing, and
 * nobody can say what it was.
 */
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { balances } from '../../src/governance/ledger/find-reservation.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
import { collections } from '../../src/governance/rows.js'
import { ask, keyOf } from '../support/fabric/copies.js'
import { settleCeiling } from '../support/fabric/settle-ceiling.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { limits, setupFlags } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

/** The whole of what `sallyport help anchor` says for a state that nothing else is left of. */
const makeItCount = async (rig: AlphaWorld) => {
  const backup = rig.place.path('copy')
  must(await rig.run(['state', 'backup', backup]))
  return must(await rig.run(['state', 'restore', backup, '--yes', '--json'])).json()
}

const anchorsOf = ({ place }: AlphaWorld): readonly string[] => {
  const folder = join(place.configDir, 'keys')
  return readdirSync(folder).filter((name) => name.endsWith('.anchor'))
    .map((name) => join(folder, name))
}

const grantAnew = async (rig: AlphaWorld): Promise<void> => {
  must(await rig.run(['login']))
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
}

t.test('A-026 A-089 A-124 an old copy that is made to count holds the whole ceiling for what it '
  + 'does not know, and asks nothing again', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const phrase = rig.place.path('phrase')
  writeFileSync(phrase, 'a long enough passphrase\n', { mode: 0o600 })
  must(await rig.run(['principal', 'add', 'second', '--passphrase-file', phrase]))
  must(await ask(rig, keyOf(0)))
  const old = rig.place.path('old')
  cpSync(rig.place.stateDir, old, { recursive: true })
  for (const key of [1, 2]) must(await ask(rig, keyOf(key)))
  const posts = rig.inferences().length
  rmSync(rig.place.stateDir, { recursive: true })
  cpSync(old, rig.place.stateDir, { recursive: true })

  const restored = await makeItCount(rig)
  t.equal(restored.unread_operations.length, 1)
  t.strictSame(restored.owners_to_enable, ['second'], 'nobody knows whether they still were')
  t.equal(balances(rig.view()).available_microusd, 0)
  t.strictSame(verifyLedger(rig.view()), [])
  await grantAnew(rig)
  for (const key of [0, 1, 2, 3]) await ask(rig, keyOf(key))
  t.equal(rig.inferences().length, posts, 'no question was sent')

  must(await rig.run([
    'ledger', 'settle', restored.unread_operations[0], '--amount-microusd', '7', '--yes',
  ]))
  for (const key of [1, 2, 3]) {
    t.hasStrict(failure(await ask(rig, keyOf(key))), { status: 5, code: 'idempotency_key_spent' })
  }
  t.equal(rig.inferences().length, posts, 'the bill tells nothing of keys')
  const { ranges: [range] } = must(await rig.run(['state', 'keys', '--json'])).json()
  must(await rig.run(['state', 'keys', '--release', range.id, '--yes']))
  must(await ask(rig, keyOf(3)))
  t.equal(rig.inferences().length, posts + 1, 'once a person has seen both, it goes on')
  t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
})

t.test('a backup that knows everything which the anchor remembers holds the ceiling once, and spends no '
  + 'key', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await ask(rig, keyOf(0)))
  const backup = rig.place.path('backup')
  must(await rig.run(['state', 'backup', backup]))
  const over = must(await rig.run(['state', 'restore', backup, '--yes', '--json'])).json()
  t.equal(over.unread_operations.length, 1, 'over the state that it was made of')
  must(await rig.run(['state', 'backup', rig.place.path('later')]))
  rmSync(rig.place.stateDir, { recursive: true })
  const later = must(await rig.run(['state', 'restore', rig.place.path('later'), '--json'])).json()
  t.strictSame(later.unread_operations, [], 'where the state is gone')
  t.equal(balances(rig.view()).unknown_microusd, limits.ceilingMicrousd)
  await grantAnew(rig)
  t.hasStrict(failure(await ask(rig, keyOf(1))), { status: 8, code: 'ceiling_exceeded' })
  await settleCeiling(rig)
  must(await ask(rig, keyOf(1)))
})

t.test('an older backup over the newest state holds what that one owed, and the ceiling beside it',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const backup = rig.place.path('backup')
    must(await rig.run(['state', 'backup', backup]))
    must(await ask(rig, keyOf(0)))
    const restored = must(await rig.run(['state', 'restore', backup, '--yes', '--json'])).json()
    t.equal(restored.kept_liabilities, 1)
    t.equal(restored.unread_operations.length, 1)
    t.hasStrict(balances(rig.view()), {
      unknown_microusd: limits.boundMicrousd + limits.ceilingMicrousd, available_microusd: 0,
    })
    must(await rig.run(['login']))
    await settleCeiling(rig)
    t.hasStrict(balances(rig.view()), { unknown_microusd: limits.boundMicrousd })
    t.strictSame(verifyLedger(rig.view()), [])
  })

t.test('A-026 an older backup where the newest state is gone, or the anchor is, holds the whole '
  + 'ceiling', async (t) => {
  for (const gone of ['state', 'anchor'] as const) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const backup = rig.place.path('backup')
    must(await rig.run(['state', 'backup', backup]))
    if (gone === 'state') must(await ask(rig, keyOf(0)))
    if (gone === 'state') rmSync(rig.place.stateDir, { recursive: true })
    else for (const path of anchorsOf(rig)) rmSync(path)
    const restored = must(await rig.run(['state', 'restore', backup, '--yes', '--json'])).json()
    t.equal(restored.unread_operations.length, 1, gone)
    t.equal(balances(rig.view()).available_microusd, 0, gone)
    const again = must(await rig.run(['state', 'restore', backup, '--yes', '--json'])).json()
    t.strictSame(again.unread_operations, [], `${gone}: held once`)
    t.equal(balances(rig.view()).unknown_microusd, limits.ceilingMicrousd, gone)
  }
})

t.test('A-026 A-089 a save that a backup or a repair finds under way is rolled back with it: no '
  + 'recovery raises the ceiling above what is held', async (t) => {
  const { ceilingMicrousd: before } = limits
  for (const now of [before / 10, before * 10]) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const killed = await rig.place.spawn([
      'alpha', 'setup', '--enable', '--spend-ceiling-microusd', String(now),
      '--acknowledge-plaintext-egress', '--expected-policy-revision', String(await rig.revision()),
    ], { entry: 'test', coverage: false, env: { TEST_STOP_AT: 'save.accounting' } })
    t.equal(killed.status, 137, killed.stderr)
    t.equal(balances(rig.view()).ceiling_microusd, now, 'the copy is of the moment before its end')
    await makeItCount(rig)
    const [save] = rig.view().all(collections.saveIntents).slice(-1)
    t.hasStrict(save?.doc, { phase: 'superseded' })
    const ceiling = Math.min(before, now)
    for (const words of [['status'], ['login']]) {
      must(await rig.run(words))
      t.hasStrict(balances(rig.view()), {
        ceiling_microusd: ceiling, unknown_microusd: ceiling, available_microusd: 0,
      }, words.join())
    }
    t.strictSame(verifyLedger(rig.view()), [])
    t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
  }
})
