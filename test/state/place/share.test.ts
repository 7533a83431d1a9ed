/** A replica is made where none is, out of a place that still has what whoever invited knew. */
import { resolve } from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { checkState } from '../../../src/state/care/check.js'
import { nodeFiles, type Files } from '../../../src/state/files.js'
import { serverChanged } from '../../../src/state/place/errors.js'
import { isAnyGiven, isGiven } from '../../../src/state/place/place-file.js'
import { createShared, joinShared } from '../../../src/state/place/share.js'
import { shareDirectory } from '../../../src/state/place/sharing.js'
import { createStore } from '../../../src/state/store.js'
import type { CollectionSpec } from '../../../src/state/types.js'
import { MemoryServer, memoryPlace } from '../../support/place/memory.js'
import { profile, reaching, replicas } from '../../support/place/replicas.js'

const rows: CollectionSpec<{ readonly n: number }> = {
  name: 'rows', schema: v.strictObject({ n: v.number() }), partition: 'hash256',
}

t.test('nothing is asked of a place for a directory that has a state', async (t) => {
  const { store, server } = await replicas(t)
  const { dir, keyPlaces: { configDir }, state, keys } = store.replica
  const place = memoryPlace(server, () => 'none')
  const [at] = server.records
  if (at === undefined) throw new Error('no record')
  const asked = server.asked.length
  const told = { kind: 'conflict', code: 'state_exists' }
  const elsewhere = `${dir}/../elsewhere`
  await t.rejects(createShared({ dir, configDir: elsewhere, profile, reaching, place }), told)
  const joining = {
    storeId: store.storeId, key: keys.raw, createdAt: state.created_at, profile, at,
  }
  await t.rejects(joinShared({ dir, configDir: elsewhere, joining, reaching, place }), told)
  await t.rejects(joinShared({ dir: elsewhere, configDir, joining, reaching, place }), {
    kind: 'conflict', code: 'machine_joined',
  })
  t.equal(server.asked.length, asked)
})

t.test('a place that lacks what whoever invited knew is not joined', async (t) => {
  const { store, server } = await replicas(t)
  const { state, keys, dir } = store.replica
  const [at] = server.records
  if (at === undefined) throw new Error('no record')
  const root = `${dir}/../other`
  let machine = ''
  const place = memoryPlace(server, () => machine)
  const join = place.join.bind(place)
  place.join = (given) => {
    machine = given.machine
    return join(given)
  }
  const joining = {
    storeId: store.storeId, key: keys.raw, createdAt: state.created_at, profile,
    at: { sequence: 5, link: at.link },
  }
  await t.rejects(joinShared({
    dir: `${root}/state`, configDir: `${root}/config`, joining, reaching, place,
  }), { kind: 'conflict', code: 'server_changed' })
  const isRetired = () => server.machines.find((one) => one.machine === machine)?.retired
  t.type(isRetired(), 'string')
  place.follow = async () => { throw serverChanged('behind') }
  await t.rejects(joinShared({
    dir: `${root}/state`, configDir: `${root}/config`, joining, reaching, place,
  }), { kind: 'conflict', code: 'server_changed' })
  t.equal(server.machines.length, 3)
  t.type(isRetired(), 'string', 'also where the server itself says what it lacks')
})

