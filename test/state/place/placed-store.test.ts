/** A state whose records lie at a place: what a replica may rest on, and what it may not. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { FileStore } from '../../../src/state/file-store.js'
import { nodeFiles, type Files } from '../../../src/state/files.js'
import { openWith } from '../../../src/state/keys.js'
import type { CollectionSpec } from '../../../src/state/types.js'
import { closingsDone } from '../../../src/state/place/closings.js'
import { placeTimes } from '../../../src/state/place/place.js'
import type { PlacedStore } from '../../../src/state/place/placed-store.js'
import { systemClock } from '../../../src/base/clock.js'
import { kernelStateLock } from '../../../src/state/lock.js'
import { replicas } from '../../support/place/replicas.js'
import { until } from '../../support/until.js'

const rows: CollectionSpec<{ readonly n: number }> = {
  name: 'rows', schema: v.strictObject({ n: v.number() }), partition: 'hash256',
}
const texts: CollectionSpec<{ readonly text: string }> = {
  name: 'texts', schema: v.strictObject({ text: v.string() }), partition: 'hash256',
}

t.test('a record of one machine is seen by another that asks for now, and not by one that reads', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  t.equal(other.read().get(rows, 'a'), undefined)
  t.strictSame((await other.fresh()).get(rows, 'a'), { n: 1 })
  t.strictSame(other.read().get(rows, 'a'), { n: 1 })
})

t.test('where another machine was first the function runs again over its rows: nothing is lost or doubled', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const add = (at: typeof store) => at.transact('test', (tx) =>
    tx.put(rows, 'sum', { n: (tx.get(rows, 'sum')?.n ?? 0) + 1 }))
  await Promise.all(Array.from({ length: 20 }, (_, n) => add(n % 2 === 0 ? store : other)))
  t.strictSame((await store.fresh()).get(rows, 'sum'), { n: 20 })
  t.strictSame((await other.fresh()).get(rows, 'sum'), { n: 20 })
  t.equal(store.replica.end.chain, other.replica.end.chain)
  t.equal(server.records.length, 21)
})

t.test('a refusal, and no change, count only over rows that were followed first', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  await other.transact('test', (tx) => tx.put(rows, 'asked', { n: 0 }))
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  let runs = 0
  t.strictSame(await other.transact('test', (tx) => {
    runs += 1
    const row = tx.get(rows, 'a')
    if (row === undefined) throw new Error('not there yet')
    return row
  }), { n: 1 })
  t.equal(runs, 2)
  t.equal(await other.transact('test', (tx) => tx.get(rows, 'b')), undefined)
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 2 }))
  t.strictSame(await other.transact('test', (tx) => tx.get(rows, 'a')), { n: 2 })
})

t.test('marks of other machines move this one\'s anchor, and a mark is one everywhere', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  for (const at of [store, other, other, store]) {
    await at.transact('test', (tx) => {
      tx.put(rows, 'm', { n: (tx.get(rows, 'm')?.n ?? 0) + 1 })
      tx.mark()
    })
  }
  await Promise.all([store.fresh(), other.fresh()])
  for (const at of [store, other]) {
    t.hasStrict(at.anchor(), { status: 'ok', isOwn: true })
    t.equal(at.anchor().mark?.number, 4)
  }
})

t.test('a stored file is at the place before the record that names it, and here before it is followed', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const ref = store.artifacts.write('test', Buffer.from('content'))
  t.equal(server.blobs.size, 0)
  server.beforeAppend = async () => {
    t.ok(server.blobs.has(ref.stored_sha256), 'before the record')
    server.beforeAppend = null
  }
  await store.transact('test', (tx) => tx.put(texts, 'a', { text: ref.stored_sha256 }))
  await other.fresh()
  server.isAway = true
  t.equal(other.artifacts.read('test', ref).toString(), 'content')
  server.isAway = false
  store.artifacts.remove(ref.stored_sha256)
  t.equal(server.blobs.size, 0)
})

t.test('bytes that the place made up, left out or put in another order are not followed', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  await store.transact('test', (tx) => tx.put(rows, 'b', { n: 2 }))
  const [base, first, second] = server.records
  if (base === undefined || first === undefined || second === undefined) throw new Error('none')
  const flipped = { ...first, body: Buffer.from(first.body) }
  flipped.body[20] = (flipped.body[20] ?? 0) ^ 1
  const relinked = { ...first, link: Buffer.from(first.link) }
  relinked.link[0] = (relinked.link[0] ?? 0) ^ 1
  const told = { kind: 'damaged', code: 'replica_forked' }
  for (const [what, records] of Object.entries({
    flipped: [base, flipped, second], relinked: [base, relinked, second], leftOut: [base, second],
    swapped: [base, { ...second, sequence: 1 }, { ...first, sequence: 2 }],
  })) {
    server.records = records
    await t.rejects(other.fresh(), told, what)
    t.equal(other.replica.end.sequence, 0, what)
  }
  server.records = [base, first, second]
  t.strictSame((await other.fresh()).get(rows, 'b'), { n: 2 })
})

t.test('a server that has more and does not give it is not asked for ever', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  const { place } = other
  const { follow } = place
  let asked = 0
  place.follow = async (...given) => {
    asked += 1
    if (asked > 100) throw new Error('asked for ever')
    return { ...await follow(...given), records: [], more: true }
  }
  await t.rejects(other.fresh(), { kind: 'damaged', code: 'replica_forked' })
  place.follow = follow
  t.strictSame((await other.fresh()).get(rows, 'a'), { n: 1 })
})

t.test('a server that tells the same old names again is not asked for ever', async (t) => {
  const { store } = await replicas(t)
  const { place } = store
  let asked = 0
  place.oldBlobs = async () => {
    asked += 1
    if (asked > 100) throw new Error('asked for ever')
    return ['a', 'b']
  }
  t.equal(await store.sweepStored(() => new Set()), 2)
})

t.test('what a server sends leaves room on the disk', async (t) => {
  let free = Number.MAX_SAFE_INTEGER
  const files: Files = { ...nodeFiles, freeBytes: () => free }
  const { store, next } = await replicas(t, { files })
  const other = await next()
  const small = store.artifacts.write('test', Buffer.from('small'))
  await store.transact('test', (tx) => tx.put(texts, 's', { text: small.stored_sha256 }))
  free = 1024 * 1024
  await other.fresh()
  t.equal(other.artifacts.list().length, 1, 'what is as short as a record is followed')
  free = Number.MAX_SAFE_INTEGER
  const ref = store.artifacts.write('test', Buffer.alloc(3 * 1024 * 1024, 'content'))
  await store.transact('test', (tx) => tx.put(texts, 'a', { text: ref.stored_sha256 }))
  free = 1024 * 1024
  await t.rejects(other.fresh(), { kind: 'failed', code: 'disk_full' })
  t.equal(other.artifacts.list().length, 1)
  free = Number.MAX_SAFE_INTEGER
  await other.fresh()
  t.equal(other.artifacts.read('test', ref).length, 3 * 1024 * 1024)
})

t.test('the body of a record is sealed for its place behind the one before it, and opens in no other', async (t) => {
  const { store, server } = await replicas(t)
  const before = store.replica.end.chain
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  const body = server.records.at(-1)?.body ?? Buffer.alloc(0)
  const key = store.replica.keys.subkey('shared/record')
  const opens = (context: string) => openWith(key, 'SPR1', context, body) !== undefined
  t.strictSame([
    `${store.storeId}|1|${before}`, `${store.storeId}|2|${before}`,
    `${store.storeId}|1|${store.replica.end.chain}`, `${store.storeId}`,
  ].map(opens), [true, false, false, false])
})

t.test('a stored file that is another than its name says is not taken, nor the record that names it', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const ref = store.artifacts.write('test', Buffer.from('content'))
  await store.transact('test', (tx) => tx.put(texts, 'a', { text: ref.stored_sha256 }))
  server.blobs.set(ref.stored_sha256, [Buffer.from('other bytes')])
  const { sequence } = other.replica.end
  await t.rejects(other.fresh(), { kind: 'damaged', code: 'artifact_damaged' })
  t.equal(other.replica.end.sequence, sequence)
})

t.test('a stored file that is damaged here does not go to the place, and its record does', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const ref = store.artifacts.write('test', Buffer.from('content'))
  const name = ref.stored_sha256
  writeFileSync(join(store.dir, 'artifacts', name.slice(0, 2), name), 'other bytes')
  await store.transact('test', (tx) => tx.put(texts, 'a', { text: name }))
  t.equal(server.blobs.size, 0)
  t.strictSame((await other.fresh()).get(texts, 'a'), { text: name })
  t.throws(() => other.artifacts.read('test', ref), { code: 'evidence_missing' })
  t.throws(() => store.artifacts.read('test', ref), { code: 'artifact_damaged' })
})

t.test('while the place is away reads answer, and nothing is written', async (t) => {
  const { store, server } = await replicas(t)
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  server.isAway = true
  t.strictSame(store.read().get(rows, 'a'), { n: 1 })
  await t.rejects(store.fresh(), { kind: 'locked', code: 'place_unreachable' })
  await t.rejects(store.transact('test', (tx) => tx.put(rows, 'a', { n: 2 })),
    { kind: 'locked', code: 'place_unreachable' })
  server.isAway = false
  t.strictSame((await store.fresh()).get(rows, 'a'), { n: 1 })
})

t.test('a guard is held over machines; one of a dead process of this machine is free here at once', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  const id = `op_${crypto.randomUUID()}`
  const guard = await store.holds.hold('operation', id)
  await t.rejects(other.holds.hold('operation', id), { kind: 'conflict', code: 'guard_held' })
  await other.fresh()
  t.equal(other.holds.isHeld('operation', id), true)
  guard.release()
  await other.fresh()
  t.equal(other.holds.isHeld('operation', id), false)
  const again = await other.holds.hold('operation', id)
  t.equal(other.holds.isHeld('operation', id), true)
  again.release()
})

t.test('whoever has not looked at leases behind the newest record takes nobody for dead', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  const id = `op_${crypto.randomUUID()}`
  t.equal(other.holds.isHeld('operation', id), false)
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  t.equal(store.holds.isHeld('operation', id), false, 'its own record changes no lease')
  const { records } = await other.place.follow(0, 10)
  const opened = other.seal.open(records, other.replica.end, other.replica.generation.binding)
  await other.replica.takeIn('test', opened)
  t.equal(other.holds.isHeld('operation', id), true, 'a process beside it has followed')
  t.equal(other.holds.live(), 1, 'and somebody may be at work')
  await other.fresh()
  t.equal(other.holds.live(), 0)
})

t.test('a record under a lease that was lost is not placed', async (t) => {
  const { store, server } = await replicas(t)
  const guard = await store.holds.hold('operation', `op_${crypto.randomUUID()}`)
  const put = (n: number) => store.transact('test', (tx) => {
    tx.put(rows, 'a', { n })
    tx.mark()
  }, { under: [guard] })
  await put(1)
  server.leases = []
  await t.rejects(put(2), { kind: 'locked', code: 'lease_lost' })
  t.strictSame((await store.fresh()).get(rows, 'a'), { n: 1 })
  guard.release()
})

t.test('one lane over machines; a higher priority that waits elsewhere goes first', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  const clock = store.replica.clock
  const ask = (at: typeof store, priority: 'interactive' | 'normal') =>
    at.holds.lane({ priority, clock, deadlineMs: clock.monotonicMs() + 20_000 })
  const held = await ask(store, 'normal')
  const order: string[] = []
  const waiting = ask(other, 'interactive').then((lane) => {
    order.push('interactive')
    return lane
  })
  await clock.sleep(250)
  const low = ask(store, 'normal').then((lane) => {
    order.push('normal')
    lane.release()
  })
  held.release()
  const lane = await waiting
  await clock.sleep(150)
  t.strictSame(order, ['interactive'])
  lane.release()
  await low
  t.strictSame(order, ['interactive', 'normal'])
})

t.test('a higher priority that waited longer than its place lasts without a word still goes first', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const clock = store.replica.clock
  const ask = (at: typeof store, priority: 'interactive' | 'normal') =>
    at.holds.lane({ priority, clock, deadlineMs: clock.monotonicMs() + 20_000 })
  const wants = () => server.leases.filter(({ name, until }) =>
    name.startsWith('want/interactive/') && until > server.nowMs())
  const held = await ask(store, 'normal')
  const waiting = ask(other, 'interactive')
  await until('it waits', () => wants().length === 1)
  server.nowMs = () => Date.now() + 60_000
  t.strictSame(wants(), [], 'its place is over')
  await until('it waits anew', () => wants().length === 1)
  const order: string[] = []
  const gone = async (who: string, asked: ReturnType<typeof ask>): Promise<void> => {
    const lane = await asked
    order.push(who)
    lane.release()
  }
  const low = gone('normal', ask(store, 'normal'))
  held.release()
  await Promise.all([gone('interactive', waiting), low])
  t.strictSame(order, ['interactive', 'normal'])
})

t.test('who is never first gives up when its time is over, and wrote nothing', async (t) => {
  const { store, next, server } = await replicas(t, { waitMs: 200 })
  const other = await next()
  let n = 0
  const first = async (): Promise<void> => {
    server.beforeAppend = null
    await other.transact('test', (tx) => tx.put(rows, 'first', { n: n += 1 }))
    server.beforeAppend = first
  }
  server.beforeAppend = first
  await t.rejects(store.transact('test', (tx) => tx.put(rows, 'second', { n: 1 })), {
    kind: 'locked', code: 'place_restless',
  })
  server.beforeAppend = null
  t.equal((await store.fresh()).get(rows, 'second'), undefined)
})

/** Lets another machine be first that often. */
const comesSecond = (
  { server }: Awaited<ReturnType<typeof replicas>>, other: PlacedStore, times: number,
  meanwhile = (): void => undefined,
): void => {
  let left = times
  const first = async (): Promise<void> => {
    server.beforeAppend = null
    await other.transact('test', (tx) => tx.put(rows, 'first', { n: left }))
    left -= 1
    meanwhile()
    server.beforeAppend = left > 0 ? first : null
  }
  server.beforeAppend = first
}

