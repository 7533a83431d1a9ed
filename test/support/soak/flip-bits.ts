/**
 * Flips bits of every byte of each kind of file of a state: newest log, manifest, snapshot,
 * anchor, witness, STATE; and of one that is new, restored, repaired or of another format, whose
 * founding manifest is the only one. What is damaged is told, nothing is read that was never
 * written, and a repair brings all of it back or says what it lost.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../src/base/errors.js'
import { backupState } from '../../../src/state/care/backup.js'
import { checkState } from '../../../src/state/care/check.js'
import { compactState } from '../../../src/state/care/compact.js'
import { repairState } from '../../../src/state/care/repair.js'
import { restoreState } from '../../../src/state/care/restore.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { memoryLock } from '../state/faults.js'
import { newestLog } from '../state/forge.js'
import { MemFiles } from '../state/mem-files.js'
import { items, notes, put, specs } from '../state/notes.js'
import { storedDisk } from '../state/stored.js'

/** What a run of flips found. */
export interface FlipReport {
  readonly flips: Readonly<Record<string, number>>
  /** How the flips of each kind of file ended. */
  readonly ends: Readonly<Record<string, number>>
  readonly broken: readonly string[]
}

const place = { dir: '/tmp/state', configDir: '/tmp/config' }

/** A disk with a state, and what of it may be hurt. */
interface Life {
  readonly disk: MemFiles
  readonly paths: Paths
}

const made = (): { readonly disk: MemFiles; readonly store: FileStore } => {
  const disk = new MemFiles()
  const store = createStore({ ...place, files: disk, lock: memoryLock(), profile: {} }) as FileStore
  return { disk, store }
}

/** A store of two generations with marks. */
const livedIn = async (): Promise<Life> => {
  const { disk, store } = made()
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'b', 2)
  await store.transact('fill', (tx) => {
    for (const id of ['i', 'j']) tx.put(items, id, { n: 7, text: 'x' })
    tx.mark({ policyRevision: 1 })
  })
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'c', 3)
  await store.transact('publish', (tx) => tx.mark({ policyRevision: 2 }))
  store.close()
  const paths = {
    log: newestLog(place.dir, disk), manifest: store.places.manifest(3),
    snapshot: store.places.segment('000000000003.1.seg'), STATE: store.places.state,
    anchor: store.keyPlaces.anchor,
  }
  return { disk, paths }
}
type Paths = Readonly<Record<string, string>>

const onLoss = (store: Store): Promise<void> =>
  store.transact('loss', (tx) => tx.mark({ policyRevision: 9 }))

/** Records behind a founding, and the founding's own files. */
const foundedLife = async (disk: MemFiles): Promise<Life> => {
  const open = { ...place, files: disk, lock: memoryLock() } as const
  const store = openStore({ ...open, mode: 'write' }) as FileStore
  await put(store, 'later', 4)
  await store.transact('publish', (tx) => {
    tx.put(items, 'k', { n: 8, text: 'y' })
    tx.mark({ policyRevision: 10 })
  })
  store.close()
  const { places } = store
  const { number, epoch } = store.generation.manifest
  const copy = places.founding(epoch + 1)
  const paths = {
    log: newestLog(place.dir, disk), manifest: places.manifest(number), STATE: places.state,
    ...(disk.stat(copy) === undefined ? {} : { copy }),
  }
  return { disk: disk.clone(), paths }
}

/** States whose documents hang on one founded manifest. */
const founded: Readonly<Record<string, () => Promise<MemFiles>>> = {
  new: async () => {
    const { disk, store } = made()
    await put(store, 'a', 1)
    store.close()
    return disk
  },
  restored: async () => {
    const { disk } = await livedIn()
    const open = { ...place, files: disk, lock: memoryLock() } as const
    const store = openStore({ ...open, mode: 'write' })
    await backupState(store, '/tmp/backup')
    await put(store, 'replaced', 5)
    store.close()
    await restoreState({ ...open, backup: '/tmp/backup', specs, afterRestore: onLoss })
    return disk
  },
  repaired: async () => {
    const { disk, paths: { log = '' } } = await livedIn()
    const bytes = Buffer.from(disk.contentOf(log))
    disk.overwrite(log, bytes.fill(0, bytes.length - 90))
    await repairState({ ...place, files: disk, lock: memoryLock(), specs, onLoss })
    return disk
  },
  changed: async () => {
    const disk = storedDisk('format-5-sound')
    await repairState({ ...place, files: disk, lock: memoryLock() })
    return disk
  },
}

