/** Giving a directory to a place, taking it back, and a server that another one took over from. */
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import * as v from 'valibot'
import { newId } from '../../../src/base/ids.js'
import { stopBehind } from '../../../src/state/place/behind.js'
import { isAnyGiven, isGiven, readPlaceFile } from '../../../src/state/place/place-file.js'
import { storedPath } from '../../../src/state/artifact-folder.js'
import { writeAnchor } from '../../../src/state/anchor.js'
import { joinShared } from '../../../src/state/place/share.js'
import { acceptServer } from '../../../src/state/place/accepting.js'
import { shareDirectory, unshareDirectory } from '../../../src/state/place/sharing.js'
import { nodeFiles, type Files } from '../../../src/state/files.js'
import { looseStateFile } from '../../../src/state/state-file.js'
import type { Stop } from '../../../src/state/stop-board.js'
import { FileStore } from '../../../src/state/file-store.js'
import { PlacedStore } from '../../../src/state/place/placed-store.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { CollectionSpec, Store } from '../../../src/state/types.js'
import { MemoryServer, memoryPlace } from '../../support/place/memory.js'
import { profile, reaching, replicas } from '../../support/place/replicas.js'

const rows: CollectionSpec<{ readonly n: number }> = {
  name: 'rows', schema: v.strictObject({ n: v.number() }), partition: 'hash256',
}
const named: CollectionSpec<{ readonly sha: string }> = {
  name: 'named', schema: v.strictObject({ sha: v.string() }), partition: 'hash256',
}
const must = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('nothing there')
  return value
}
/** No stored file is named by a row. */
const none = () => new Set<string>()
const put = (store: Pick<Store, 'transact'>, n: number) =>
  store.transact('test', (tx) => {
    tx.put(rows, `r${n}`, { n })
    tx.mark()
  })

t.test('what a promoted standby lost is given back by the machine that had come farthest', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  for (const n of [1, 2, 3]) await put(store, n)
  server.records = server.records.slice(0, 2)
  server.isChanged = true
  await t.rejects(put(store, 4), { kind: 'conflict', code: 'server_changed' })
  await t.rejects(acceptServer(store), { code: 'machines_to_ask', details: { machines: 'b' } })
  await t.rejects(acceptServer(other), { code: 'machines_to_ask', details: { machines: 'a' } })
  t.strictSame(await acceptServer(store), { gave_back: 2, without: [] })
  t.strictSame((await other.fresh()).get(rows, 'r3'), { n: 3 })
  await put(other, 4)
  t.strictSame((await store.fresh()).get(rows, 'r4'), { n: 4 })
  t.equal(await acceptServer(store), null)
})

t.test('a machine that is gone is left out by name, and taken from then on no more', async (t) => {
  const { store, next, server } = await replicas(t)
  await next()
  await put(store, 1)
  server.isChanged = true
  const done: string[] = []
  const isKnown = () => !server.isChanged
  const loss = {
    stop: async () => {
      await setImmediate()
      done.push(`stop ${isKnown()}`)
    },
    settle: async () => { done.push(`settle ${isKnown()}`) },
  }
  const cutOff = { ...loss, settle: async () => { throw new Error('cut off') } }
  await t.rejects(acceptServer(store, ['b'], cutOff), new Error('cut off'))
  t.equal(server.machines.find(({ name }) => name === 'b')?.retired, null, 'it is retired last')
  t.strictSame(await acceptServer(store, ['b'], loss), { gave_back: 0, without: ['b'] })
  t.strictSame(done, ['stop false', 'stop true', 'settle true'], 'stopped before, settled behind')
  t.ok(server.machines.find(({ name }) => name === 'b')?.retired)
})

t.test('a machine does not go on without itself, and asking for that changes nothing', async (t) => {
  const { store, next, server } = await replicas(t)
  await next()
  server.isChanged = true
  const told = { kind: 'rejected', code: 'machine_is_this_one' }
  const [vouchers, machines] = [[...server.vouchers], [...server.machines]]
  for (const without of [['a'], ['a', 'b']]) await t.rejects(acceptServer(store, without), told)
  server.isChanged = false
  await t.rejects(acceptServer(store, ['a']), told)
  t.strictSame([server.vouchers, server.machines], [vouchers, machines])
  t.strictSame(store.stops.lying(), [])
})

t.test('a machine that is gone gives nothing back, however far it had come', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await put(other, 1)
  server.records = server.records.slice(0, 1)
  server.isChanged = true
  await t.rejects(acceptServer(other), { code: 'machines_to_ask', details: { machines: 'a' } })
  await t.rejects(acceptServer(store), { code: 'machines_to_ask', details: { machines: 'b' } })
  t.strictSame(await acceptServer(store, ['b']), { gave_back: 0, without: ['b'] })
})

