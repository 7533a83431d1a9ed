/** Fences on both sides, whom a stop covers, and what recording makes of several. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { newId } from '../../../src/base/ids.js'
import { holdGuard } from '../../../src/state/holds/guard.js'
import { policyHead } from '../../../src/governance/policy/head.js'
import { collections } from '../../../src/governance/rows.js'
import { newStop } from '../../../src/governance/stops/act.js'
import {
  Fence, reachFences, sweepFences, watchFences,
} from '../../../src/state/holds/fence.js'
import { putStop } from '../../../src/state/stop-folder.js'
import { disablePrincipal } from '../../../src/governance/stops/people.js'
import { noteRecorded, recordedSince } from '../../../src/governance/stops/recent.js'
import {
  connectionStops, covers, deviceStop, stopsEverybody,
} from '../../../src/governance/stops/stop.js'
import { Memory } from '../../support/governance/memory.js'
import { addAndSignIn, signIn } from '../../support/tasks.js'
import { t } from '../../support/tests-in-slices.js'
import { temporaryFolder } from '../../world/place.js'
import { World } from '../../world/world.js'
import { stopsDirOf } from '../../support/stops-dir.js'

const going = new AbortController().signal
const anybody = (): boolean => true

const fenceOf = (dir: string, operation = newId('op')): Fence =>
  new Fence(dir, { operation, task: null, principal: 'prn_a', root: null, pid: process.pid })

const live = async (t: Test) => {
  const dir = temporaryFolder(t)
  const operation = newId('op')
  const guard = await holdGuard(dir, operation)
  t.teardown(() => guard.release())
  return { dir, operation, guard, fence: fenceOf(dir, operation) }
}

const pathOf = (dir: string, operation: string): string => join(dir, 'run', 'fence', operation)

t.test('whom a stop covers: by id, and whomever it may be meant for where that is not known', (t) => {
  const party = { principal: 'prn_a', givers: [], root: 'root_a', task: 'task_a' }
  for (const [kind, target] of [
    ['principal', 'prn_a'], ['root', 'root_a'], ['task', 'task_a'],
  ] as const) {
    t.ok(covers({ kind, target }, party), kind)
    t.notOk(covers({ kind, target: 'another' }, party), `${kind} of another`)
    t.ok(covers({ kind, target: 'another' }, {}), `${kind} where it is not known`)
    const nobody = { principal: 'prn_b', givers: [], root: null, task: null }
    t.notOk(covers({ kind, target }, nobody), 'of nobody')
  }
  t.ok(covers({ kind: 'principal', target: 'another' }, { principal: 'prn_a' }),
    'another may have consented, where nobody says who did')
  t.ok(covers({ kind: 'all', target: null }, party))
  t.ok(covers({ kind: 'unreadable', target: null }, party))
  t.ok(covers({ kind: 'codehost_push', target: 'x' }, party), 'a kind that nobody knows')
  t.notOk(covers({ kind: 'codehost_push', target: 'x' }, party, () => false), 'one of its own')
  t.end()
})

t.test('the stop of a device covers that device and nothing else, known or not; only what is meant for all stops everybody', (t) => {
  const device = { kind: deviceStop, target: 'edge_dev_a' }
  t.ok(covers(device, { device: 'edge_dev_a' }))
  for (const party of [{}, { device: 'edge_dev_b' }, { principal: 'prn_a', root: 'root_a' }]) {
    t.notOk(covers(device, party), JSON.stringify(party))
  }
  const narrow = [
    'principal', 'root', 'task', deviceStop, ...Object.keys(connectionStops), 'alpha',
    'gateway_slot', 'shots_purpose', 'folder',
  ]
  for (const kind of narrow) t.notOk(stopsEverybody({ kind, target: null }), kind)
  for (const kind of ['all', 'unreadable', 'codehost_push']) {
    t.ok(stopsEverybody({ kind, target: 'x' }), kind)
  }
  t.end()
})

t.test('A-071 a fence that cannot be opened counts as one that does not answer', async (t) => {
  const { dir, fence, operation } = await live(t)
  await fence.take(going)
  fence.give()
  renameSync(pathOf(dir, operation), pathOf(dir, 'moved'))
  symlinkSync(pathOf(dir, 'moved'), pathOf(dir, operation))
  t.hasStrict(await reachFences(dir, anybody, 20), { sent: [], underWay: [{ operation }] })
})

t.test('a fence that is taken keeps whoever stops waiting, and says what has left', async (t) => {
  const { dir, fence, operation } = await live(t)
  await fence.take(going)
  t.hasStrict(await reachFences(dir, anybody, 20), { sent: [], underWay: [{ operation }] })
  t.strictSame((await reachFences(dir, () => false, 20)).underWay, [], 'not one of the others')
  fence.give()
  t.strictSame(await reachFences(dir, anybody, 20), { sent: [], underWay: [] }, 'nothing left')
  await fence.take(going)
  fence.note('begun')
  const reaching = reachFences(dir, anybody, 60_000)
  fence.give()
  t.strictSame((await reaching).sent.map(({ sent }) => sent), ['begun'])
  await fence.take(going)
  fence.note('whole')
  fence.give()
  t.strictSame((await reachFences(dir, anybody, 20)).sent.map(({ sent }) => sent), ['whole'])
  fence.close()
  t.notOk(existsSync(pathOf(dir, operation)))
})

t.test('what was watched before a stop tells its last, also once it has ended', async (t) => {
  const { dir, fence, guard } = await live(t)
  await fence.take(going)
  const watched = watchFences(dir)
  t.teardown(() => watched.close())
  fence.note('begun')
  fence.close()
  guard.release()
  t.strictSame((await reachFences(dir, anybody, 20, watched)).sent.map(({ sent }) => sent),
    ['begun'], 'noted after the first look')
  t.strictSame((await reachFences(dir, () => false, 20, watched)).sent, [], 'not one of the others')
  t.strictSame((await reachFences(dir, anybody, 20)).sent, [])
})

t.test('what was watched and is still live is told once', async (t) => {
  const { dir, fence } = await live(t)
  await fence.take(going)
  fence.note('whole')
  fence.give()
  const watched = watchFences(dir)
  t.teardown(() => watched.close())
  t.strictSame((await reachFences(dir, anybody, 20, watched)).sent.map(({ sent }) => sent),
    ['whole'])
})

t.test('a folder of fences that cannot be read keeps nobody from stopping', (t) => {
  const dir = temporaryFolder(t)
  symlinkSync(dir, join(dir, 'run'))
  t.strictSame(watchFences(dir).live, [])
  t.end()
})

t.test('one operation passes its fence one piece at a time, and waits no longer than it may',
  async (t) => {
    const { fence } = await live(t)
    await fence.take(going)
    const stop = new AbortController()
    const second = fence.take(stop.signal)
    stop.abort()
    await t.rejects(second, { name: 'AbortError' })
    fence.give()
    await fence.take(going)
    fence.close()
  })

t.test('a fence that was removed lets nothing through', async (t) => {
  const { dir, fence, operation } = await live(t)
  await fence.take(going)
  fence.give()
  rmSync(pathOf(dir, operation))
  await t.rejects(fence.take(going), { code: 'fence_lost' })
})

t.test('the fence of a dead process is told of nobody, and swept', async (t) => {
  const { dir, fence, operation, guard } = await live(t)
  await fence.take(going)
  fence.note('whole')
  fence.give()
  sweepFences(dir)
  t.ok(existsSync(pathOf(dir, operation)), 'not while its operation lives')
  guard.release()
  t.strictSame(await reachFences(dir, anybody, 20), { sent: [], underWay: [] })
  sweepFences(dir)
  t.strictSame(readdirSync(join(dir, 'run', 'fence')), [])
})

t.test('what was recorded since is known exactly, or else counts as everything', (t) => {
  const memory = new Memory()
  const note = (target: string): void =>
    memory.transact((tx) => noteRecorded(tx, { kind: 'task', target }))
  note('task_1')
  note('task_2')
  t.strictSame(recordedSince(memory.view(), 2), [])
  t.hasStrict(recordedSince(memory.view(), 1), [{ target: 'task_2' }])
  for (let at = 0; at < 70; at += 1) note(`task_${at}`)
  t.equal(recordedSince(memory.view(), 2), 'too_many')
  t.equal(recordedSince(memory.view(), 100), 'too_many', 'a store that was put back')
  t.end()
})

t.test('several stops of everything that waited are one revocation', async (t) => {
  const { gov, view, ...world } = await World.in(t).state()
  const stops = [1, 2, 3].map(() => newStop(gov.clock, { kind: 'all', target: null }, {
    principal: null, root: null, verb: 'policy revoke',
  }))
  for (const stop of stops) putStop(stopsDirOf(gov.store), stop)
  const { revision } = policyHead(view())
  await world.run(['login'])
  t.equal(policyHead(view()).revision, revision + 1)
  const rows = stops.map(({ id }) => view().get(collections.stops, id)?.facts['revision'])
  t.strictSame(rows, stops.map(() => revision + 1))
})

t.test('A-154 a session is ended by somebody who may, and by nobody else', async (t) => {
  const world = await World.in(t).state().session()
  const { gov, view } = world
  const root = view().all(collections.roots)[0]?.id ?? ''
  const stop = newStop(gov.clock, { kind: 'root', target: root }, {
    principal: 'prn_x', root: 'root_x', verb: 'session revoke',
  })
  putStop(stopsDirOf(gov.store), stop)
  await world.run(['login'])
  t.hasStrict(view().get(collections.stops, stop.id), {
    outcome: 'refused', reason: 'session_invalid',
  })
  t.equal(view().get(collections.roots, root)?.ended, null)
})

t.test('A-154 whoever disables an owner is told of a process that may still send', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const { session: bob } = await addAndSignIn(bench, ada.session, 'bob')
  const operation = newId('op')
  const { dir } = bench.gov.store
  const guard = await holdGuard(dir, operation)
  const fence = new Fence(dir, {
    operation, task: 'task_x', principal: bob.principal.principal_id, root: null, pid: 4_711,
  })
  await fence.take(going)
  await t.rejects(disablePrincipal(bench.gov, ada.session, 'bob'), {
    code: 'contact_under_way', details: { pid: 4_711, task_id: 'task_x' },
  })
  const row = bench.view().get(collections.principals, bob.principal.principal_id)
  t.type(row?.disabled_at, 'string', 'and the stop stays')
  fence.close()
  guard.release()
})

for (const folder of ['run', 'run/fence']) {
  t.test(`no fence is taken or looked for behind a link in the place of ${folder}`, async (t) => {
    const { dir, operation } = await live(t)
    mkdirSync(join(dir, 'run', 'fence'), { recursive: true })
    renameSync(join(dir, folder), join(dir, 'away'))
    symlinkSync(join(dir, 'away'), join(dir, folder))
    const refusal = { kind: 'damaged', code: 'folder_replaced', details: { folder } }
    await t.rejects(fenceOf(dir, operation).take(going), refusal)
    t.throws(() => sweepFences(dir), refusal)
    t.notOk(existsSync(pathOf(dir, operation)))
  })
}
