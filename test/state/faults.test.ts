import { SallyportError } from '../../src/base/errors.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import { createStore, openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import { faulty, memoryLock, plan, Stopped } from '../support/state/faults.js'
import type { Fault, Plan } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import { notes, numbers, put, specs } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'

const site = { dir: '/tmp/state', configDir: '/tmp/config' }

const makeOn = (disk: MemFiles, to: Plan = plan()): FileStore =>
  createStore({
    ...site, files: faulty(disk, to), lock: memoryLock(), profile: {},
  }) as FileStore

const openOn = (disk: MemFiles, mode: 'read' | 'write' = 'write', to: Plan = plan()): FileStore =>
  openStore({ ...site, mode, files: faulty(disk, to), lock: memoryLock() }) as FileStore

/** How something ends on a disk that fails: by the code of its refusal, or with its process. */
const endOf = (run: () => unknown): string => {
  try {
    run()
    return 'done'
  } catch (error) {
    if (error instanceof Stopped) return 'stopped'
    if (error instanceof SallyportError) return error.code
    throw error
  }
}

/** What leads to a log: synced once by each process that writes. */
const place = [
  'sync /tmp/state/wal', 'sync /tmp/state', 'sync /tmp', 'sync /tmp/config/keys',
]

/** Calls that make an anchor anew, before the first marked record of a process. */
const takenBy = ['create', 'write', 'sync', 'rename', 'sync']

t.test('durability 2 and 9: one commit is one write and one sync of the log, nothing else', async (t) => {
  const disk = new MemFiles()
  makeOn(disk).close()
  const to = plan()
  const store = openOn(disk, 'write', to)
  const commit = ['write /tmp/state/wal/000000000001.log', 'sync /tmp/state/wal/000000000001.log']
  await put(store, 'a', 1)
  t.strictSame(to.seen, [...commit, ...place], 'the first one of a process syncs the way there')
  to.seen.length = 0
  await put(store, 'b', 2)
  t.strictSame(to.seen, commit)
  to.seen.length = 0
  store.read()
  await store.transact('nothing', () => undefined)
  t.strictSame(to.seen, [])
})

t.test('durability 2: what another process wrote is made durable before anything rests on it, once', async (t) => {
  const disk = new MemFiles()
  makeOn(disk).close()
  const to = plan()
  const store = openOn(disk, 'write', to)
  await put(store, 'a', 1)
  await put(openOn(disk, 'write', plan()), 'b', 2)
  to.seen.length = 0
  await store.transact('nothing', () => undefined)
  const log = '/tmp/state/wal/000000000001.log'
  t.strictSame(to.seen, [`write ${log}`, `sync ${log}`])
  to.seen.length = 0
  await store.transact('nothing', () => undefined)
  t.strictSame(to.seen, [])
})