t.test('a server that went on with records of its own is not accepted', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await put(store, 1)
  await put(store, 2)
  await other.fresh()
  const [base, , second] = server.records
  if (base === undefined || second === undefined) throw new Error('no records')
  server.records = [base, { ...second, sequence: 1 }]
  server.isChanged = true
  await t.rejects(acceptServer(store), { code: 'machines_to_ask' })
  await t.rejects(acceptServer(other), { kind: 'conflict', code: 'server_changed' })
})

t.test('a directory that is shared is a replica, another machine begins with all that it had', async (t) => {
  const root = t.testdir()
  const site = { dir: `${root}/state`, configDir: `${root}/config` }
  const made = createStore({ ...site, profile }) as FileStore
  const ref = made.artifacts.write('test', Buffer.from('content'))
  await put(made, 1)
  await made.transact('test', (tx) => tx.put(named, 'a', { sha: ref.stored_sha256 }))
  const beside = openStore({ ...site, mode: 'write' })
  t.teardown(() => beside.close())
  const guard = await beside.holds.hold('job', `job_${crypto.randomUUID()}`)
  const server = new MemoryServer()
  let machine = ''
  const place = memoryPlace(server, () => machine)
  await t.rejects(shareDirectory(made, reaching, place), { kind: 'conflict', code: 'share_moved' })
  guard.release()
  const shared = await shareDirectory(made, reaching, place)
  t.teardown(() => shared.close())
  machine = shared.settings.machine
  await put(shared, 2)
  await t.rejects(put(beside, 3), { kind: 'conflict', code: 'state_moved' })
  made.close()
  const { state } = shared.replica
  const joining = {
    storeId: shared.storeId, key: shared.replica.keys.raw, createdAt: state.created_at,
    profile: state.profile, at: must(server.records.at(-1)),
  }
  const other = { dir: `${root}/b/state`, configDir: `${root}/b/config` }
  const joined = await joinShared({
    ...other, joining, reaching: { ...reaching, machineName: 'b' },
    place: memoryPlace(server, () => joinedMachine),
  })
  const joinedMachine = joined.settings.machine
  t.teardown(() => joined.close())
  t.strictSame(joined.read().get(rows, 'r1'), { n: 1 })
  t.strictSame(joined.read().get(rows, 'r2'), { n: 2 })
  t.equal(joined.artifacts.read('test', ref).toString(), 'content')
  t.equal(joined.anchor().status, 'ok')
  await put(joined, 4)
  t.strictSame((await shared.fresh()).get(rows, 'r4'), { n: 4 })
  t.strictSame(shared.replica.end, joined.replica.end)
  await t.rejects(joinShared({
    dir: `${root}/c/state`, configDir: other.configDir, joining, reaching, place,
  }), { kind: 'conflict', code: 'machine_joined' })
})

t.test('a directory of which a stored file is damaged is not shared: who joins could not follow', async (t) => {
  const root = t.testdir()
  const made = createStore({ dir: `${root}/state`, configDir: `${root}/config`, profile })
  const ref = made.artifacts.write('test', Buffer.from('content'))
  await made.transact('test', (tx) => tx.put(named, 'a', { sha: ref.stored_sha256 }))
  writeFileSync(storedPath(`${root}/state/artifacts`, ref.stored_sha256), 'other bytes')
  const server = new MemoryServer()
  await t.rejects(shareDirectory(made, reaching, memoryPlace(server, () => '')),
    { kind: 'damaged', code: 'artifact_damaged' })
  t.strictSame(server.asked, [], 'nothing was given to the place')
  await put(made, 1)
  t.teardown(() => made.close())
})

t.test('a directory is not shared while something is under way that began meanwhile, and what comes of that is kept', async (t) => {
  const root = t.testdir()
  const site = { dir: `${root}/state`, configDir: `${root}/config` }
  const made = createStore({ ...site, profile }) as FileStore
  await put(made, 1)
  const beside = openStore({ ...site, mode: 'write' })
  t.teardown(() => {
    beside.close()
    made.close()
  })
  const server = new MemoryServer()
  const place = memoryPlace(server, () => '')
  const { putBlob } = place
  const begin = () => beside.holds.hold('job', `job_${crypto.randomUUID()}`)
  let begun: Awaited<ReturnType<typeof begin>> | undefined
  place.putBlob = async (name, pieces) => {
    begun ??= await begin()
    return putBlob(name, pieces)
  }
  await t.rejects(shareDirectory(made, reaching, place), { kind: 'conflict', code: 'share_moved' })
  await put(beside, 2)
  must(begun).release()
  t.strictSame(made.read().get(rows, 'r2'), { n: 2 })
})

