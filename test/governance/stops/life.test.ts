/** The life of a stop: written, in force, recorded, spent, gone; and a crash between any two. */
import fs, {
  existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { policyHead } from '../../../src/governance/policy/head.js'
import { revokeDevice } from '../../../src/edge/pairing.js'
import { collections } from '../../../src/governance/rows.js'
import { newStop } from '../../../src/governance/stops/act.js'
import { lyingStops, putStop } from '../../../src/state/stop-folder.js'
import { disablePrincipal, revokeSession } from '../../../src/governance/stops/people.js'
import { deviceStop } from '../../../src/governance/stops/stop.js'
import type { Stop } from '../../../src/state/stop-board.js'
import { pairDevice } from '../../support/edge/uploading.js'
import { must } from '../../support/must.js'
import { addAndSignIn, signIn } from '../../support/tasks.js'
import { setupFlags } from '../../world/alpha.js'
import { World, type AlphaWorld } from '../../world/world.js'
import { stopsDirOf } from '../../support/stops-dir.js'

const alphaWorld = (t: Test): PromiseLike<AlphaWorld> =>
  World.in(t).sandbox().state().session().alpha()

const nobody = { principal: null, root: null, verb: 'policy revoke' }
const everything = { kind: 'all', target: null }

const folderOf = (rig: AlphaWorld): string => stopsDirOf(rig.gov.store)
const namesIn = (rig: AlphaWorld): readonly string[] =>
  (existsSync(folderOf(rig)) ? readdirSync(folderOf(rig)) : [])

/** Somebody wrote a stop and died before anything else. */
const leftStop = (rig: AlphaWorld, stop: Stop = newStop(rig.clock, everything, nobody)): Stop => {
  putStop(folderOf(rig), stop)
  return stop
}

const grantAnew = async (rig: AlphaWorld): Promise<void> => {
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
}

const heads = (rig: AlphaWorld) => policyHead(rig.view())

t.test('A-071 a stop that only its writer knew of is in force and is recorded by who writes next',
  async (t) => {
    const rig = await alphaWorld(t)
    const before = heads(rig)
    const stop = leftStop(rig)
    t.equal((await rig.json(['policy', 'show'])).block, 'policy_revoked', 'in force')
    t.equal(heads(rig).revision, before.revision, 'a read records nothing')
    t.not((await rig.ask()).status, 0)
    t.equal(rig.inferences().length, 0)
    must(await rig.run(['goal', 'add', 'a record']))
    t.hasStrict(heads(rig), { reason: 'operator_revoke', epoch: before.epoch + 1 })
    t.hasStrict(rig.view().get(collections.stops, stop.id), {
      kind: 'all', outcome: 'recorded', facts: { revision: heads(rig).revision },
    })
    t.strictSame(namesIn(rig), [])
  })

t.test('A-071 a stop whose record is durable is spent: a later grant stands, and its file goes',
  async (t) => {
    const rig = await alphaWorld(t)
    const stop = leftStop(rig)
    must(await rig.run(['goal', 'add', 'A record of another kind']))
    const revoked = heads(rig)
    t.equal(revoked.reason, 'operator_revoke')
    // The recorder died before it removed the file.
    leftStop(rig, stop)
    t.equal((await rig.json(['policy', 'show'])).policy.revision, revoked.revision)
    await grantAnew(rig)
    t.strictSame(namesIn(rig), [], 'whoever finds it removes it')
    leftStop(rig, stop)
    t.equal((await rig.ask()).status, 0)
    t.equal(rig.inferences().length, 1)
    t.equal(heads(rig).epoch, revoked.epoch, 'it revoked once')
  })

t.test('a stop that was not written whole stops nothing, and one that cannot be read everything',
  async (t) => {
    const rig = await alphaWorld(t)
    mkdirSync(folderOf(rig))
    writeFileSync(join(folderOf(rig), '.tmp-12345-0123456789abcdef-1'), '{"id":"stp_')
    t.equal((await rig.json(['policy', 'show'])).block, null)
    writeFileSync(join(folderOf(rig), 'somebody-elses'), 'no stop')
    t.equal((await rig.json(['policy', 'show'])).block, 'policy_revoked')
    must(await rig.run(['goal', 'add', 'a record']))
    await grantAnew(rig)
    t.equal((await rig.json(['policy', 'show'])).block, null, 'recorded once, then granted anew')
    t.ok(namesIn(rig).includes('somebody-elses'), 'what the program did not make stays')
    t.equal((await rig.ask()).status, 0)
  })

t.test('what processes left that died while they wrote a stop goes with the next record of one',
  async (t) => {
    const rig = await alphaWorld(t)
    mkdirSync(folderOf(rig))
    const names = ['.tmp-12345-0123456789abcdef-1', '.tmp-12345-0123456789abcdef-2']
    for (const name of names) writeFileSync(join(folderOf(rig), name), '{"id":"stp_')
    fs.utimesSync(join(folderOf(rig), names[0] ?? ''), 0, 0)
    must(await rig.run(['policy', 'revoke']))
    t.strictSame(namesIn(rig), [names[1]], 'not one that may be under way')
  })

t.test('a stop of a kind that nobody knows, or under another name, stops everything', async (t) => {
  const changes = [
    { kind: 'codehost_push', target: 'x' }, { more: 1 },
    { kind: 'task', target: 'task_x', id: 'stp_0190f000-0000-7000-8000-000000000000' },
  ]
  for (const change of changes) {
    const rig = await alphaWorld(t)
    const stop = leftStop(rig)
    writeFileSync(join(folderOf(rig), stop.id), JSON.stringify({ ...stop, ...change }))
    t.equal((await rig.json(['policy', 'show'])).block, 'policy_revoked')
    t.not((await rig.ask()).status, 0)
    t.equal(rig.inferences().length, 0)
    must(await rig.run(['goal', 'add', 'a record']))
    t.equal(heads(rig).reason, 'operator_revoke')
  }
})

t.test('nothing in the place of the folder of stops is followed, and everything is stopped',
  async (t) => {
    const rig = await alphaWorld(t)
    const elsewhere = rig.place.path('elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'stp_0190f000-0000-7000-8000-000000000000'), 'a file of mine')
    symlinkSync(elsewhere, folderOf(rig))
    t.equal(lyingStops(folderOf(rig)).length, 1)
    t.not((await rig.ask()).status, 0)
    t.equal(rig.inferences().length, 0)
    must(await rig.run(['goal', 'add', 'a record']))
    t.strictSame(readdirSync(elsewhere), ['stp_0190f000-0000-7000-8000-000000000000'])
  })

t.test('a stop is durable before it counts: the file, its folder and the folder above are synced',
  async (t) => {
    const rig = await alphaWorld(t)
    const synced: string[] = []
    const real = fs.fsyncSync
    const places = new Map<number, string>()
    const realOpen = fs.openSync
    fs.openSync = (path, ...rest) => {
      const fd = realOpen(path, ...rest)
      places.set(fd, String(path))
      return fd
    }
    fs.fsyncSync = (fd) => {
      synced.push(places.get(fd) ?? '')
      real(fd)
    }
    syncBuiltinESMExports()
    t.teardown(() => {
      Object.assign(fs, { fsyncSync: real, openSync: realOpen })
      syncBuiltinESMExports()
    })
    const dir = folderOf(rig)
    mkdirSync(dir)
    leftStop(rig)
    t.equal(synced[0], join(dir, '..'), 'a folder that a dead process made is made durable')
    t.match(synced[1], /\.stops\/\.tmp-/, 'then the bytes')
    t.strictSame(synced.slice(2), [dir], 'then the name')
  })

const steps = ['save.revoked', 'save.credential', 'save.accounting'] as const

t.test('A-075 A-190 a stop between r+1 and r+2 of a save wins, and the save grants nothing',
  async (t) => {
    for (const step of steps) {
      const rig = await alphaWorld(t)
      const { revision } = heads(rig)
      let stop: Stop | undefined
      const saved = await rig.run(
        [...setupFlags(rig.place, revision), '--request-cost-bound-microusd', '40000'],
        { at: (name) => { if (name === step) stop ??= leftStop(rig) } },
      )
      t.equal(saved.error().code, 'policy_moved', step)
      t.hasStrict(heads(rig), { revision: revision + 2, reason: 'operator_revoke' })
      t.strictSame(namesIn(rig), [])
      t.not((await rig.ask()).status, 0)
      t.equal(rig.inferences().length, 0)
      await grantAnew(rig)
      t.equal((await rig.ask()).status, 0, 'and a grant after it stands')
    }
  })

t.test('A-075 a stop that comes under the lock of the last step of a save keeps r+2 back',
  async (t) => {
    const rig = await alphaWorld(t)
    const stop = newStop(rig.clock, everything, nobody)
    const real = fs.lstatSync
    let looks = 0
    // The step records what waits, then looks once more: the stop appears between the two.
    const folder = folderOf(rig)
    const isLook = (path: fs.PathLike): boolean => String(path) === folder
    let armed = false
    Object.assign(fs, { lstatSync: (path: fs.PathLike, ...rest: []) => {
      if (armed && isLook(path) && (looks += 1) === 2) {
        armed = false
        putStop(folder, stop)
      }
      return real(path, ...rest)
    } })
    syncBuiltinESMExports()
    t.teardown(() => {
      Object.assign(fs, { lstatSync: real })
      syncBuiltinESMExports()
    })
    const saved = await rig.run(
      [...setupFlags(rig.place, heads(rig).revision), '--request-cost-bound-microusd', '40000'],
      { at: (name) => { if (name === 'save.accounting') armed = true } },
    )
    t.equal(saved.error().code, 'policy_moved')
    t.equal(heads(rig).reason, 'operator_revoke')
    t.equal(rig.view().all(collections.policy).some(({ doc }) =>
      doc.reason === 'save' && doc.revision > 3), false, 'r+2 was never published')
  })

t.test('a stop whose asker has no authority any more ends nothing, is spent, and is audited',
  async (t) => {
    const rig = await alphaWorld(t)
    const file = rig.place.write('passphrase', 'another person')
    must(await rig.run(['principal', 'add', 'other', '--passphrase-file', file]))
    const owners = rig.view().all(collections.principals).map(({ doc }) => doc)
    const root = rig.view().all(collections.roots)[0]?.doc
    const target = owners.find(({ name }) => name === 'other')?.principal_id ?? ''
    const asker = { principal: root?.principal_id ?? '', root: root?.root_id ?? '' }
    must(await rig.run(['logout']))
    const stop = leftStop(rig, newStop(rig.clock, { kind: 'principal', target }, {
      ...asker, verb: 'principal disable',
    }))
    must(await rig.run(['login', '--owner', 'owner']))
    t.hasStrict(rig.view().get(collections.stops, stop.id), {
      outcome: 'refused', reason: 'session_ended',
    })
    t.strictSame(namesIn(rig), [])
    t.equal(rig.view().get(collections.principals, target)?.disabled_at, null)
    const audit = rig.view().all(collections.audit).map(({ doc }) => doc)
    t.hasStrict(audit.filter(({ what }) => what === 'stop.refused'), [
      { subject: stop.id, facts: { reason: 'session_ended', target } },
    ])
    t.equal((await rig.ask()).status, 0, 'nobody was stopped by it')
  })

t.test('A-154 A-156 a session that a waiting stop ends opens nothing more', async (t) => {
  const rig = await alphaWorld(t)
  const root = rig.view().all(collections.roots)[0]?.doc
  for (const aim of [
    { kind: 'root', target: root?.root_id ?? '' },
    { kind: 'principal', target: root?.principal_id ?? '' },
  ]) {
    const stop = leftStop(rig, newStop(rig.clock, aim, nobody))
    const listed = await rig.run(['task', 'list', '--json'])
    t.equal(listed.status, 4, aim.kind)
    fs.rmSync(join(folderOf(rig), stop.id))
  }
  t.equal((await rig.run(['task', 'list'])).status, 0)
})

t.test('a device that was revoked stops no route and no session, while nobody has recorded it',
  async (t) => {
    const rig = await alphaWorld(t)
    const aim = { kind: deviceStop, target: 'edge_dev_x' }
    const stop = leftStop(rig, newStop(rig.clock, aim, nobody))
    t.equal((await rig.json(['policy', 'show'])).block, null)
    t.equal((await rig.run(['task', 'list'])).status, 0)
    t.strictSame(namesIn(rig), [stop.id], 'it lies there all the while')
    t.equal((await rig.ask()).status, 0)
  })

t.test('A-070 A-158 an old copy decides for nobody what is stopped: no stop comes of it', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const bob = await addAndSignIn(world, session, 'bob')
  const { party: { device } } = await pairDevice(world.gov, session)
  const { stateDir } = world.place
  const copy = world.place.path('copy')
  fs.cpSync(stateDir, copy, { recursive: true })
  await revokeSession(world.gov, session, bob.session.root.root_id)
  fs.rmSync(stateDir, { recursive: true })
  fs.cpSync(copy, stateDir, { recursive: true })
  const old = { ...world.gov, store: world.open('write') }
  const acts: readonly (() => Promise<unknown>)[] = [
    () => revokeSession(old, bob.session, session.root.root_id),
    () => disablePrincipal(old, bob.session, 'ada'),
    () => revokeDevice(old, bob.session, device.device_id),
  ]
  for (const act of acts) {
    await t.rejects(act(), { kind: 'blocked', code: 'store_behind_anchor' })
  }
  t.strictSame(lyingStops(stopsDirOf(old.store)), [])
})

t.test('A-158 a copy that is not the newest records a stop for itself and leaves its file',
  async (t) => {
    const rig = await alphaWorld(t)
    const anchor = `${folderOf(rig).replace(/stops$/, '')}anchor`
    const sound = readFileSync(anchor)
    must(await rig.run(['goal', 'add', 'one']))
    fs.rmSync(anchor)
    const stop = leftStop(rig)
    must(await rig.run(['policy', 'revoke']))
    t.equal(rig.view().get(collections.stops, stop.id)?.outcome, 'recorded')
    t.ok(namesIn(rig).includes(stop.id))
    writeFileSync(anchor, sound)
  })
