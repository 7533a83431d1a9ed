import type { Test } from 'tap'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import fs, { renameSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/base/clock.js'
import { backupState } from '../../src/state/care/backup.js'
import { checkState } from '../../src/state/care/check.js'
import { compactState } from '../../src/state/care/compact.js'
import { destroyState } from '../../src/state/care/destroy.js'
import { migrateState } from '../../src/state/care/migrate.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { isStill, tryHoldFile } from '../../src/state/holds/kernel-file.js'
import { kernelStateLock, readHolder, takeLock } from '../../src/state/lock.js'
import { nodeFiles } from '../../src/state/files.js'
import type { FileStore } from '../../src/state/store.js'
import { signalled } from '../support/signalled.js'
import { again, notes, numbers, placeOf, put } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const start = (t: Test, store: FileStore, what: string, times = 0): ChildProcess => {
  const here = fileURLToPath(import.meta.url)
  const program = join(here, '../../support/children', `lock${extname(here)}`)
  const child = spawn(process.execPath, [
    ...process.execArgv, program, store.dir, join(store.dir, '..', 'config'), what, String(times),
  ], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const firstLine = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error('no output')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('ended without a line')
}

const killed = async (child: ChildProcess): Promise<void> => {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

t.test('durability 1: while another process holds the lock, waiting is bounded and names it', async (t) => {
  const { store } = await World.in(t).store({ waitMs: 60 })
  const child = start(t, store, 'hold')
  await firstLine(child)
  await t.rejects(put(store, 'a', 1), {
    kind: 'locked', code: 'lock_held', details: { pid: child.pid, verb: 'hold' },
  })
  const holder = readHolder(nodeFiles, store.places.lock)
  t.matchStrict(holder, { pid: child.pid, hostname: String, boot_id: /./, started_at: /Z$/ })
  t.strictSame(numbers(store), {}, 'readers take no lock')
  t.ok(checkState({ dir: store.dir, configDir: join(store.dir, '..', 'config') }).ok)
  await killed(child)
  await put(store, 'a', 1)
  t.strictSame(numbers(store), { a: 1 })
})

t.test('durability 1: a killed holder frees the lock though its own child lives on', async (t) => {
  const { store } = await World.in(t).store({ waitMs: 5000 })
  const child = start(t, store, 'hold-with-child')
  const grandchild = Number(await firstLine(child))
  t.teardown(() => void signalled(grandchild, 'SIGKILL'))
  await killed(child)
  await put(store, 'a', 1)
  t.strictSame(numbers(store), { a: 1 })
})

t.test('durability 10: processes racing for the lock lose no update', async (t) => {
  const { store } = await World.in(t).store({ waitMs: 60_000 })
  const children = [start(t, store, 'add', 60), start(t, store, 'add', 60)]
  const ends = children.map((child) => once(child, 'exit'))
  for (let i = 0; i < 20; i += 1) {
    await store.transact('add', (tx) => {
      tx.put(notes, 'sum', { n: (tx.get(notes, 'sum')?.n ?? 0) + 1, text: '' })
    })
  }
  for (const end of ends) t.strictSame(await end, [0, null])
  t.strictSame(numbers(store), { sum: 140 })
})

t.test('durability 10: what a killed process acknowledged is there, and the state is whole', async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { store } = await World.in(t).store({ logBytesMax: 200 })
    const child = start(t, store, 'loop')
    let acknowledged = 0
    if (child.stdout === null) throw new Error('no output')
    const lines = createInterface({ input: child.stdout })
    const gone = once(child, 'exit')
    for await (const line of lines) {
      if (line === 'going') setTimeout(() => child.kill('SIGKILL'), 5 + round * 17)
      else acknowledged = Number(line)
    }
    await gone
    const sum = numbers(store)['sum'] ?? 0
    t.ok(sum === acknowledged || sum === acknowledged + 1, `${acknowledged} then ${sum}`)
    await put(store, 'after', 1)
    const report = checkState({ dir: store.dir, configDir: join(store.dir, '..', 'config') })
    t.ok(report.ok)
    store.close()
  }
})

t.test('a lock whose file was replaced guards nothing and is taken again', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  rmSync(store.places.lock)
  writeFileSync(store.places.lock, '', { mode: 0o600 })
  const other = kernelStateLock(store.places.lock, systemClock)
  t.ok(other.tryTake('other'))
  const bounded = again(t, store, 'write', { waitMs: 20 })
  await t.rejects(put(bounded, 'b', 2), { code: 'lock_held' })
  other.give()
  await put(store, 'c', 3)
  t.hasStrict(other.holder(), { verb: 'test' })
  other.close()
  t.strictSame(numbers(store), { a: 1, c: 3 })
})