const documentsOf = (files: MemFiles): string => {
  const store = openStore({ ...place, files, lock: memoryLock(), mode: 'read' })
  try {
    const view = store.read()
    // One that is absent is asked for too: a list passes the filter of a segment by.
    const documents = JSON.stringify(
      [view.all(notes), view.all(items), view.get(notes, 'absent') ?? null],
    )
    const { damage } = store.health()
    return damage === null ? `${documents} ${store.anchor().status}` : `damaged ${damage.code}`
  } finally {
    store.close()
  }
}

const readOf = (files: MemFiles): string => {
  try {
    return documentsOf(files)
  } catch (error) {
    if (error instanceof SallyportError) return `refused ${error.code}`
    throw error
  }
}

class Flipper {
  readonly flips: Record<string, number> = {}
  readonly ends: Record<string, number> = {}
  readonly broken: string[] = []
  readonly #sound: string

  constructor(readonly whole: MemFiles) {
    this.#sound = readOf(whole)
  }

  count(kind: string, end: string): void {
    this.flips[kind] = (this.flips[kind] ?? 0) + 1
    this.ends[`${kind}: ${end}`] = (this.ends[`${kind}: ${end}`] ?? 0) + 1
  }

  /** One flip of a disk in memory: read it, check it, repair it. */
  async flip(kind: string, path: string, at: number, bit: number) {
    const disk = this.whole.clone()
    const bytes = Buffer.from(disk.contentOf(path))
    bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
    disk.overwrite(path, bytes)
    await (kind.endsWith('copy')
      ? this.#judgeCopy(disk, `${kind} ${at}.${bit}`) : this.judge(disk, kind, `${at}.${bit}`))
  }

  /** What nothing reads while all is well: the check tells it, and `state compact` ends it. */
  async #judgeCopy(disk: MemFiles, name: string): Promise<void> {
    const open = { ...place, files: disk, lock: memoryLock() } as const
    const codes = checkState({ ...open, specs }).problems
      .filter(({ severity }) => severity !== 'notice').map(({ code }) => code)
    if (codes.join() !== 'spare_damaged') this.broken.push(`${name}: check says ${codes.join()}`)
    const store = openStore({ ...open, mode: 'write' })
    await compactState(store)
    store.close()
    this.count(name.split(' ').slice(0, 2).join(' '), 'replaced by a compaction')
    if (readOf(disk) !== this.#sound) this.broken.push(`${name}: not as it was`)
    if (!checkState({ ...open, specs }).ok) this.broken.push(`${name}: compaction does not end it`)
  }

  /** A disk that is hurt in one place: read it, check it, repair it. */
  async judge(disk: MemFiles, kind: string, where: string): Promise<void> {
    const sound = this.#sound
    const name = `${kind} ${where}`
    const read = readOf(disk)
    // The newest slot of an anchor is as one that was torn: the check alone tells.
    if (read === sound && kind !== 'anchor') this.broken.push(`${name}: nobody notices it`)
    if (/^\[/.test(read) && kind !== 'anchor') this.broken.push(`${name}: reads as ${read}`)
    const options = { ...place, files: disk, lock: memoryLock(), specs }
    const { ok, problems } = checkState(options)
    const isTold = problems.some(({ code }) => code === 'anchor_torn')
    if (ok && !(isTold && kind === 'anchor')) this.broken.push(`${name}: check calls it sound`)
    try {
      const { loss } = await repairState({ ...options, onLoss })
      const lost = loss.records_after !== null || loss.documents > 0
      this.count(kind, lost ? 'a loss that was told' : 'mended whole')
      if (lost) this.broken.push(`${name}: one flipped bit lost something`)
      if (kind !== 'anchor' && readOf(disk) !== sound) this.broken.push(`${name}: not repaired`)
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      this.count(kind, error.code)
      this.broken.push(`${name}: ${error.code}`)
    }
  }

  /** Every byte of the witness of a real deployment: only `check` tells. */
  async witness(t: Teardown, bits: number, stride: number): Promise<void> {
    const rig = await World.in(t).state().session()
    for (const words of [['policy', 'revoke'], ['policy', 'revoke']]) await rig.run(words)
    const path = join(rig.place.stateDir, 'witness.log')
    const whole = readFileSync(path)
    for (let at = 0; at < whole.length; at += stride) {
      for (let bit = 0; bit < bits; bit += 1) {
        const bytes = Buffer.from(whole)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (at + bit) % 8)
        writeFileSync(path, bytes)
        const ran = await rig.run(['state', 'check', '--json'])
        const codes = ran.json<{ problems: { code: string }[] }>().problems
          .map(({ code }) => code).filter((code) => code.startsWith('witness'))
        this.count('witness', codes.join() || 'unnoticed')
        if (codes.length === 0) this.broken.push(`witness ${at}.${bit}: nobody notices it`)
      }
    }
    writeFileSync(path, whole)
    if (readdirSync(rig.place.stateDir).length === 0) this.broken.push('the state is gone')
  }
}

const flipAll = async (
  flipper: Flipper, { disk, paths }: Life, prefix: string, bits: number, stride: number,
): Promise<void> => {
  for (const [kind, path] of Object.entries(paths)) {
    const { length } = disk.contentOf(path)
    for (let at = 0; at < length; at += stride) {
      for (let bit = 0; bit < bits; bit += 1) {
        await flipper.flip(`${prefix}${kind}`, path, at, (at + bit) % 8)
      }
    }
  }
}

/** The founding manifest, or STATE, is not there any more, or nothing but zeroes. */
const loseFiles = async (flipper: Flipper, { disk, paths }: Life, life: string): Promise<void> => {
  for (const kind of ['manifest', 'STATE'] as const) {
    const path = paths[kind] ?? ''
    const gone = disk.clone()
    gone.unlink(path)
    await flipper.judge(gone, `${life} ${kind}`, 'gone')
    const zeroed = disk.clone()
    zeroed.overwrite(path, Buffer.alloc(disk.contentOf(path).length))
    await flipper.judge(zeroed, `${life} ${kind}`, 'zeroed')
  }
}

/** Flips `bits` bits of every byte of each kind of file, or of one byte in `stride`. */
export const flipBits = async (t: Teardown, bits: number, stride = 1): Promise<FlipReport> => {
  const life = await livedIn()
  const flippers = [new Flipper(life.disk)]
  for (const first of flippers) {
    await flipAll(first, life, '', bits, stride)
    await first.witness(t, bits, stride)
  }
  for (const [name, make] of Object.entries(founded)) {
    const one = await foundedLife(await make())
    const flipper = new Flipper(one.disk)
    flippers.push(flipper)
    await flipAll(flipper, one, `${name} `, bits, stride)
    await loseFiles(flipper, one, name)
  }
  return {
    flips: Object.assign({}, ...flippers.map(({ flips }) => flips)) as FlipReport['flips'],
    ends: Object.assign({}, ...flippers.map(({ ends }) => ends)) as FlipReport['ends'],
    broken: flippers.flatMap(({ broken }) => broken),
  }
}

/** The long loop: up to 8 bits of each byte. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => void)[] = []
  try {
    const bits = Math.max(1, Math.min(8, rounds))
    const report = await flipBits({ teardown: (done) => void undo.push(done) }, bits)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (report.broken.length > 0) throw new Error(report.broken.join('\n'))
  } finally {
    for (const done of undo.reverse()) done()
  }
}