t.test('what is recorded behind a stop takes its turn among other machines, and a stop meanwhile ends the wait', async (t) => {
  const stopping = new AbortController()
  const at = await replicas(t, { signal: stopping.signal })
  const { store, next, server } = at
  const other = await next()
  comesSecond(at, other, 40, () => stopping.abort())
  await t.rejects(store.transact('test', (tx) => tx.put(rows, 'waits', { n: 1 })), {
    kind: 'cancelled', code: 'lock_wait_stopped',
  })
  server.beforeAppend = null
  comesSecond(at, other, 5)
  await store.transact('test', (tx) => tx.put(rows, 'late', { n: 1 }))
  const view = await other.fresh()
  t.strictSame([view.get(rows, 'waits'), view.get(rows, 'late')], [undefined, { n: 1 }])
})

t.test('a record that was placed is taken in once the lock of the directory is free, and placed once', async (t) => {
  const { store, server, next } = await replicas(t, { waitMs: 1 })
  const { dir } = store.replica
  const before = { ...placeTimes }
  t.teardown(() => Object.assign(placeTimes, before))
  const holdsFor = (ms: number): void => {
    server.beforeAppend = async () => {
      server.beforeAppend = null
      const lock = kernelStateLock(join(dir, 'lock'), systemClock)
      t.ok(lock.tryTake('another'))
      setTimeout(() => {
        lock.give()
        lock.close()
      }, ms)
    }
  }
  holdsFor(300)
  await store.transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  t.equal(server.records.length, 2)
  t.strictSame(store.read().get(rows, 'a'), { n: 1 })
  placeTimes.patienceMs = 100
  holdsFor(1_000)
  await t.rejects(store.transact('test', (tx) => tx.put(rows, 'b', { n: 1 })), {
    kind: 'partial', code: 'commit_unknown',
  })
  t.equal(server.records.length, 3)
  t.strictSame((await (await next()).fresh()).get(rows, 'b'), { n: 1 })
})