t.test('a state is not taken back while another machine has something under way', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  const guard = await other.holds.hold('job', `job_${crypto.randomUUID()}`)
  await t.rejects(unshareDirectory(store, none), { kind: 'conflict', code: 'machines_at_work' })
  guard.release()
  await unshareDirectory(store, none)
})

const stop = (target: string | null): Stop => ({
  id: newId('stp'), kind: 'all', target, at: '2026-01-01T00:00:00.000Z',
  by: { principal: null, root: null, verb: 'revoke' },
})

t.test('with a server that is accepted lies the stop of what is left out, before anybody else looks', async (t) => {
  const { store, next, server } = await replicas(t)
  const [staying] = [await next(), await next('c')]
  await put(store, 1)
  server.isChanged = true
  const own = stop(null)
  const loss = { stop: () => store.stops.put(own), settle: () => Promise.resolve() }
  await t.rejects(acceptServer(staying), { code: 'machines_to_ask' })
  const { place } = store
  const { accept } = place
  place.accept = async (...at) => {
    await accept(...at)
    throw new Error('cut off')
  }
  await t.rejects(acceptServer(store, ['c'], loss), new Error('cut off'))
  await staying.fresh()
  t.strictSame(staying.stops.lying().map(({ id }) => id), [own.id])
})

t.test('files that a cut-off acceptance did not bring are brought by the next one', async (t) => {
  const { store, next, server } = await replicas(t)
  await next('c')
  const ref = store.artifacts.write('test', Buffer.from('content'))
  await store.transact('test', (tx) => tx.put(named, 'a', { sha: ref.stored_sha256 }))
  server.isChanged = true
  server.blobs.clear()
  const loss = { stop: () => Promise.resolve(), settle: () => Promise.resolve() }
  const { place } = store
  const { putBlob } = place
  place.putBlob = () => Promise.reject(new Error('cut off'))
  await t.rejects(acceptServer(store, ['c'], loss), new Error('cut off'))
  place.putBlob = putBlob
  await acceptServer(store, ['c'], loss)
  t.ok(server.blobs.has(ref.stored_sha256))
})

t.test('a state is not taken back without files that another machine may have, and with nobody left it is', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const ref = store.artifacts.write('test', Buffer.from('content'))
  await store.transact('test', (tx) => tx.put(named, 'a', { sha: ref.stored_sha256 }))
  server.blobs.clear()
  await other.fresh()
  const wanted = () => new Set([ref.stored_sha256])
  await t.rejects(unshareDirectory(other, wanted),
    { kind: 'damaged', code: 'artifact_damaged', details: { machines: 'a' } })
  await put(store, 1)
  t.strictSame((await other.fresh()).get(rows, 'r1'), { n: 1 }, 'it is shared as before')
  await other.place.retire(store.settings.machine)
  await unshareDirectory(other, wanted)
  t.ok(server.isEnded)
})

t.test('a machine whose key is another one is told so, and stops nobody', async (t) => {
  const { store, server } = await replicas(t)
  await put(store, 1)
  const { dir, keyPlaces: { configDir, key } } = store.replica
  const own = readFileSync(key)
  writeFileSync(key, `${'0'.repeat(64)}\n`)
  const options = { dir, configDir, mode: 'write', place: store.place } as const
  const other = new PlacedStore(new FileStore(options), options)
  t.teardown(() => other.close())
  await t.rejects(put(other, 2), { kind: 'damaged', code: 'key_damaged' })
  t.strictSame([server.stops, store.stops.lying()], [[], []])
  writeFileSync(key, own)
  await put(store, 2)
})

t.test('a stop that came while a state was taken back is in force in its directory', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const [before, late, own, unread] = [stop(null), stop(null), stop(null), stop(null)]
  await store.stops.put(own)
  await other.stops.put(before)
  const { place } = store
  const { end } = place
  place.end = async (...at) => {
    await other.stops.put(late)
    return end(...at)
  }
  server.stops.push({ id: unread.id, body: Buffer.from('x'), placed: 99 })
  await unshareDirectory(store, none)
  const opened = openStore({
    dir: store.replica.dir, configDir: store.replica.keyPlaces.configDir, mode: 'write',
  })
  t.teardown(() => opened.close())
  const lying = opened.stops.lying()
  t.strictSame(lying.map(({ id }) => id).sort(),
    [own.id, before.id, late.id, unread.id].sort())
  t.equal(lying.find(({ id }) => id === unread.id)?.kind, 'unreadable')
})