t.test('a join whose directory could not be made leaves no key, and a new invitation lets the machine in', async (t) => {
  const { store, server } = await replicas(t)
  const { state, keys, dir } = store.replica
  const [at] = server.records
  if (at === undefined) throw new Error('no record')
  const root = resolve(dir, '../other')
  const site = { dir: `${root}/dirs/state`, configDir: `${root}/config` }
  /** Nothing of a state directory can be made any more. */
  const full: Files = {
    ...nodeFiles,
    mkdir: (path) => {
      if (path.startsWith(`${root}/dirs/`)) {
        throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      }
      nodeFiles.mkdir(path)
    },
  }
  const join = (files: Files) => joinShared({
    ...site, files, reaching: { ...reaching, machineName: 'b' },
    joining: {
      storeId: store.storeId, key: keys.raw, createdAt: state.created_at, profile, at,
    },
    place: memoryPlace(server, () => server.machines.at(-1)?.machine ?? ''),
  })
  await t.rejects(join(full), { kind: 'failed', code: 'disk_full' })
  t.strictSame(nodeFiles.list(`${site.configDir}/keys`), [])
  t.equal(server.machines.filter(({ retired }) => retired === null).length, 1)
  const joined = await join(nodeFiles)
  t.teardown(() => joined.close())
  t.ok(isGiven(nodeFiles, `${site.configDir}/keys`, store.storeId))
  const elsewhere = { dir: `${root}/dirs/third`, configDir: `${root}/third-config` }
  await t.rejects(createShared({
    ...elsewhere, files: full, profile, reaching,
    place: memoryPlace(new MemoryServer(), () => ''),
  }), { kind: 'failed', code: 'disk_full' })
  t.notOk(isAnyGiven(nodeFiles, elsewhere.configDir))
})

/** What happens to names and bytes, in order: `sync PATH` and `rename FROM TO`. */
const watched = () => {
  const events: string[] = []
  const paths = new Map<number, string>()
  const files: Files = {
    ...nodeFiles,
    open: (path, intent) => {
      const fd = nodeFiles.open(path, intent)
      paths.set(fd, path)
      return fd
    },
    sync: (fd) => {
      nodeFiles.sync(fd)
      events.push(`sync ${paths.get(fd)}`)
    },
    rename: (from, to) => {
      nodeFiles.rename(from, to)
      events.push(`rename ${from} ${to}`)
    },
  }
  return { files, events }
}

t.test('what a new machine takes over is on its disk before it says so', async (t) => {
  const root = t.testdir()
  const made = createStore({ dir: `${root}/state`, configDir: `${root}/config`, profile })
  await made.transact('test', (tx) => {
    tx.put(rows, 'a', { n: 1 })
    tx.mark()
  })
  const server = new MemoryServer()
  const place = memoryPlace(server, () => 'a')
  const shared = await shareDirectory(made, reaching, place)
  t.teardown(() => shared.close())
  made.close()
  const [at] = server.records
  if (at === undefined) throw new Error('no record')
  const { state, keys } = shared.replica
  const { files, events } = watched()
  const dir = `${root}/b/state`
  const joined = await joinShared({
    dir, configDir: `${root}/b/config`, files, reaching: { ...reaching, machineName: 'b' },
    joining: {
      storeId: shared.storeId, key: keys.raw, createdAt: state.created_at,
      profile: state.profile, at,
    },
    place: memoryPlace(server, () => 'b'),
  })
  t.teardown(() => joined.close())
  const { problems } = checkState({ dir, configDir: `${root}/b/config`, specs: [rows] })
  t.strictSame(problems, [], 'what a repair would fill from is the server')
  const renamed = events.flatMap((event, index) => {
    const [, from = '', to = ''] = /^rename (\S+) (\S+)$/.exec(event) ?? []
    return to.startsWith(`${dir}/collections/`) || to.startsWith(`${dir}/wal/`)
      ? [{ from, to, index }] : []
  })
  const last = renamed.findLast(({ to }) => to.includes('/manifest.'))
  const taken = renamed.filter(({ index }) => index <= (last?.index ?? -1)).slice(-2)
  t.equal(taken.length, 2, 'a log and a manifest')
  for (const { from, to, index } of taken) {
    t.ok(events.slice(0, index).includes(`sync ${from}`), `the bytes of ${to}`)
  }
  const behind = events.slice(last?.index)
  for (const folder of ['collections', 'wal']) {
    t.ok(behind.includes(`sync ${dir}/${folder}`), folder)
  }
})