t.test('a lock whose file was removed guards nothing: the next take makes the file anew', async (t) => {
  const path = join(t.testdir(), 'lock')
  const [a, b] = [kernelStateLock(path, systemClock), kernelStateLock(path, systemClock)]
  t.teardown(() => { a.close(); b.close() })
  t.ok(a.tryTake('a'))
  a.give()
  rmSync(path)
  t.ok(a.tryTake('a'))
  t.ok(existsSync(path), 'what is held is what the path names')
  t.notOk(b.tryTake('b'), 'two never hold it at once')
})

t.test('a lock file that is removed between opening and locking it is not held', async (t) => {
  const path = join(t.testdir(), 'guard')
  const realOpen = fs.openSync
  let removals = 0
  Object.assign(fs, { openSync: (name: string, ...rest: [number, number]) => {
    const fd = realOpen(name, ...rest)
    if (name === path && (removals += 1) === 1) rmSync(path)
    return fd
  } })
  syncBuiltinESMExports()
  t.teardown(() => {
    Object.assign(fs, { openSync: realOpen })
    syncBuiltinESMExports()
  })
  const first = tryHoldFile(path)
  t.ok(first !== null && isStill(first.fd, path), 'what is held is what the path names')
  t.equal(tryHoldFile(path), null, 'two never hold it at once')
  t.equal(removals, 3, 'opened, opened anew, and tried once more')
  first?.release()
})

t.test('a restore that swaps the directory is noticed by a process that held it open', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const copy = `${store.dir}.copy`
  const { cpSync } = await import('node:fs')
  cpSync(store.dir, copy, { recursive: true })
  await put(store, 'b', 2)
  renameSync(store.dir, `${store.dir}.old`)
  renameSync(copy, store.dir)
  t.strictSame(numbers(store), { a: 1 })
  await put(store, 'c', 3)
  t.strictSame(numbers(again(t, store)), { a: 1, c: 3 })
})

t.test('a lock file is tried without waiting and freed by its release', async (t) => {
  const dir = t.testdir()
  const path = join(dir, 'guard')
  const first = tryHoldFile(path)
  t.ok(first)
  t.equal(tryHoldFile(path), null)
  first?.release()
  const second = tryHoldFile(path)
  t.ok(second)
  second?.release()
  t.ok(existsSync(path))
})

t.test('waiting for a lock that is freed meanwhile succeeds', async (t) => {
  const path = join(t.testdir(), 'lock')
  const [a, b] = [kernelStateLock(path, systemClock), kernelStateLock(path, systemClock)]
  t.ok(a.tryTake('a'))
  const waiting = takeLock(b, 'b', { waitMs: 5000, clock: systemClock })
  setTimeout(() => a.give(), 20)
  await waiting
  t.hasStrict(b.holder(), { verb: 'b' })
  a.close()
  b.close()
  t.equal(readHolder(nodeFiles, join(t.testdirName, 'none')), null)
})

/** Resolves after so many timers of 5 ms have fired one after another. */
const ticks = async (count: number): Promise<void> => {
  for (let fired = 0; fired < count; fired += 1) await sleep(5)
}

t.test('a wait for the lock leaves the thread to others and ends with a stop, on every path', async (t) => {
  const { store } = await World.in(t).store({ waitMs: 60_000 })
  await put(store, 'a', 1)
  const configDir = join(store.dir, '..', 'config')
  const backup = join(store.dir, '..', 'backup')
  await backupState(store, backup)
  const child = start(t, store, 'hold')
  await firstLine(child)
  const paths: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
    transaction: (signal) => put(again(t, store, 'write', { signal, waitMs: 60_000 }), 'b', 2),
    backup: (signal) =>
      backupState(again(t, store, 'write', { signal, waitMs: 60_000 }), `${backup}-2`),
    compact: (signal) => compactState(again(t, store, 'write', { signal, waitMs: 60_000 })),
    migrate: (signal) => migrateState({ dir: store.dir, configDir, signal, waitMs: 60_000 }),
    repair: (signal) => repairState({ dir: store.dir, configDir, signal, waitMs: 60_000 }),
    restore: (signal) =>
      restoreState({ dir: store.dir, configDir, backup, signal, waitMs: 60_000 }),
  }
  for (const [name, run] of Object.entries(paths)) {
    const stop = new AbortController()
    let over = false
    const waiting = run(stop.signal).finally(() => { over = true })
    waiting.catch(() => undefined)
    await ticks(10)
    t.notOk(over, `${name} still waits, and ten timers have fired meanwhile`)
    stop.abort()
    await t.rejects(waiting, { kind: 'cancelled', code: 'lock_wait_stopped' }, name)
  }
  await killed(child)
  t.strictSame(numbers(store), { a: 1 })
  t.ok(checkState({ dir: store.dir, configDir }).ok)
})