t.test('where the clock of the place cannot be told nothing is written', async (t) => {
  const { store, server, next } = await replicas(t)
  const before = { ...placeTimes }
  t.teardown(() => Object.assign(placeTimes, before))
  placeTimes.clockWithinMs = -1
  server.asked.length = 0
  await t.rejects(store.fresh(), { kind: 'rejected', code: 'clock_apart' })
  t.strictSame(server.asked, ['follow', 'follow', 'follow'], 'the first answer may come late')
  placeTimes.clockWithinMs = before.clockWithinMs
  await (await next()).transact('test', (tx) => tx.put(rows, 'a', { n: 1 }))
  placeTimes.clockWithinMs = -1
  server.asked.length = 0
  await t.rejects(store.fresh(), { kind: 'rejected', code: 'clock_apart' })
  t.equal(server.asked.length, 4, 'what brings records may take long')
  placeTimes.clockWithinMs = before.clockWithinMs
  await store.fresh()
})

t.test('a mark that the disk did not take ends this process\'s writing, here and at the place', async (t) => {
  let isFull = false
  const logs = new Set<number>()
  const files: Files = {
    ...nodeFiles,
    open: (path, intent) => {
      const fd = nodeFiles.open(path, intent)
      if (path.includes('/wal/')) logs.add(fd)
      else logs.delete(fd)
      return fd
    },
    syncData: (fd) => {
      if (isFull && logs.has(fd)) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      nodeFiles.syncData(fd)
    },
  }
  const { store, server, next } = await replicas(t, { files })
  const put = (n: number) => store.transact('test', (tx) => {
    tx.put(rows, 'a', { n })
    tx.mark()
  })
  await put(1)
  isFull = true
  const { length: before } = server.records
  await t.rejects(put(2), {
    kind: 'partial', code: 'commit_unknown', cause: { code: 'disk_full' }, next: /disk is full/,
  })
  isFull = false
  const { length } = server.records
  t.equal(length, before + 1, 'it is not told as what did not come to be')
  await t.rejects(put(3), { kind: 'failed', code: 'store_poisoned' })
  t.equal(server.records.length, length)
  t.strictSame((await (await next()).fresh()).get(rows, 'a'), { n: 2 })
})

