/** The two slots of an anchor: torn, flipped, put back, left unsynced, and written by turns. */
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import t from 'tap'
import {
  anchorBytes, encodeSlot, numberTold, readingOf, slotBytes,
} from '../../src/state/anchor-slots.js'
import { compareAnchor } from '../../src/state/anchor.js'
import { nodeFiles } from '../../src/state/files.js'
import { checkState } from '../../src/state/care/check.js'
import { KeyRing } from '../../src/state/keys.js'
import type { Mark } from '../../src/state/snapshot/manifest.js'
import { createStore, openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import { rounds } from '../support/slice.js'
import { killMarks } from '../support/soak/kill-marks.js'
import { faulty, memoryLock, plan, type Plan } from '../support/state/faults.js'
import { MemFiles, type CrashMode } from '../support/state/mem-files.js'
import { again, placeOf, publish } from '../support/state/notes.js'
import { World } from '../world/world.js'

const storeId = '0f6cf5a1-4b8f-4f0e-9c63-111111111111'
const keys = new KeyRing(storeId, () => Buffer.alloc(32, 7))
const markOf = (number: number): Mark => ({
  number, sequence: 10 * number, chain: String(number % 10).repeat(64), policy_revision: number,
})
const slotOf = (number: number): Buffer => encodeSlot(keys, storeId, markOf(number))
const marksTo = (last: number): readonly Mark[] =>
  Array.from({ length: last + 1 }, (_, number) => markOf(number))
const statusOf = (bytes: Buffer, last: number): string =>
  compareAnchor(readingOf(bytes, keys, storeId), marksTo(last), 0).status
const sectorBytes = 512

t.test('durability 5: whatever part of a slot reached the disk, the anchor agrees with a log that goes on, and with no shorter one', (t) => {
  const [before, old, next] = [slotOf(5), slotOf(4), slotOf(6)]
  const torn = [
    ...Array.from({ length: slotBytes + 1 }, (_, at) =>
      Buffer.concat([next.subarray(0, at), old.subarray(at)])),
    ...Array.from({ length: slotBytes + 1 }, (_, at) =>
      Buffer.concat([old.subarray(0, at), next.subarray(at)])),
    ...Array.from({ length: 2 ** (slotBytes / sectorBytes) }, (_, some) =>
      Buffer.concat(Array.from({ length: slotBytes / sectorBytes }, (_, at) =>
        ((some >> at) % 2 === 0 ? old : next).subarray(at * sectorBytes, (at + 1) * sectorBytes)))),
    Buffer.alloc(slotBytes), Buffer.alloc(slotBytes, 255),
  ]
  const seen = new Map<string, number>()
  for (const slot of torn) {
    for (const bytes of [Buffer.concat([before, slot]), Buffer.concat([slot, before])]) {
      const isOld = slot.equals(old)
      const status = slot.equals(next) ? 'behind' : isOld ? 'ok' : 'forged'
      const found = [statusOf(bytes, 6), statusOf(bytes, 5), statusOf(bytes, 7)]
      const expected = ['ok', status, slot.equals(next) ? 'ok' : 'forked']
      if (JSON.stringify(found) !== JSON.stringify(expected)) t.fail(found.join())
      seen.set(status, (seen.get(status) ?? 0) + 1)
    }
  }
  t.ok(['behind', 'ok', 'forged'].every((status) => (seen.get(status) ?? 0) >= 2))
  t.end()
})

t.test('the highest number that an anchor tells is that of either slot, whether or not it is true', (t) => {
  const untrue = Buffer.from(slotOf(9))
  untrue[untrue.indexOf('\n') - 1] = 0x2a
  for (const [slots, number] of [
    [[slotOf(4), slotOf(5)], 5], [[slotOf(6), slotOf(5)], 6], [[slotOf(4), untrue], 9],
    [[untrue, Buffer.alloc(slotBytes)], 9], [[Buffer.alloc(slotBytes, 255), slotOf(3)], 3],
    [[Buffer.alloc(slotBytes), Buffer.alloc(slotBytes)], 0],
  ] as const) t.equal(numberTold(Buffer.concat(slots)), number)
  t.end()
})

t.test('two slots of one number that differ, slots of another store, and anything behind the zeros seal nothing', (t) => {
  const [one, two] = [slotOf(5), encodeSlot(keys, storeId, { ...markOf(5), chain: 'f'.repeat(64) })]
  t.equal(readingOf(Buffer.concat([one, two]), keys, storeId), 'forged')
  t.equal(readingOf(Buffer.concat([one, one]), keys, 'another'), 'forged')
  const behind = Buffer.concat([one, one])
  behind[slotBytes - 1] = 32
  t.hasStrict(readingOf(behind, keys, storeId), { number: 5, torn: true })
  t.equal(readingOf(Buffer.alloc(anchorBytes), keys, storeId), 'forged')
  t.equal(readingOf(one, keys, storeId), 'forged', 'one slot alone')
  const line = Buffer.from(one.toString('utf8').replace(/\0+$/, ''))
  t.equal(readingOf(line, keys, storeId), 'forged', 'the line of a slot is no anchor of before')
  t.end()
})

t.test('an anchor of one line, of before there were slots, is believed, and the next mark replaces it', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 3)
  const path = store.keyPlaces.anchor
  const [text = ''] = readFileSync(path, 'utf8').slice(slotBytes).split('\0')
  const body = text.slice(0, text.lastIndexOf(' ')).replace('anchor.v2', 'anchor.v1')
  writeFileSync(path, `${body} ${store.keys.hmac('anchor', body)}\n`)
  t.hasStrict(store.anchor(), { status: 'ok', policyRevision: 3 })
  await publish(store, 4)
  t.equal(statSync(path).size, anchorBytes)
  t.hasStrict(again(t, store).anchor(), { status: 'ok', policyRevision: 4 })
})

