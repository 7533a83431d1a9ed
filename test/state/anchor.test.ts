import t from 'tap'
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { slotBytes } from '../../src/state/anchor-slots.js'
import { checkState } from '../../src/state/care/check.js'
import type { FileStore } from '../../src/state/store.js'
import { again, publish, put } from '../support/state/notes.js'
import { World } from '../world/world.js'

/** By `cp`, which keeps modes: `cpSync` of Node 22.23 does not, and a check tells of open ones. */
const copyTree = (from: string, to: string): void => void execFileSync('cp', ['-a', from, to])

const copyAside = (store: FileStore): string => {
  const copy = join(store.dir, '..', 'copy')
  copyTree(store.dir, copy)
  return copy
}

const putBack = (store: FileStore, copy: string): void => {
  rmSync(store.dir, { recursive: true })
  copyTree(copy, store.dir)
}

t.test('the anchor follows each mark and remembers the policy revision', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 2)
  t.equal(store.anchor().policyRevision, 2)
  await store.transact('contact', (tx) => tx.mark())
  t.equal(store.anchor().policyRevision, 2)
  t.equal(store.anchor().status, 'ok')
  await put(store, 'a', 1)
  t.equal(again(t, store).anchor().status, 'ok')
})

t.test('a copy of the state put back after a later mark is behind, and stays so', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 1)
  const copy = copyAside(store)
  await publish(store, 2)
  store.close()
  putBack(store, copy)
  const old = again(t, store, 'write')
  t.equal(old.anchor().status, 'behind')
  await put(old, 'a', 1)
  t.equal(old.anchor().status, 'behind')
  await publish(old, 3)
  t.equal(old.anchor().status, 'forked', 'writing on does not heal it')
  await publish(old, 4)
  await publish(old, 5)
  t.equal(old.anchor().status, 'forked')
  t.equal(old.anchor().policyRevision, 2, 'the anchor did not move')
  const report = checkState({ dir: store.dir, configDir: join(store.dir, '..', 'config') })
  t.hasStrict(report, { ok: false, anchor: 'forked', problems: [{ severity: 'blocked' }] })
})

t.test('a copy that is only behind by unmarked records is not behind', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 1)
  const copy = copyAside(store)
  await put(store, 'a', 1)
  store.close()
  putBack(store, copy)
  t.equal(again(t, store).anchor().status, 'ok')
})

t.test('the comparison survives folds', async (t) => {
  const { store } = await World.in(t).store()
  for (let n = 1; n <= 3; n += 1) await publish(store, n)
  for (let n = 0; n < 3; n += 1) await store.exclusive('fold', () => store.checkpoint())
  t.equal(again(t, store).anchor().status, 'ok')
  const copy = copyAside(store)
  await publish(store, 4)
  await store.exclusive('fold', () => store.checkpoint())
  store.close()
  putBack(store, copy)
  t.equal(again(t, store).anchor().status, 'behind')
})

t.test('a store one mark ahead of its anchor is completed by the next writer', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 1)
  const before = readFileSync(store.keyPlaces.anchor)
  await publish(store, 2)
  await store.exclusive('fold', () => store.checkpoint())
  store.close()
  writeFileSync(store.keyPlaces.anchor, before)
  const next = again(t, store, 'write')
  t.equal(next.anchor().status, 'ok')
  t.equal(next.anchor().policyRevision, 1)
  await next.transact('anything', () => undefined)
  t.equal(next.anchor().policyRevision, 2)
})

t.test('an anchor that was put back by two marks is not believed', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 1)
  const before = readFileSync(store.keyPlaces.anchor)
  await publish(store, 2)
  await publish(store, 3)
  store.close()
  writeFileSync(store.keyPlaces.anchor, before)
  const next = again(t, store, 'write')
  t.equal(next.anchor().status, 'forked')
  await publish(next, 4)
  t.equal(next.anchor().status, 'forked')
})

t.test('a missing, changed or foreign anchor is told apart and never made anew', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 7)
  const path = store.keyPlaces.anchor
  const bytes = readFileSync(path)
  // The slot that does not hold the newest mark; of the other one see anchor-slots.
  for (let at = 0; at < slotBytes; at += 13) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    writeFileSync(path, flipped)
    t.equal(store.anchor().status, 'forged')
  }
  t.equal(store.anchor().policyRevision, 0)
  writeFileSync(path, '')
  t.equal(store.anchor().status, 'forged')
  unlinkSync(path)
  t.equal(store.anchor().status, 'missing')
  await publish(store, 8)
  t.equal(store.anchor().status, 'missing')
})

t.test('a missing key file: reads go on, digests and the anchor do not', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  unlinkSync(store.keyPlaces.key)
  const next = again(t, store)
  t.equal(next.anchor().status, 'missing')
  t.throws(() => next.profile, { kind: 'blocked', code: 'key_missing' })
  t.throws(() => next.keyedDigest('x', Buffer.from('y')), { code: 'key_missing' })
  const report = checkState({ dir: store.dir, configDir: join(store.dir, '..', 'config') })
  t.hasStrict(report.problems[0], { code: 'key_missing', severity: 'blocked' })
  writeFileSync(store.keyPlaces.key, 'short')
  t.throws(() => again(t, store).profile, { kind: 'damaged', code: 'key_damaged' })
})

t.test('witness lines are appended whole; a torn one is not read and is cut', async (t) => {
  const { store } = await World.in(t).store()
  t.strictSame(store.witness.lines(), [])
  store.witness.append('one')
  store.witness.append('two')
  const path = join(store.dir, 'witness.log')
  writeFileSync(path, `${readFileSync(path, 'utf8')}thr`)
  t.strictSame(store.witness.lines(), ['one', 'two'])
  t.ok(store.witness.torn())
  store.witness.append('three')
  t.strictSame(store.witness.lines(), ['one', 'two', 'three'])
  t.notOk(store.witness.torn())
  t.throws(() => store.witness.append('a\nb'), new TypeError('a witness line holds no newline'))
  unlinkSync(path)
  t.strictSame(store.witness.lines(), [])
})