t.test('a repair, a restore, a change of the format and a destruction that wait for a backup keep no writer out', async (t) => {
  type Site = Parameters<typeof restoreState>[0] & { readonly storeId: string }
  const runs: Readonly<Record<string, (site: Site) => Promise<unknown>>> = {
    repair: repairState,
    restore: restoreState,
    migrate: (site) => migrateState(site),
    destroy: (site) =>
      destroyState({ ...site, lastLook: () => undefined, at: () => Promise.resolve() }),
  }
  for (const [name, run] of Object.entries(runs)) {
    const { store } = await World.in(t).store()
    const backup = join(store.dir, '..', 'backup')
    await backupState(store, backup)
    let waiting: Promise<unknown> = Promise.resolve()
    let over = false
    await store.withoutFolding('state backup', async () => {
      waiting = run({ ...placeOf(store), backup, storeId: store.storeId, waitMs: 60_000 })
        .finally(() => { over = true })
      await ticks(10)
      await put(again(t, store, 'write', { waitMs: 500 }), 'a', 1)
      t.notOk(over, `${name} still waits`)
    })
    await waiting
    store.close()
  }
})

t.test('what is written after a stop waits for the lock as ever', async (t) => {
  const { store: first } = await World.in(t).store()
  const store = again(t, first, 'write', { signal: AbortSignal.abort(), waitMs: 60_000 })
  const child = start(t, store, 'hold')
  await firstLine(child)
  let over = false
  const waiting = put(store, 'a', 1).finally(() => { over = true })
  await ticks(10)
  t.notOk(over, 'an old stop does not end it')
  await killed(child)
  await waiting
  t.strictSame(numbers(store), { a: 1 })
})

t.test('two transactions of one store never hold its lock at once', async (t) => {
  const { store } = await World.in(t).store()
  const lock = kernelStateLock(store.places.lock, systemClock)
  t.teardown(() => lock.close())
  t.equal(lock.tryTake('first'), true)
  t.equal(lock.tryTake('second'), false, 'the kernel would give it to this process again')
  lock.give()
  t.equal(lock.tryTake('second'), true)
  lock.give()
})

t.test('a burst of takes signs the file once; another verb and another holder are told', async (t) => {
  const { store } = await World.in(t).store()
  let now = Date.parse('2026-01-01T00:00:00.000Z')
  const clock = { ...systemClock, wallMs: () => now, monotonicMs: () => now }
  const lock = kernelStateLock(store.places.lock, clock)
  const other = kernelStateLock(store.places.lock, clock)
  t.teardown(() => { lock.close(); other.close() })
  const signedBy = async (one: typeof lock, verb: string, afterMs: number): Promise<string> => {
    await sleep(20) // The file tells one signature from the next by its time of change.
    now += afterMs
    t.equal(one.tryTake(verb), true)
    one.give()
    const { verb: told, started_at: at } = readHolder(nodeFiles, store.places.lock) ?? {}
    return `${told} ${at?.slice(17)}`
  }
  t.equal(await signedBy(lock, 'burst', 0), 'burst 00.000Z')
  t.equal(await signedBy(lock, 'burst', 100), 'burst 00.000Z')
  t.equal(await signedBy(lock, 'else', 10), 'else 00.110Z')
  t.equal(await signedBy(other, 'other', 10), 'other 00.120Z')
  t.equal(await signedBy(lock, 'else', 10), 'else 00.130Z', 'it was overwritten meanwhile')
  t.equal(await signedBy(lock, 'else', 240), 'else 00.130Z')
  t.equal(await signedBy(lock, 'else', 10), 'else 00.380Z', 'a quarter of a second is over')
})