t.test('one process writes into the file that it made, another one makes it anew', async (t) => {
  const { store } = await World.in(t).store()
  const path = store.keyPlaces.anchor
  const other = again(t, store, 'write')
  const inoAfter = async (by: FileStore, revision: number): Promise<number> => {
    await publish(by, revision)
    t.hasStrict(again(t, store).anchor(), { status: 'ok', policyRevision: revision })
    return statSync(path).ino
  }
  const first = await inoAfter(store, 1)
  for (let revision = 2; revision < 6; revision += 1) {
    t.equal(await inoAfter(store, revision), first)
  }
  const theirs = await inoAfter(other, 6)
  t.not(theirs, first)
  t.equal(await inoAfter(other, 7), theirs)
  t.not(await inoAfter(store, 8), theirs)
})

t.test('a flipped slot is seen at once, whatever the times of the file say: the newest is as one that was torn, the other one is forged, and so is the newest of a log put back', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 1)
  store.close()
  const shorter = readFileSync(store.generation.logPath)
  const writer = again(t, store, 'write')
  await publish(writer, 2)
  const { anchor: path } = store.keyPlaces
  const longer = readFileSync(writer.generation.logPath)
  const reader = again(t, store)
  const minuteAgo = new Date(Date.now() - 60_000)
  const bytes = readFileSync(path)
  const put = (to: string, content: Buffer): void => {
    writeFileSync(to, content)
    utimesSync(to, minuteAgo, minuteAgo)
  }
  for (const at of [3, 300, slotBytes - 1]) {
    const [older, newest] = [0, slotBytes].map((slot) => {
      const flipped = Buffer.from(bytes)
      flipped[slot + at] = (flipped[slot + at] ?? 0) ^ 1
      return flipped
    })
    put(path, older!)
    for (const one of [reader, writer]) {
      t.hasStrict(one.anchor(), { status: 'forged', mark: null, policyRevision: 0 }, `${at}`)
    }
    put(path, newest!)
    for (const one of [reader, writer]) {
      t.hasStrict(one.anchor(), { status: 'ok', mark: { number: 1 }, torn: true }, `${at}`)
    }
    const told = checkState(placeOf(store)).problems.map(({ code }) => code)
    t.strictSame(told, ['anchor_torn'], 'as a witness that is one line behind')
    put(writer.generation.logPath, shorter)
    t.hasStrict(again(t, store).anchor(), { status: 'forged', mark: null }, `${at}, put back`)
    put(path, bytes)
    t.equal(again(t, store).anchor().status, 'behind', 'put back')
    put(writer.generation.logPath, longer)
  }
  t.equal(again(t, store).anchor().status, 'ok')
})