t.test('over a damaged log nothing is proposed and nothing is taken in', async (t) => {
  const { store } = await replicas(t)
  for (const n of [1, 2, 3]) await store.transact('test', (tx) => tx.put(rows, 'a', { n }))
  const { dir, keyPlaces: { configDir } } = store.replica
  const folder = join(dir, 'wal')
  const path = join(folder, readdirSync(folder).sort().at(-1) ?? '')
  const bytes = readFileSync(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
  const opened = new FileStore({ dir, configDir, mode: 'write' })
  t.teardown(() => opened.close())
  opened.read()
  t.throws(() => opened.propose('test', (tx) => tx.put(rows, 'a', { n: 4 })), { kind: 'damaged' })
  await t.rejects(opened.takeIn('test', []), { kind: 'damaged' })
})

t.test('a replica that is open for reading proposes nothing and takes nothing in', async (t) => {
  const { store } = await replicas(t)
  const { dir, keyPlaces: { configDir } } = store.replica
  const opened = new FileStore({ dir, configDir, mode: 'read' })
  t.teardown(() => opened.close())
  const told = new TypeError('the store is open for reading only')
  t.throws(() => opened.propose('test', () => 0), told)
  await t.rejects(opened.takeIn('test', []), told)
})

t.test('a process that is open for long says meanwhile that its machine is there; another one at its end', async (t) => {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const { store, server } = await replicas(t, { clock })
  const said = (): number => server.asked.filter((what) => what === 'noteSeen').length
  await store.fresh()
  server.seenAgoMs = 60_000
  await store.fresh()
  await closingsDone()
  t.equal(said(), 0, 'not on the way of what it does')
  nowMs = 60_000
  await store.fresh()
  await closingsDone()
  t.equal(said(), 1)
  await store.fresh()
  await closingsDone()
  t.equal(said(), 1, 'once a minute')
  nowMs = 0
  server.seenAgoMs = 60_000
  await store.fresh()
  store.close()
  await closingsDone()
  t.equal(said(), 2)
})
