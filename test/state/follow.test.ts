/** Following a log that others write, where nothing may wait for them. */
import t, { type Test } from 'tap'
import { appendFileSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { keyPlaces } from '../../src/state/paths.js'
import type { Store } from '../../src/state/types.js'
import { stillClock } from '../support/clock.js'
import { newestLog, truncateTo } from '../support/state/forge.js'
import { again, notes, numbers, placeOf, put } from '../support/state/notes.js'
import { World } from '../world/world.js'

/** A log that ends in half a record, written just now, and a reader of it that never waits. */
const halfWritten = async (t: Test) => {
  const clock = stillClock()
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await put(store, 'b', 2)
  const log = newestLog(store.dir)
  const before = readFileSync(log).length
  await put(store, 'c', 3)
  const record = readFileSync(log).subarray(before)
  const half = Math.floor(record.length / 2)
  truncateTo(log, before + half)
  const touch = (): void => {
    const seconds = clock.wallMs() / 1000
    utimesSync(log, seconds, seconds)
  }
  touch()
  const writeOn = (bytes: Buffer): void => {
    appendFileSync(log, bytes)
    touch()
  }
  const reader = again(t, store, 'read', { clock, readsWait: false })
  return { store, clock, reader, rest: record.subarray(half), writeOn }
}

const codesOf = (reader: ReturnType<typeof again>): readonly string[] => {
  const { damage, notices } = reader.health()
  return [...(damage === null ? [] : [damage]), ...notices].map(({ code }) => code)
}

t.test('a reader that never waits sees the last whole record while one is being written, and tells of none', async (t) => {
  const { reader, rest, writeOn } = await halfWritten(t)
  const { wait } = Atomics
  let waits = 0
  Atomics.wait = ((...given: Parameters<typeof wait>) => {
    waits += 1
    return wait(...given)
  }) as typeof wait
  t.teardown(() => {
    Atomics.wait = wait
  })
  t.strictSame(numbers(reader), { a: 1, b: 2 })
  t.strictSame(codesOf(reader), [])
  writeOn(rest)
  t.strictSame(numbers(reader), { a: 1, b: 2, c: 3 })
  t.strictSame(codesOf(reader), [])
  t.equal(waits, 0)
})

t.test('an untrue last record is no damage to it before it has been so for a second', async (t) => {
  const { clock, reader, rest, writeOn } = await halfWritten(t)
  writeOn(Buffer.alloc(rest.length))
  t.strictSame(numbers(reader), { a: 1, b: 2 })
  t.strictSame(codesOf(reader), [])
  clock.advance(1001)
  t.strictSame(numbers(reader), { a: 1, b: 2 })
  t.strictSame(codesOf(reader), ['log_ambiguous'])
})

t.test('what the log ends in is told once it has been so for a second, also where the clock was stepped back', async (t) => {
  const { clock, reader, rest, writeOn } = await halfWritten(t)
  t.strictSame(numbers(reader), { a: 1, b: 2 })
  clock.stepWall(-3_600_000)
  clock.advance(1000)
  t.strictSame([numbers(reader), codesOf(reader)], [{ a: 1, b: 2 }, []])
  writeOn(rest.subarray(0, 3))
  clock.advance(1)
  t.strictSame([numbers(reader), codesOf(reader)], [{ a: 1, b: 2 }, []], 'it grew')
  clock.advance(1001)
  for (let look = 0; look < 3; look += 1) {
    t.strictSame([numbers(reader), codesOf(reader)], [{ a: 1, b: 2 }, ['log_torn']])
  }
})

t.test('a writer with such a store cuts a half record at once, for nobody is writing under the lock', async (t) => {
  const { store, clock } = await halfWritten(t)
  const writer = again(t, store, 'write', { clock, readsWait: false })
  await put(writer, 'd', 4)
  t.strictSame(numbers(writer), { a: 1, b: 2, d: 4 })
  t.strictSame(codesOf(writer), ['torn_tail_cut'])
})

t.test('an anchor that a process died before moving is moved on by one that was there before', async (t) => {
  const { store } = await World.in(t).store()
  const mark = (by: Store, n: number): Promise<void> => by.transact('test', (tx) => {
    tx.put(notes, 'a', { n, text: '' })
    tx.mark()
  })
  await mark(store, 1)
  const { anchor } = keyPlaces(placeOf(store).configDir, store.storeId)
  const before = readFileSync(anchor)
  const other = again(t, store, 'write')
  await mark(other, 2)
  other.close()
  writeFileSync(anchor, before)
  await mark(store, 3)
  t.equal(store.anchor().status, 'ok')
  t.hasStrict(again(t, store).anchor(), { status: 'ok', mark: { number: 3 } })
})