t.test('the first marked commit of a process makes the anchor anew, each syncs log, witness and anchor, in this order', async (t) => {
  const disk = new MemFiles()
  makeOn(disk).close()
  const to = plan(undefined, undefined, ['sync'])
  const store = openOn(disk, 'write', to)
  await put(store, 'a', 1)
  to.seen.length = 0
  const commit = () => store.transact('publish', (tx) => {
    tx.mark({ policyRevision: 3 })
    tx.afterSync(() => store.witness.append('line'))
  })
  await commit()
  const each = [/sync .*\/wal\//, /sync .*witness\.log/, /sync .*\.anchor$/]
  t.matchStrict(to.seen, [/sync .*\/keys\/\.tmp-/, /sync .*\/keys$/, ...each])
  t.equal(to.seen.length, 2 + each.length)
  to.seen.length = 0
  await commit()
  t.matchStrict(to.seen, each)
  t.equal(to.seen.length, each.length)
})

t.test('durability 2: the first transaction of a process writes again and syncs what it finds, one without a change too', async (t) => {
  const disk = new MemFiles()
  const first = makeOn(disk)
  await put(first, 'a', 1)
  await put(first, 'b', 2)
  first.close()
  const log = '/tmp/state/wal/000000000001.log'
  const to = plan()
  const store = openOn(disk, 'write', to)
  store.read()
  t.strictSame(to.seen, [], 'reading writes nothing')
  await store.transact('nothing', () => undefined)
  t.strictSame(to.seen, [`write ${log}`, `sync ${log}`, ...place])
  to.seen.length = 0
  await store.transact('nothing', () => undefined)
  t.strictSame(to.seen, [], 'once')
  const other = openOn(disk)
  await put(other, 'c', 3)
  await put(store, 'd', 4)
  t.strictSame(to.seen, [`write ${log}`, `write ${log}`, `sync ${log}`], 'the record of another')
})

const expectations: readonly (readonly [Fault, string])[] = [
  ['ENOSPC', 'disk_full'], ['EDQUOT', 'disk_full'], ['EIO', 'io_failed'], ['short', 'disk_full'],
]

t.test('durability 2 and 9: a failed write or sync of the log poisons the store, once for all', async (t) => {
  for (const [fault, code] of expectations) {
    for (const at of fault === 'short' ? [1, 2] : [1, 2, 3]) {
      const disk = new MemFiles()
      const first = makeOn(disk)
      await put(first, 'a', 1)
      first.close()
      const store = openOn(disk, 'write', plan(at, fault))
      await t.rejects(put(store, 'b', 2), { kind: 'failed', code }, `${fault} at ${at}`)
      await t.rejects(put(store, 'c', 3), { kind: 'failed', code: 'store_poisoned' })
      t.equal(store.health().poisoned, true)
      t.notOk('c' in numbers(store))
      store.close()
      for (const mode of ['kept', 'dropped'] as const) {
        const next = openOn(disk.crash(mode, 1))
        const seen = numbers(next)
        t.ok(JSON.stringify(seen) === '{"a":1}' || JSON.stringify(seen) === '{"a":1,"b":2}')
        await put(next, 'd', 4)
        t.strictSame(numbers(next), { ...seen, d: 4 })
      }
    }
  }
})

t.test('durability 2: a disk that really is full ends with disk_full and replays when freed', async (t) => {
  const disk = new MemFiles()
  const store = makeOn(disk)
  await put(store, 'a', 1)
  disk.freeLeft = 100
  await t.rejects(put(store, 'b', 2, 'x'.repeat(500)), { kind: 'failed', code: 'disk_full' })
  store.close()
  const full = openOn(disk)
  t.strictSame(numbers(full), { a: 1 })
  await t.rejects(put(full, 'c', 3, 'x'.repeat(500)), { kind: 'failed', code: 'disk_full' })
  full.close()
  disk.freeLeft = 1_000_000
  const freed = openOn(disk)
  await put(freed, 'd', 4)
  t.strictSame(numbers(freed), { a: 1, d: 4 })
  t.ok(checkState({ ...site, files: disk, specs }).ok)
})

t.test('durability 2: a record that found no room gives back what it took of it, one of a place too', async (t) => {
  const disk = new MemFiles()
  const store = makeOn(disk)
  await put(store, 'a', 1)
  const log = '/tmp/state/wal/000000000001.log'
  const before = disk.contentOf(log)
  const { record } = store.propose('test', (tx) => {
    tx.put(notes, 'b', { n: 2, text: 'x'.repeat(500) })
  })
  store.close()
  disk.freeLeft = 300
  const writes = [
    (one: FileStore) => put(one, 'b', 2, 'x'.repeat(500)),
    (one: FileStore) => one.takeIn('follow', record === null ? [] : [record]),
  ]
  for (const write of writes) {
    const full = openOn(disk)
    await t.rejects(write(full), { code: 'disk_full' })
    full.close()
    t.ok(disk.contentOf(log).equals(before))
    t.equal(disk.freeLeft, 300)
  }
  const next = openOn(disk)
  await put(next, 'c', 3)
  t.strictSame(numbers(openOn(disk.crash('dropped', 0), 'read')), { a: 1, c: 3 })
})

t.test('durability 6: a write that failed cuts no whole record, and lengthens no log that somebody shortened', async (t) => {
  const log = '/tmp/state/wal/000000000001.log'
  const ends = { whole: (bytes: number) => bytes, shortened: () => -5 }
  for (const [what, growth] of Object.entries(ends)) {
    const disk = new MemFiles()
    const first = makeOn(disk)
    await put(first, 'a', 1)
    first.close()
    const before = disk.contentOf(log).length
    const disks = faulty(disk, plan())
    const store = openStore({
      ...site, mode: 'write', lock: memoryLock(), files: {
        ...disks,
        write: (fd, bytes, position) => {
          if (position !== before) return disks.write(fd, bytes, position)
          disks.write(fd, bytes, position)
          disks.truncate(fd, before + growth(bytes.length))
          throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        },
      },
    })
    await t.rejects(put(store, 'b', 2), { code: 'disk_full' }, what)
    t.equal(disk.contentOf(log).length > before, what === 'whole')
    t.equal(disk.contentOf(log).length < before, what === 'shortened')
    if (what === 'whole') t.strictSame(numbers(openOn(disk, 'read')), { a: 1, b: 2 })
  }
})

t.test('a witness line that fails leaves the record durable and the hooks due', async (t) => {
  const disk = new MemFiles()
  makeOn(disk).close()
  const to = plan(takenBy.length + 3 + place.length, 'EIO')
  const mended: number[] = []
  const store = openStore({
    ...site, mode: 'write', files: faulty(disk, to), lock: memoryLock(),
    onOpenForWrite: [({ view }) => mended.push(view.sequence)],
  })
  await t.rejects(store.transact('publish', (tx) => {
    tx.put(notes, 'a', { n: 1, text: '' })
    tx.mark()
    tx.afterSync(() => store.witness.append('line'))
  }), { code: 'io_failed' })
  t.strictSame(mended, [0])
  t.equal(store.read().get(notes, 'a')?.n, 1)
  await put(store, 'b', 2)
  t.strictSame(mended, [0, 1], 'the hook ran again before the next record')
  t.equal(store.anchor().status, 'ok')
  t.notOk(openOn(disk).witness.torn())
})

t.test('an anchor that cannot be made anew or moved poisons; the next writer completes it', async (t) => {
  const calls = takenBy.length + place.length + ['write', 'sync', 'write', 'sync'].length
  for (const [how, faults] of Object.entries({ EIO: ['EIO'], lost: ['lost'] } as const)) {
    for (let at = 1; at <= calls; at += 1) {
      const disk = new MemFiles()
      makeOn(disk).close()
      const to = plan(at, faults[0])
      const store = openOn(disk, 'write', to)
      const ended = await store.transact('publish', (tx) => tx.mark({ policyRevision: 5 }))
        .then(() => 'done', (error: SallyportError) => error.code)
      if (how === 'EIO') t.equal(ended, 'io_failed', `${at}`)
      if (ended === 'done') continue
      await t.rejects(put(store, 'a', 1), { code: 'store_poisoned' })
      t.equal(openOn(disk, 'read').anchor().status, 'ok', `${how} ${at}`)
      const next = openOn(disk)
      await next.transact('anything', () => undefined)
      const recorded = next.generation.marks.at(-1)?.policy_revision ?? 0
      t.equal(next.anchor().policyRevision, recorded)
      await next.transact('publish', (tx) => tx.mark({ policyRevision: 6 }))
      next.close()
      const powered = openOn(disk.crash('dropped', 0), 'read')
      t.hasStrict(powered.anchor(), { status: 'ok', policyRevision: 6 }, `${how} ${at}`)
    }
  }
})

t.test('durability 9: whichever call of a fold fails, the commit stands and nothing is lost', async (t) => {
  const script = async (to: Plan): Promise<{ disk: MemFiles; outcome: string; seen: string }> => {
    const disk = new MemFiles()
    const first = makeOn(disk)
    await put(first, 'a', 1)
    first.close()
    const store = openOn(disk, 'write', to)
    const outcome = await store.exclusive('fold', () => store.checkpoint())
      .then(() => 'folded', (error) => error instanceof SallyportError ? error.kind : 'thrown')
    const after = await put(store, 'b', 2).then(() => 'b', (error) => String(error.code))
    store.close()
    return { disk, outcome: `${outcome} ${after}`, seen: to.seen.join() }
  }
  const counted = plan()
  t.equal((await script(counted)).outcome, 'folded b')
  const outcomes = new Set<string>()
  for (let at = 1; at <= counted.calls; at += 1) {
    for (const fault of ['ENOSPC', 'EIO', 'short'] as const) {
      const { disk, outcome } = await script(plan(at, fault))
      outcomes.add(outcome)
      for (const mode of ['kept', 'dropped'] as const) {
        const next = openOn(disk.crash(mode, at))
        const seen = numbers(next)
        if (seen['a'] !== 1) t.fail(`${fault} at ${counted.seen[at - 1]}: a is lost (${mode})`)
        if (outcome.endsWith(' b') && seen['b'] !== 2) t.fail(`${fault} at ${at}: b is lost`)
        if (next.health().damage !== null) t.fail(`${fault} at ${at}: ${mode} is damaged`)
        await put(next, 'c', 3)
        const report = checkState({ ...site, files: disk, specs })
        if (!report.ok) {
          t.fail(`${fault} at ${counted.seen[at - 1]}: ${JSON.stringify(report.problems)}`)
        }
      }
    }
  }
  t.ok(outcomes.has('failed b'), 'an early failure leaves the store usable')
  t.ok(outcomes.has('failed store_poisoned'), 'an ambiguous one poisons')
})

t.test('a commit whose automatic fold fails is still a commit', async (t) => {
  const disk = new MemFiles()
  makeOn(disk).close()
  const files = faulty(disk, plan(1, 'ENOSPC', ['create']))
  const store = openStore({ ...site, mode: 'write', files, lock: memoryLock(), logBytesMax: 5 })
  await put(store, 'a', 1)
  await put(store, 'b', 2)
  t.strictSame(numbers(store), { a: 1, b: 2 })
  t.hasStrict(store.health(), {
    poisoned: false, notices: [{ code: 'checkpoint_failed', subject: 'disk_full' }],
  })
})

t.test('durability 5 and 9: whichever call of a creation fails, there is nothing or all of it', async (t) => {
  const counted = plan()
  makeOn(new MemFiles(), counted)
  for (let at = 1; at <= counted.calls; at += 1) {
    const disk = new MemFiles()
    const error = await Promise.resolve().then(() => makeOn(disk, plan(at, 'ENOSPC')))
      .then(() => null, (thrown) => thrown)
    if (!(error instanceof SallyportError) || error.code !== 'disk_full') {
      t.fail(`${counted.seen[at - 1]}: ${String(error)}`)
    }
    if (disk.stat('/tmp/state') !== undefined) t.equal(openOn(disk).read().sequence, 0)
  }
  t.ok(counted.calls > 20)
})

t.test('leftovers of a creation that died are removed by a later one', async (t) => {
  const counted = plan()
  makeOn(new MemFiles(), counted)
  const made = counted.seen.findIndex((call) => call.startsWith('mkdir /tmp/.state.new-'))
  const disk = new MemFiles()
  t.equal(endOf(() => makeOn(disk, plan(made + 5, 'stop'))), 'stopped')
  const leftover = disk.list('/tmp').find((name) => name.startsWith('.state.new-'))
  t.ok(leftover)
  disk.age(`/tmp/${leftover}`, 0)
  const others = ['.state.new-york', '.state.new-notes', `.state.new-${'a'.repeat(12)}`]
  for (const name of others) {
    disk.mkdir(`/tmp/${name}`)
    disk.close(disk.open(`/tmp/${name}/photo`, 'create'))
    disk.age(`/tmp/${name}`, 0)
  }
  makeOn(disk)
  t.strictSame(disk.list('/tmp').sort(), ['config', 'state', ...others].sort())
})

t.test('whichever call of writing an artifact fails, no half artifact is ever seen', async (t) => {
  const writeOn = (disk: MemFiles, to: Plan): void => {
    makeOn(disk).close()
    openOn(disk, 'write', to).artifacts.write('x', Buffer.from('content'))
  }
  const counted = plan()
  writeOn(new MemFiles(), counted)
  t.ok(counted.calls > 4)
  const ends = { ENOSPC: ['disk_full'], short: ['io_failed', 'disk_full'], stop: ['stopped'] }
  for (let at = 1; at <= counted.calls; at += 1) {
    for (const fault of ['ENOSPC', 'short', 'stop'] as const) {
      const disk = new MemFiles()
      const told = endOf(() => writeOn(disk, plan(at, fault)))
      const name = `${fault} at ${counted.seen[at - 1]}`
      // What is left over once it has its name is no part of it.
      const isLeftover = counted.seen[at - 1]?.startsWith('unlink ') === true
      t.ok([...ends[fault], ...(isLeftover ? ['done'] : [])].includes(told), `${name}: ${told}`)
      t.ok(checkState({ ...site, files: disk.crash('kept', 0), specs }).ok, name)
    }
  }
})

t.test('the name of a removed artifact is gone for good when the removal has answered', async (t) => {
  const disk = new MemFiles()
  makeOn(disk).close()
  const to = plan()
  const store = openOn(disk, 'write', to)
  const { stored_sha256: stored } = store.artifacts.write('x', Buffer.from('content'))
  to.seen.length = 0
  store.artifacts.remove(stored)
  const shard = `/tmp/state/artifacts/${stored.slice(0, 2)}`
  t.strictSame(to.seen, [`unlink ${shard}/${stored}`, `sync ${shard}`])
  const after = openOn(disk.crash('dropped', 0), 'read')
  t.strictSame(after.artifacts.list(), [], 'the power went right behind the answer')
})

/** A disk whose log ends in a torn record, which was never acknowledged. */
const tornDisk = async (): Promise<{ readonly disk: MemFiles, readonly log: string }> => {
  const disk = new MemFiles()
  const store = makeOn(disk)
  await put(store, 'a', 1)
  await put(store, 'b', 2)
  store.close()
  const log = '/tmp/state/wal/000000000001.log'
  disk.overwrite(log, disk.contentOf(log).subarray(0, -3))
  return { disk, log }
}

const nextCalls = (seen: readonly string[], call: string): readonly string[] => {
  const at = seen.indexOf(call)
  return at < 0 ? [] : seen.slice(at, at + 3)
}

t.test('durability 6: a torn record is cut for good before anything is written in its place', async (t) => {
  const { disk, log } = await tornDisk()
  const to = plan()
  const store = openOn(disk, 'write', to)
  await put(store, 'c', 3)
  t.strictSame(nextCalls(to.seen, `truncate ${log}`),
    [`truncate ${log}`, `sync ${log}`, `write ${log}`])
  t.strictSame(numbers(store), { a: 1, c: 3 })
})

t.test('a torn record is cut without a copy where the disk has no room for one, and that is told', async (t) => {
  const { disk, log } = await tornDisk()
  const torn = disk.contentOf(log)
  const failing = openOn(disk, 'write', plan(1, 'EIO', ['create']))
  await t.rejects(put(failing, 'c', 3), { code: 'io_failed' })
  t.ok(disk.contentOf(log).equals(torn), 'an error of another kind keeps it')
  disk.freeLeft = 3
  const store = openOn(disk, 'write', plan(1, 'ENOSPC', ['create']))
  await put(store, 'c', 3)
  t.matchStrict(store.health().notices, [{
    code: 'torn_tail_cut', message: /was cut without a copy, for which the disk has no room: /,
  }])
  store.close()
  t.strictSame(disk.list('/tmp/state/aside'), [])
  t.strictSame(numbers(openOn(disk.crash('dropped', 0), 'read')), { a: 1, c: 3 })
})

t.test('durability 6: the tail that a repair cut is gone for good when it has answered', async (t) => {
  const { disk, log } = await tornDisk()
  const to = plan()
  const files = faulty(disk, to)
  const report = await repairState({ ...site, files, lock: memoryLock() })
  t.hasStrict(report.done, [{ code: 'torn_tail_cut' }])
  t.strictSame(nextCalls(to.seen, `truncate ${log}`).slice(0, 2),
    [`truncate ${log}`, `sync ${log}`])
  const cut = disk.contentOf(log)
  t.strictSame(disk.crash('dropped', 0).contentOf(log), cut)
})

t.test('a fold that the disk gives no room for gives back what it took', async (t) => {
  const folder = '/tmp/state/collections'
  const script = async (to: Plan): Promise<{ before: string[]; after: string[] }> => {
    const disk = new MemFiles()
    const first = makeOn(disk)
    for (const id of ['a', 'b']) await put(first, id, 1)
    first.close()
    const before = disk.list(folder)
    const store = openOn(disk, 'write', to)
    await store.exclusive('fold', () => store.checkpoint()).then(() => null, () => null)
    store.close()
    return { before, after: disk.list(folder) }
  }
  const calls = ['create', 'write', 'sync', 'rename'] as const
  const counted = plan(undefined, undefined, calls)
  t.equal((await script(counted)).after.length, 3, 'two manifests and a segment')
  const wrong: string[] = []
  let tried = 0
  for (let at = 1; at <= counted.calls; at += 1) {
    const to = plan(at, 'ENOSPC', calls)
    const { before, after } = await script(to)
    const isPublished = after.some((name) => name.startsWith('manifest.') && !before.includes(name))
    tried += isPublished ? 0 : 1
    const left = after.filter((name) => !before.includes(name))
    if (!isPublished && left.length > 0) wrong.push(`${to.seen[at - 1]}: ${left.join()}`)
    if (after.some((name) => name.startsWith('.tmp-'))) wrong.push(`${to.seen[at - 1]}: temporary`)
  }
  t.strictSame(wrong, [])
  t.ok(tried > 4, 'most of its calls come before the manifest')
})

t.test('a repair that the disk gives no room for leaves no part of a snapshot behind', async (t) => {
  const folder = '/tmp/state/collections'
  const disk = new MemFiles()
  const first = makeOn(disk)
  for (const id of ['a', 'b']) await put(first, id, 1)
  first.close()
  const log = '/tmp/state/wal/000000000001.log'
  const fd = disk.open(log, 'readwrite')
  const { size } = disk.fstat(fd)
  disk.write(fd, Buffer.alloc(24), size - 90)
  disk.close(fd)
  const repairing = async (files: MemFiles, to: Plan): Promise<string> =>
    repairState({ ...site, files: faulty(files, to), lock: memoryLock() })
      .then(() => 'repaired', (error) => String(error.code))
  const calls = ['create', 'write', 'sync', 'rename'] as const
  const counted = plan(undefined, undefined, calls)
  t.equal(await repairing(disk.clone(), counted), 'repaired')
  let tried = 0
  for (let at = 1; at <= counted.calls; at += 1) {
    if (!/\/collections\/.*(?:\.tmp-|\.seg)/.test(counted.seen[at - 1] ?? '')) continue
    tried += 1
    const copy = disk.clone()
    t.equal(await repairing(copy, plan(at, 'ENOSPC', calls)), 'disk_full')
    t.strictSame(copy.list(folder), disk.list(folder), counted.seen[at - 1] ?? '')
  }
  t.ok(tried > 3)
})
