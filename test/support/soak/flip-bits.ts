/**
 * Flips bits of every byte of each kind of file of a state: newest log, manifest, snapshot,
 * anchor, witness, STATE. What is damaged is told, nothing is read that was never written, and a
 * repair brings all of it back or says what it lost.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../src/base/errors.js'
import { checkState } from '../../../src/state/care/check.js'
import { repairState } from '../../../src/state/care/repair.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { memoryLock } from '../state/faults.js'
import { newestLog } from '../state/forge.js'
import { MemFiles } from '../state/mem-files.js'
import { items, notes, put, specs } from '../state/notes.js'

/** What a run of flips found. */
export interface FlipReport {
  readonly flips: Readonly<Record<string, number>>
  /** How the flips of each kind of file ended. */
  readonly ends: Readonly<Record<string, number>>
  readonly broken: readonly string[]
}

const place = { dir: '/tmp/state', configDir: '/tmp/config' }

/** A store of two generations with marks, and its disk. */
const livedIn = async (): Promise<{ readonly disk: MemFiles; readonly paths: Paths }> => {
  const disk = new MemFiles()
  const lock = memoryLock()
  const store = createStore({ ...place, files: disk, lock, profile: {} }) as FileStore
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
type Paths = Readonly<Record<'log' | 'manifest' | 'snapshot' | 'STATE' | 'anchor', string>>

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
    const sound = this.#sound
    const bytes = Buffer.from(disk.contentOf(path))
    bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
    disk.overwrite(path, bytes)
    const name = `${kind} ${at}.${bit}`
    const read = readOf(disk)
    if (read === sound) this.broken.push(`${name}: nobody notices it`)
    if (/^\[/.test(read) && kind !== 'anchor') this.broken.push(`${name}: reads as ${read}`)
    const options = { ...place, files: disk, lock: memoryLock(), specs }
    if (checkState(options).ok) this.broken.push(`${name}: check calls it sound`)
    const onLoss = (store: { transact: FileStore['transact'] }): Promise<void> =>
      store.transact('loss', (tx) => tx.mark({ policyRevision: 9 }))
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

/** Flips `bits` bits of every byte of each kind of file, or of one byte in `stride`. */
export const flipBits = async (t: Teardown, bits: number, stride = 1): Promise<FlipReport> => {
  const { disk, paths } = await livedIn()
  const flipper = new Flipper(disk)
  for (const [kind, path] of Object.entries(paths)) {
    const { length } = disk.contentOf(path)
    for (let at = 0; at < length; at += stride) {
      for (let bit = 0; bit < bits; bit += 1) {
        await flipper.flip(kind, path, at, (at + bit) % 8)
      }
    }
  }
  await flipper.witness(t, bits, stride)
  const { flips, ends, broken } = flipper
  return { flips, ends, broken }
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
