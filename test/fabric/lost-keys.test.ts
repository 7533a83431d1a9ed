/** Keys that a repair lost stay spent, whatever clocks say, until a person lets them go. */
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { alphaSetupCollection } from '../../src/alpha/setup.js'
import { balances } from '../../src/governance/ledger/find-reservation.js'
import { collections } from '../../src/governance/rows.js'
import { ask } from '../support/fabric/copies.js'
import { settleCeiling } from '../support/fabric/settle-ceiling.js'
import { failure, must } from '../support/must.js'
import { newestLog, zeroBlock } from '../support/state/forge.js'
import { blocksOf } from '../support/state/places-of-damage.js'
import { t } from '../support/tests-in-slices.js'
import { limits, setupFlags } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

/** A UUID of version 7 that says it was made at this time, in milliseconds since 1970. */
const datedKey = (ms: number): string => {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`
}

const hourMs = 3_600_000

t.test('A-026 a key that a client dated an hour ahead, and one of a clock a year behind, stay spent after a loss', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const now = Date.now()
  const id = 'documents-4-0123456789abcdef-0'
  // What a repair notes whose clock is a year behind, of keys from the first to the last.
  const at = new Date(now - 8766 * hourMs).toISOString()
  await rig.transact((tx) => tx.put(collections.lostKeys, id, { from: '', to: null, at }))
  const keys = [datedKey(now), datedKey(now + hourMs), datedKey(now - 9000 * hourMs)]
  const posts = rig.inferences().length
  for (const key of keys) {
    const again = await ask(rig, key)
    t.strictSame([again.status, again.stderr.includes('state keys')], [5, true])
  }
  t.equal(rig.inferences().length, posts, 'nothing was asked and paid again')

  must(await rig.ask())
  t.equal(rig.inferences().length, posts + 1, 'a key of the program is known to be a new one')
  t.hasStrict(must(await rig.run(['state', 'keys', '--json'])).json(),
    { ranges: [{ id, from: '', to: null, at, released_at: null }], released: null })
  t.match(must(await rig.run(['state', 'keys'])).stdout, /the end\s+\S+\s+no/)

  const unknown = await rig.run(['state', 'keys', '--release', 'none', '--yes', '--json'])
  t.strictSame([unknown.status, unknown.error().code], [6, 'lost_keys_not_found'])
  const asked = await rig.run(['state', 'keys', '--release', id])
  t.equal(asked.status, 2, 'a person confirms it')
  for (let n = 0; n < 2; n += 1) must(await rig.run(['state', 'keys', '--release', id, '--yes']))
  const audited = must(await rig.run(['audit', 'list', '--json'])).stdout
  t.equal(audited.split('idempotency.released').length, 2, 'once')
  must(await ask(rig, keys[1] ?? ''))
  t.equal(rig.inferences().length, posts + 2, 'a person has said so')
})

/** The ways in which records with keys are lost: nothing behind them tells of the key. */
const losses: Readonly<Record<string, (rig: AlphaWorld, before: Backup) => Promise<unknown>>> = {
  'the newest records are zeros': async (rig, { bytes }) => {
    const log = newestLog(rig.place.stateDir)
    const zeros = Buffer.alloc(readFileSync(log).length - bytes.length)
    writeFileSync(log, Buffer.concat([bytes, zeros]))
    must(await rig.run(['state', 'repair']))
  },
  'the newest log is gone': async (rig) => {
    unlinkSync(newestLog(rig.place.stateDir))
    must(await rig.run(['state', 'repair']))
  },
  'the state is lost, and an older copy takes its place': async (rig, { backup }) => {
    rmSync(rig.place.stateDir, { recursive: true })
    must(await rig.run(['state', 'restore', backup, '--yes']))
  },
}

/** A state before the key was used: the bytes of its log, and a backup. */
interface Backup { readonly bytes: Buffer; readonly backup: string }

for (const [what, lose] of Object.entries(losses)) {
  t.test(`A-026 a key that was used where ${what} is not asked and paid again until a person `
    + 'releases it', async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const backup = rig.place.path('backup')
    must(await rig.run(['state', 'compact']))
    must(await rig.run(['state', 'backup', backup]))
    const bytes = readFileSync(newestLog(rig.place.stateDir))
    const key = randomUUID()
    must(await ask(rig, key))
    const posts = rig.inferences().length
    await lose(rig, { bytes, backup })
    must(await rig.run(['login']))
    const open = must(await rig.run(['ledger', 'reservations', '--json'])).json()
    for (const { operation_id: id } of open) {
      must(await rig.run(['ledger', 'settle', id, '--amount-microusd', '0', '--yes']))
    }
    must(await rig.run(setupFlags(rig.place, await rig.revision())))
    t.hasStrict(failure(await ask(rig, key)), { status: 5, code: 'idempotency_key_spent' })
    t.equal(rig.inferences().length, posts, 'nothing was asked and paid again')
    must(await rig.ask())
    t.equal(rig.inferences().length, posts + 1, 'a key of the program is known to be a new one')
    const { ranges } = must(await rig.run(['state', 'keys', '--json'])).json()
    t.hasStrict(ranges, [{ from: '', to: null, released_at: null }])
    must(await rig.run(['state', 'keys', '--release', ranges[0].id, '--yes']))
    must(await ask(rig, key))
    t.equal(rig.inferences().length, posts + 2, 'a person has said so')
  })
}

t.test('A-026 a key that was used after a salvage of some documents is not asked and paid again where the '
  + 'state that was repaired is lost with it, and the ceiling is held once', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  // Twice, so that the manifest before has the same file and no log is left of before.
  for (let n = 0; n < 2; n += 1) must(await rig.run(['state', 'compact']))
  const { stateDir: dir, configDir } = rig.place
  const block = blocksOf({ dir, configDir }).find(({ collection }) =>
    collection === alphaSetupCollection.name)
  if (block === undefined) throw new TypeError('no block of that collection')
  zeroBlock(block.path, block.offset, block.length - 1)
  const backup = rig.place.path('backup')
  must(await rig.run(['state', 'backup', backup, '--salvage']))
  must(await rig.run(['state', 'repair']))
  const openAnew = async (): Promise<void> => {
    must(await rig.run(['login']))
    await settleCeiling(rig)
    must(await rig.run(setupFlags(rig.place, await rig.revision())))
  }
  await openAnew()
  const key = randomUUID()
  must(await ask(rig, key))
  const posts = rig.inferences().length
  rmSync(dir, { recursive: true })
  must(await rig.run(['state', 'restore', backup, '--yes']))
  t.equal(balances(rig.view()).unknown_microusd, limits.ceilingMicrousd, 'held once')
  await openAnew()
  t.hasStrict(failure(await ask(rig, key)), { status: 5, code: 'idempotency_key_spent' })
  t.equal(rig.inferences().length, posts, 'nothing was asked and paid again')
  must(await rig.ask())
})

t.test('a state that lost no keys says so', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  t.match(must(await rig.run(['state', 'keys'])).stdout, 'No keys were lost.')
})