t.test('two slots that were read in pieces, while one and then the other was written, are read again', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 1)
  const { anchor: path } = store.keyPlaces
  let pieces = 1
  const fds = new Set<number>()
  const files: typeof nodeFiles = {
    ...nodeFiles,
    open: (of, intent) => {
      const fd = nodeFiles.open(of, intent)
      if (of === path) fds.add(fd)
      return fd
    },
    read: (fd, buffer, position) => {
      const count = nodeFiles.read(fd, buffer, position)
      if (fds.delete(fd) && pieces > 0) {
        pieces -= 1
        buffer[0] = 0
        buffer[slotBytes] = 0
      }
      return count
    },
  }
  const reader = again(t, store, 'read', { files })
  t.hasStrict(reader.anchor(), { status: 'ok', policyRevision: 1 })
  t.equal(pieces, 0)
})

t.test('what somebody changed in place is not written over by the process that made the file', async (t) => {
  const { store } = await World.in(t).store()
  await publish(store, 1)
  const path = store.keyPlaces.anchor
  const flipped = readFileSync(path)
  flipped[7] = (flipped[7] ?? 0) ^ 1
  writeFileSync(path, flipped)
  await publish(store, 2)
  t.strictSame(readFileSync(path), flipped)
  t.equal(store.anchor().status, 'forked')
})

const site = { dir: '/tmp/state', configDir: '/tmp/config' }

/** Marks again and again; `acknowledged` are those that it was told of. */
const markAll = async (disk: MemFiles, to: Plan, count: number): Promise<number> => {
  const store = openStore({ ...site, mode: 'write', files: faulty(disk, to), lock: memoryLock() })
  let acknowledged = 0
  try {
    for (let n = 1; n <= count; n += 1) {
      await publish(store, n)
      acknowledged = store.anchor().mark?.number ?? -1
    }
    store.close()
  } catch (error) {
    if (!to.stopped) throw error
  }
  return acknowledged
}

const found = (disk: MemFiles): string | null => {
  const store = openStore({ ...site, mode: 'read', files: disk, lock: memoryLock() })
  const { status, mark } = store.anchor()
  const last = (store as FileStore).generation.marks.at(-1)?.number ?? -1
  store.close()
  return status === 'ok' && mark !== null && mark.number <= last ? String(mark.number) : status
}

const modes = (seeds: number): readonly (readonly [CrashMode, number])[] => [
  ['kept', 0], ['dropped', 0],
  ...Array.from({ length: seeds }, (_, at) => ['garbled', at + 1] as const),
]

t.test('durability 2 and 5: where the power goes at any step of marking, the anchor agrees and holds every mark that was acknowledged, also after an heir', async (t) => {
  const seeds = rounds('garbled disks', { short: 2, all: 12 })
  const fresh = (): MemFiles => {
    const disk = new MemFiles()
    createStore({ ...site, files: disk, lock: memoryLock(), profile: {} }).close()
    return disk
  }
  const counted = plan()
  t.equal(await markAll(fresh(), counted, 4), 4)
  const broken: string[] = []
  let looks = 0
  const look = (disk: MemFiles, acknowledged: number, how: string, mayTear: boolean): void => {
    looks += 1
    let number: string | null
    try {
      number = found(disk)
    } catch (error) {
      // A garbled last record is damage of the log.
      if (mayTear) return
      throw error
    }
    if (Number(number) >= acknowledged) return
    if (number === 'behind' && mayTear) return
    broken.push(`${how}: ${number} of ${acknowledged}`)
  }
  for (let at = 1; at <= counted.calls; at += 1) {
    const disk = fresh()
    const acknowledged = await markAll(disk, plan(at, 'stop'), 4)
    for (const [mode, seed] of modes(seeds)) {
      look(disk.crash(mode, 100 * seed + at), acknowledged, `${at} ${mode} ${seed}`,
        mode === 'garbled')
    }
    // An heir finds in memory what the dead process had not synced, and goes on.
    const heirs = plan()
    await markAll(disk.clone(), heirs, 2)
    for (let then = 1; then <= heirs.calls; then += 1) {
      const left = fresh()
      const first = await markAll(left, plan(at, 'stop'), 4)
      const second = await markAll(left, plan(then, 'stop'), 2)
      for (const [mode, seed] of modes(1)) {
        look(left.crash(mode, 100 * seed + at + then), Math.max(first, second),
          `${at} then ${then} ${mode} ${seed}`, mode === 'garbled')
      }
    }
  }
  t.strictSame(broken, [])
  t.ok(looks > 500, `${looks} looks`)
})

t.test('durability 5: a process that marks is killed at any time, and no mark that it told of is forgotten', async (t) => {
  const { told, broken } = await killMarks(t, rounds('killed processes', { short: 4, all: 12 }))
  t.strictSame(broken, [])
  t.ok(told >= 4)
})