t.test('a name that the server made of a stop names no file of the machine', async (t) => {
  const { store, server } = await replicas(t)
  const { replica: { keyPlaces, dir }, storeId } = store
  const key = readFileSync(keyPlaces.key)
  for (const id of [`../${storeId}.key`, 'no/such/folder', 'x'.repeat(300)]) {
    server.stops.push({ id, body: Buffer.from('x'), placed: 9 })
  }
  await unshareDirectory(store, none)
  t.ok(readFileSync(keyPlaces.key).equals(key))
  const opened = openStore({ dir, configDir: keyPlaces.configDir, mode: 'write' })
  t.teardown(() => opened.close())
  t.strictSame(opened.stops.lying().map(({ kind }) => kind),
    ['unreadable', 'unreadable', 'unreadable'])
})

t.test('a server that has another record of a number is not accepted, however far others came', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await put(store, 1)
  await other.fresh()
  await put(store, 2)
  server.isChanged = true
  await t.rejects(acceptServer(store), { code: 'machines_to_ask', details: { machines: 'b' } })
  await other.place.vouch({ sequence: 1, link: Buffer.alloc(32) }, 'b')
  const apart = { code: 'server_changed', reason: 'other_history' }
  await t.rejects(acceptServer(store), apart)
  server.records = server.records.slice(0, 1)
  await other.place.vouch({ sequence: 1, link: Buffer.alloc(32) }, 'b')
  await t.rejects(acceptServer(store), apart, 'nor where it gives that record back')
  t.strictSame(await acceptServer(store, ['b']), { gave_back: 2, without: ['b'] })
})

t.test('a machine of which the newest part is gone says by its anchor how far it had come', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await put(store, 1)
  await other.fresh()
  const { files, keyPlaces: { anchor }, keys, storeId } = other.replica
  const link = other.seal.link('0'.repeat(64))
  writeAnchor(files, anchor, keys, storeId, {
    number: 99, sequence: 9, chain: '0'.repeat(64), policy_revision: null,
  })
  server.isChanged = true
  await t.rejects(acceptServer(other), { code: 'machines_to_ask', details: { machines: 'a' } })
  t.strictSame(server.vouchers.map(({ sequence, link }) => ({ sequence, link })),
    [{ sequence: 9, link }])
  await t.rejects(acceptServer(store), { code: 'machines_to_ask', details: { machines: 'b' } })
  await t.rejects(acceptServer(other), { code: 'records_folded' })
  t.strictSame(await acceptServer(store, ['b']), { gave_back: 0, without: ['b'] })
})

t.test('a machine whose records are gone here and at the server is told that another one goes on without', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  await put(store, 1)
  await other.fresh()
  const { files, keyPlaces: { anchor }, keys, storeId, end } = other.replica
  writeAnchor(files, anchor, keys, storeId, {
    number: 99, sequence: end.sequence, chain: '0'.repeat(64), policy_revision: null,
  })
  await other.fresh()
  await store.fresh()
  await t.rejects(put(store, 2), { code: 'server_changed', reason: 'behind', next: /--without/ })
  await t.rejects(acceptServer(other), { code: 'records_folded', next: /--without/ })
  t.strictSame(await acceptServer(store, ['b']), { gave_back: 0, without: ['b'] })
  await put(store, 2)
})

t.test('machines that are gone are left out together, also one that was retired with what it knew', async (t) => {
  const { store, next, server } = await replicas(t)
  const [b] = [await next('b'), await next('c')]
  await put(store, 1)
  await stopBehind(store.stops, { sequence: 9, machine: b.settings.machine }, 0)
  await store.place.retire(b.settings.machine)
  server.isChanged = true
  await t.rejects(acceptServer(store, ['b']),
    { code: 'machines_to_ask', details: { machines: 'c' } })
  t.strictSame(await acceptServer(store, ['b', 'c']), { gave_back: 0, without: ['b', 'c'] })
  await put(store, 2)
})

t.test('a server that another machine goes on at meanwhile is given nothing back', async (t) => {
  const { store, server } = await replicas(t)
  await put(store, 1)
  server.isChanged = true
  const { place } = store
  const { accept } = place
  place.accept = async (last, lost) => {
    server.records.pop()
    return accept(last, lost)
  }
  await t.rejects(acceptServer(store), { kind: 'conflict', code: 'server_moved' })
  t.equal(server.records.length, 1)
})

