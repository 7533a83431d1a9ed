/** `policy revoke` stops every route whatever else is wrong. */
import {
  mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { holdLock } from '../../support/state/hold-lock.js'
import { forgeRecord } from '../../support/state/forge.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'
import { stopsDirOf } from '../../support/stops-dir.js'

t.test('A-071 a revoke stands and says so when leftovers cannot be resolved', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  await rig.run(['state', 'compact'])
  forgeRecord(rig.place.stateDir, [
    { collection: 'save_intents', id: 'int_x', doc: { no: 'intent' }, partition: 'hash256' },
    { collection: 'save_intents:open', id: 'alpha/int_x', doc: {}, partition: 'hash256' },
  ])
  const ran = await rig.run(['policy', 'revoke', '--json'])
  t.equal(ran.status, 0, ran.stderr)
  t.equal(ran.json().state, 'revoked')
  t.match(ran.stderr, 'was not resolved')
  const asked = await rig.ask()
  t.not(asked.status, 0)
  t.equal(rig.inferences().length, 0)
})

t.test('a revoke names the routes that this version has, and no other', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ran = await rig.run(['policy', 'revoke'])
  t.match(ran.stdout, /^Every route is stopped: alpha, gateway and code host \(policy revision \d+\)\.$/m)
})

/** Each a way in which a state cannot be written, or not even be opened. */
const damages: Readonly<Record<string, (stateDir: string) => string>> = {
  'an untrue record': (stateDir) => {
    const wal = join(stateDir, 'wal')
    return join(wal, readdirSync(wal).filter((name) => name.endsWith('.log')).at(-1) ?? '')
  },
  'STATE': (stateDir) => join(stateDir, 'STATE'),
  'every manifest': (stateDir) => {
    const folder = join(stateDir, 'collections')
    return join(folder, readdirSync(folder).find((name) => name.startsWith('manifest.')) ?? '')
  },
}

for (const [what, fileOf] of Object.entries(damages)) {
  t.test(`A-071 a damaged state is stopped as well, and it is recorded when mended: ${what}`,
    async (t) => {
      const rig = await World.in(t).sandbox().state().session().alpha()
      const file = fileOf(rig.place.stateDir)
      const sound = readFileSync(file)
      const bytes = Buffer.from(sound)
      for (const at of [sound.length - 20, Math.floor(sound.length / 2)]) bytes[at]! ^= 0x41
      writeFileSync(file, bytes)
      const revoked = await rig.run(['policy', 'revoke'])
      t.equal(revoked.status, 0, revoked.stderr)
      t.equal(revoked.stdout, 'Every route is stopped: alpha, gateway and code host. '
        + 'The stop is recorded once the state is repaired.\n')
      writeFileSync(file, sound)
      t.equal((await rig.json(['policy', 'show'])).block, 'policy_revoked')
      await rig.run(['goal', 'add', 'a record'])
      t.equal((await rig.json(['policy', 'show'])).policy.reason, 'operator_revoke')
      t.equal(rig.inferences().length, 0)
    })
}

t.test('A-071 a state whose STATE is lost is stopped as well, and no verb denies that it is there',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    // Of several stores with a key here nobody can tell then which one is meant.
    for (const digit of ['0', 'f']) {
      const id = `${digit.repeat(8)}-0000-4000-8000-000000000000`
      writeFileSync(join(rig.place.configDir, 'keys', `${id}.key`), '')
    }
    rmSync(join(rig.place.stateDir, 'STATE'))
    for (const line of [['status'], ['goal', 'list'], ['login'], ['init']]) {
      t.hasStrict((await rig.run([...line, '--json'])).error(), { code: 'state_file_damaged' })
    }
    const revoked = await rig.run(['policy', 'revoke'])
    t.equal(revoked.status, 0, revoked.stderr)
    t.equal((await rig.run(['state', 'repair'])).status, 0)
    t.equal((await rig.json(['policy', 'show'])).block, 'policy_revoked')
    t.not((await rig.ask()).status, 0)
    t.equal(rig.inferences().length, 0)
  })

t.test('A-071 a revoke needs neither the key nor the folder of keys', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rmSync(join(rig.place.configDir, 'keys'), { recursive: true })
  const revoked = await rig.run(['policy', 'revoke', '--json'])
  t.equal(revoked.status, 0, revoked.stderr)
  t.equal(revoked.json().state, 'revoked')
})

t.test('A-071 where nobody can look at what was leaving, a revoke is in force all the same, and says so', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const run = join(rig.place.stateDir, 'run')
  renameSync(run, `${run}.away`)
  writeFileSync(run, '')
  const ran = await rig.run(['policy', 'revoke', '--json'])
  t.not(ran.status, 0)
  t.match(ran.error().message, 'The stop is in force;')
  rmSync(run)
  renameSync(`${run}.away`, run)
  const asked = await rig.ask()
  t.not(asked.status, 0)
  t.equal(rig.inferences().length, 0)
})

t.test('where there is no state there is nothing to revoke, and none is made', async (t) => {
  const world = await World.in(t)
  const revoked = await world.run(['policy', 'revoke', '--json'])
  t.equal(revoked.status, 10)
  t.strictSame(readdirSync(world.place.dir).filter((name) => name !== 'work'), [])
})

t.test('A-071 where no stop can be written the revoke is its record, or it fails', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  writeFileSync(stopsDirOf(rig.gov.store), 'a file in the place of the folder')
  const revoked = await rig.run(['policy', 'revoke', '--json'])
  t.equal(revoked.status, 0, revoked.stderr)
  t.equal((await rig.json(['policy', 'show'])).policy.reason, 'operator_revoke')
  const state = join(rig.place.stateDir, 'STATE')
  const sound = readFileSync(state)
  writeFileSync(state, 'no STATE')
  t.not((await rig.run(['policy', 'revoke'])).status, 0, 'nothing of it is durable')
  writeFileSync(state, sound)
})

t.test('A-071 a stop that lies in a foreign key folder and is not recorded is not called stopped',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const env = { SALLYPORT_CONFIG_DIR: rig.place.path('another-config') }
    const release = holdLock(rig)
    const revoked = await rig.run(['policy', 'revoke', '--json'], { env })
    release()
    t.equal(revoked.status, 11, revoked.stdout)
    t.hasStrict(revoked.error(), { code: 'stop_out_of_reach', reason: 'lock_held' })
    t.equal((await rig.json(['policy', 'show'])).block, null, 'nobody else knows of it')
    const again = await rig.run(['policy', 'revoke', '--json'], { env })
    t.equal(again.status, 0, 'a record reaches everybody')
    t.equal((await rig.json(['policy', 'show'])).block, 'policy_revoked')
  })

t.test('A-071 a stop is never written through a link in the place of its folder', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const elsewhere = rig.place.path('elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, stopsDirOf(rig.gov.store))
  const release = holdLock(rig)
  t.not((await rig.run(['policy', 'revoke', '--wait', '0'])).status, 0, 'nothing is durable')
  release()
  t.strictSame(readdirSync(elsewhere), [])
  t.equal((await rig.run(['policy', 'revoke'])).status, 0)
  rmSync(stopsDirOf(rig.gov.store))
  t.equal((await rig.json(['policy', 'show'])).policy.reason, 'operator_revoke', 'it is a record')
})
