/** Who has the lock next: in the order of coming, and what stops things before all others. */
import t from 'tap'
import type { Test } from 'tap'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/base/clock.js'
import { nodeFiles } from '../../src/state/files.js'
import { KernelLine, LineFiles } from '../../src/state/lock-line.js'
import { kernelStateLock, takeFreeLock, takeLock } from '../../src/state/lock.js'
import type { StateLock } from '../../src/state/lock.js'
import type { FileStore } from '../../src/state/store.js'
import { codeOfWaited } from '../support/refused.js'
import { again, notes, put } from '../support/state/notes.js'
import { until } from '../support/until.js'
import { temporaryFolder } from '../world/place.js'
import type { Teardown } from '../world/place.js'
import { World } from '../world/world.js'

/** A process that takes the lock again as soon as it has given it back. */
const tightWriter = async (t: Test, store: FileStore): Promise<ChildProcess> => {
  const here = fileURLToPath(import.meta.url)
  const program = join(here, '../../support/children', `lock${extname(here)}`)
  const child = spawn(process.execPath, [
    ...process.execArgv, program, store.dir, join(store.dir, '..', 'config'), 'loop',
  ], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  child.stdout?.resume()
  return child
}

const sumOf = (store: FileStore): number => store.read().get(notes, 'sum')?.n ?? 0

/**
 * Records that others wrote while one of ours waited for its turn: the median, because a process
 * that the system did not run before it stood in line waits for nobody's turn.
 */
const usuallyBefore = async (
  store: FileStore, turns: number, turn: { readonly first?: boolean },
): Promise<number> => {
  const waited: number[] = []
  for (let i = 0; i < turns; i += 1) {
    const before = sumOf(store)
    await store.transact('policy revoke', (tx) => {
      waited.push((tx.get(notes, 'sum')?.n ?? 0) - before)
      tx.put(notes, 'turn', { n: i, text: '' })
    }, turn)
  }
  return waited.sort((a, b) => a - b)[Math.floor(turns / 2)] ?? 0
}

t.test('beside one and two tight writers what goes first waits for a few records, and the others for their turn', async (t) => {
  const { store } = await World.in(t).store()
  for (const writers of [1, 2]) {
    await tightWriter(t, store)
    const first = await usuallyBefore(store, 11, { first: true })
    t.ok(first <= 30, `${first} records were written before it, beside ${writers}`)
    const inTurn = await usuallyBefore(store, 11, {})
    t.ok(inTurn <= 60, `${inTurn} records were written before it in turn, beside ${writers}`)
  }
  t.ok(sumOf(store) > 0)
})

t.test('a waiter that was stopped holds nobody up, and a dead one leaves no trace', async (t) => {
  const { store } = await World.in(t).store()
  const stopped = await tightWriter(t, store)
  let told = ''
  // Stopped somewhere: with the lock it would hold everybody up by right, so until it has it not.
  await until('it is stopped without the lock', async () => {
    stopped.kill('SIGSTOP')
    told = await codeOfWaited(() =>
      again(t, store, 'write', { waitMs: 200 }).transact('look', () => true))
    if (told !== 'lock_held') return true
    const before = sumOf(store)
    stopped.kill('SIGCONT')
    await until('it wrote again', () => sumOf(store) > before)
    return false
  })
  t.equal(told, 'none')
  await put(store, 'a', 1)
  stopped.kill('SIGKILL')
  await once(stopped, 'exit')
  await put(store, 'b', 2)
  t.hasStrict(store.read().get(notes, 'b'), { n: 2 })
})

const filesOf = (t: Teardown, path: string): LineFiles => {
  const files = LineFiles.at(nodeFiles, path)
  if (files === undefined) throw new Error('no line')
  t.teardown(() => files.close())
  return files
}

const lineIn = (t: Teardown): ((first?: boolean) => KernelLine) => {
  const path = join(temporaryFolder(t), 'line')
  return (first = false) => {
    return new KernelLine(filesOf(t, path), first)
  }
}

t.test('in line nobody is overtaken, and who goes first is before the front', (t) => {
  const stand = lineIn(t)
  const [a, b, c] = [stand(), stand(), stand()]
  t.strictSame([a.mayTry(), b.mayTry(), c.mayTry()], [true, false, false])
  t.strictSame([a.atFront, b.atFront, c.atFront], [true, false, false])
  a.leave()
  t.strictSame([c.mayTry(), a.mayTry()], [false, false], 'c stands behind b, a behind c')
  t.equal(b.mayTry(), true)
  const stop = stand(true)
  t.equal(stop.mayTry(), true)
  t.equal(b.mayTry(), false, 'the front waits for what goes first')
  stop.leave()
  t.equal(b.mayTry(), true)
  b.leave()
  t.strictSame([a.mayTry(), c.mayTry(), a.mayTry()], [false, true, false])
  t.end()
})

t.test('a free lock is taken at once where nobody stands in line, and not before one who does', (t) => {
  const dir = temporaryFolder(t)
  mkdirSync(join(dir, 'run'))
  const files = filesOf(t, join(dir, 'run', 'lock-line'))
  const lock = kernelStateLock(join(dir, 'lock'), systemClock)
  t.teardown(() => lock.close())
  const other = new KernelLine(files, false)
  t.equal(takeFreeLock(lock, 'test', false), true)
  t.equal(other.takeWhole(), true, 'the line was left again')
  lock.give()
  other.leave()
  t.equal(other.mayTry(), true)
  t.equal(takeFreeLock(lock, 'test', false), false)
  const behind = new KernelLine(filesOf(t, join(dir, 'run', 'lock-line')), false)
  t.equal(behind.mayTry(), false)
  other.leave()
  t.equal(takeFreeLock(lock, 'test', false), false, 'nor before one who stands behind')
  behind.leave()
  t.equal(takeFreeLock(lock, 'test', true), false, 'what goes first stands in its own place')
  t.equal(takeFreeLock(lock, 'test', false), true)
  t.end()
})

t.test('two who wait by one lock stand in line each for itself, and nobody passes the second', async (t) => {
  const dir = temporaryFolder(t)
  mkdirSync(join(dir, 'run'))
  const [lock, holder, newcomer] = [0, 0, 0].map(() => {
    const one = kernelStateLock(join(dir, 'lock'), systemClock)
    t.teardown(() => one.close())
    return one
  }) as [StateLock, StateLock, StateLock]
  t.equal(holder.tryTake('holder'), true)
  const wait = { waitMs: 60_000, clock: systemClock }
  const first = takeLock(lock, 'first', wait)
  const second = takeLock(lock, 'second', wait)
  t.equal(takeFreeLock(lock, 'third', false), false)
  holder.give()
  await first
  lock.give()
  t.equal(takeFreeLock(newcomer, 'newcomer', false), false, 'the second still stands there')
  await second
  t.equal(lock.holder()?.verb, 'second')
  lock.give()
  t.equal(takeFreeLock(newcomer, 'newcomer', false), true, 'both have left')
  newcomer.give()
})

t.test('what goes first stays before the front while another waits by the same lock', (t) => {
  const dir = temporaryFolder(t)
  mkdirSync(join(dir, 'run'))
  const lock = kernelStateLock(join(dir, 'lock'), systemClock)
  t.teardown(() => lock.close())
  const [stop, waiter] = [lock.line?.(true), lock.line?.(false)]
  const other = new KernelLine(filesOf(t, join(dir, 'run', 'lock-line')), false)
  t.equal(other.mayTry(), true)
  t.strictSame([stop?.mayTry(), waiter?.mayTry(), other.mayTry()], [true, false, false])
  other.leave()
  t.equal(waiter?.mayTry(), false, 'at the front, it waits for what goes first')
  t.equal(waiter?.atFront, true)
  stop?.leave()
  t.equal(waiter?.mayTry(), true)
  waiter?.leave()
  t.end()
})

t.test('after looking often without a step one tries all the same', (t) => {
  const stand = lineIn(t)
  const [still, next] = [stand(), stand()]
  t.equal(still.mayTry(), true)
  let looks = 1
  while (!next.mayTry()) looks += 1
  t.ok(looks > 20 && looks < 200, `${looks} looks`)
  t.end()
})