t.test('a machine that was retired accepts nothing', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await store.place.retire(other.settings.machine)
  server.isChanged = true
  await t.rejects(acceptServer(other), { kind: 'blocked', code: 'machine_retired' })
})

t.test('a state is not taken back while a machine has records that the server lost', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await store.fresh()
  await put(other, 1)
  server.records.pop()
  await stopBehind(other.stops, { sequence: 1, machine: other.settings.machine }, 0)
  await t.rejects(unshareDirectory(store, none), { code: 'server_changed', reason: 'behind' })
  t.equal(server.isEnded, false)
})

t.test('records that were folded away cannot be given back, which is said', async (t) => {
  const { store, server } = await replicas(t)
  for (const n of [1, 2, 3]) await put(store, n)
  await store.replica.exclusive('test', () => store.replica.rotate())
  await store.replica.mergeAll('test')
  await put(store, 4)
  await store.replica.exclusive('test', () => store.replica.rotate())
  await store.replica.mergeAll('test')
  server.records = server.records.slice(0, 2)
  server.isChanged = true
  await t.rejects(acceptServer(store), { kind: 'blocked', code: 'records_folded' })
})

t.test('how a place is reached is read from a whole file alone', async (t) => {
  const { store: { replica } } = await replicas(t)
  const { files, keyPlaces, keys, storeId } = replica
  const read = () => readPlaceFile(files, keyPlaces.dir, keys, storeId)
  const path = `${keyPlaces.dir}/${storeId}.place`
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, whole.replace('"password":null', '"password":"AAAA"'))
  t.throws(read, { kind: 'damaged', code: 'place_file_damaged' })
  writeFileSync(path, whole.slice(1))
  t.throws(read, { kind: 'damaged', code: 'place_file_damaged' })
  unlinkSync(path)
  t.throws(read, { kind: 'blocked', code: 'place_file_missing' })
})

t.test('a state that is taken back is a directory again, and the others write no more', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  await put(other, 1)
  const { dir, keyPlaces: { configDir } } = store.replica
  await unshareDirectory(store, none)
  await t.rejects(put(other, 2), { kind: 'blocked', code: 'state_unshared' })
  const opened = openStore({ dir, configDir, mode: 'write' })
  t.teardown(() => opened.close())
  t.equal(opened.keptIn, 'directory')
  t.strictSame(opened.read().get(rows, 'r1'), { n: 1 })
  await opened.transact('test', (tx) => tx.put(rows, 'r2', { n: 2 }))
  t.equal(opened.anchor().status, 'ok')
})

t.test('a state whose taking back was cut off behind its decision counts for none that is shared', async (t) => {
  const files: Files = {
    ...nodeFiles,
    unlink: (path) => {
      if (path.endsWith('.place')) throw new Error('cut off')
      nodeFiles.unlink(path)
    },
  }
  const { store } = await replicas(t, { files })
  const { keyPlaces: { dir, configDir }, places, storeId } = store.replica
  t.ok(isGiven(files, dir, storeId))
  await t.rejects(unshareDirectory(store, none), /cut off/)
  t.equal(must(looseStateFile(files, places.state)).kept_in, undefined)
  t.notOk(isGiven(files, dir, storeId))
  t.notOk(isAnyGiven(files, configDir))
})

t.test('a directory that was being shared counts for none that is, and one of a damaged file for one', async (t) => {
  const root = t.testdir()
  const site = { dir: `${root}/state`, configDir: `${root}/config` }
  const made = createStore({ ...site, profile }) as FileStore
  t.teardown(() => made.close())
  const { files, keyPlaces: { dir, configDir }, storeId } = made
  const server = new MemoryServer()
  server.isAway = true
  await t.rejects(shareDirectory(made, reaching, memoryPlace(server, () => '')),
    { code: 'place_unreachable' })
  const path = `${dir}/${storeId}.place`
  const told = readFileSync(path)
  t.notOk(isGiven(files, dir, storeId))
  t.notOk(isAnyGiven(files, configDir))
  writeFileSync(path, told.subarray(1))
  t.ok(isGiven(files, dir, storeId))
  t.ok(isAnyGiven(files, configDir))
  writeFileSync(path, told)
  server.isAway = false
  const shared = await shareDirectory(made, reaching, memoryPlace(server, () => ''))
  t.teardown(() => shared.close())
  t.equal(shared.settings.machine, JSON.parse(told.toString()).machine, 'it is the same machine')
  t.ok(isGiven(files, dir, storeId))
  t.ok(isAnyGiven(files, configDir))
})
