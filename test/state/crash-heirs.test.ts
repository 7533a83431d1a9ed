/**
 * One process dies, or a sync of it fails, at every step there is; another one finds what it left,
 * answers, and then the power is cut. What the second one answered must be there afterwards.
 */
import t from 'tap'
import { SallyportError } from '../../src/base/errors.js'
import { createStore, openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import { script, site, stateOf } from '../support/state/crash-script.js'
import { faulty, memoryLock, plan, type Plan } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import type { CrashMode } from '../support/state/mem-files.js'
import { notes } from '../support/state/notes.js'
import { slice } from '../support/slice.js'

/** What the second process does before it answers. */
const acts = {
  nothing: (store: FileStore) => store.transact('look', (tx) => void tx.get(notes, 'n1')),
  puts: (store: FileStore) =>
    store.transact('put', (tx) => tx.put(notes, 'heir', { n: 1, text: '' })),
  marks: (store: FileStore) => store.transact('mark', (tx) => tx.mark({ policyRevision: 9 })),
  begins: (store: FileStore) => store.exclusive('begin', () => store.rotate()),
  folds: (store: FileStore) => store.exclusive('fold', () => store.checkpoint()),
} as const
type Act = keyof typeof acts

const opened = (disk: MemFiles): FileStore => {
  const options = { ...site, files: disk, lock: memoryLock() }
  const store = disk.stat(site.dir) === undefined
    ? createStore({ ...options, profile: {} }) : openStore({ ...options, mode: 'write' })
  return store as FileStore
}

/** What the second process answered; null where it refused. */
const answered = async (disk: MemFiles, act: Act): Promise<string | null> => {
  try {
    const store = opened(disk)
    await acts[act](store)
    const state = stateOf(store)
    store.close()
    return state
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return null
  }
}

/** What a third process finds after the power cut. */
const found = (disk: MemFiles): string => {
  if (disk.stat(site.dir) === undefined) return 'nothing'
  try {
    const store = openStore({ ...site, files: disk, lock: memoryLock(), mode: 'read' }) as FileStore
    const { damage } = store.health()
    return damage?.code ?? (store.anchor().status === 'ok' ? stateOf(store) : 'anchor')
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return error.code
  }
}

const cuts: readonly (readonly [CrashMode, number])[] = [
  ['dropped', 0], ['kept', 0], ['garbled', 1],
]

/** What was lost, and how many of those that were asked answered. */
interface Answers {
  readonly lost: string[]
  readonly answers: number
  readonly asked: number
}

const lostAnswers = async (
  fault: 'stop' | 'lost', steps: readonly number[], seen: readonly string[],
): Promise<Answers> => {
  const lost: string[] = []
  let answers = 0
  const asked = slice(`heirs after ${fault}`, steps.flatMap((at) =>
    (Object.keys(acts) as Act[]).map((act) => ({ at, act }))), {
    axesOf: ({ at, act }) => [String(at), act],
  })
  for (const { at, act } of asked) {
    const disk = new MemFiles()
    await script(disk, plan(at, fault))
    const answer = await answered(disk, act)
    if (answer === null) continue
    answers += 1
    for (const [mode, seed] of cuts) {
      const after = found(disk.crash(mode, seed * 1000 + at))
      if (after !== answer) lost.push(`${seen[at - 1]}, ${act}, ${mode}: ${after.slice(0, 40)}`)
    }
  }
  return { lost, answers, asked: asked.length }
}

t.test('durability 2 and 10: what a second process answers after the first one died outlasts a power cut', async (t) => {
  const counted = plan()
  await script(new MemFiles(), counted)
  const steps = counted.seen.map((_, i) => i + 1)
  const { lost, answers, asked } = await lostAnswers('stop', steps, counted.seen)
  t.strictSame(lost, [])
  t.ok(answers > 0.6 * asked, `${answers} of ${asked} answered, at ${steps.length} steps`)
})

t.test('durability 2: what a second process answers after a sync of the first one failed is written anew', async (t) => {
  const counted = plan()
  await script(new MemFiles(), counted)
  const steps = counted.seen.flatMap((call, i) => (call.startsWith('sync ') ? [i + 1] : []))
  const { lost, answers, asked } = await lostAnswers('lost', steps, counted.seen)
  t.strictSame(lost, [])
  t.ok(answers > 0.6 * asked, `${answers} of ${asked} answered, at ${steps.length} failed syncs`)
})

/** Bytes of the anchor; empty where there is none. */
const anchorOf = (disk: MemFiles): Buffer => {
  const keys = `${site.configDir}/keys`
  const names = disk.stat(keys) === undefined ? [] : disk.list(keys)
  const name = names.find((one) => one.endsWith('.anchor'))
  return name === undefined ? Buffer.alloc(0) : disk.contentOf(`${keys}/${name}`)
}

/** Opens it and begins a transaction that comes to nothing. */
const tried = async (disk: MemFiles): Promise<void> => {
  const nothing = new Error('it comes to nothing')
  try {
    await opened(disk).transact('nothing', () => {
      throw nothing
    })
  } catch (error) {
    if (error !== nothing && !(error instanceof SallyportError)) throw error
  }
}

t.test('durability 2: an anchor that a second process moves to the mark of a dead one is not ahead of what outlasts a power cut, though its own transaction comes to nothing', async (t) => {
  const counted = plan()
  await script(new MemFiles(), counted)
  const ahead: string[] = []
  let moved = 0
  for (const [i, call] of counted.seen.entries()) {
    for (const fault of ['stop', 'lost'] as const) {
      const disk = new MemFiles()
      await script(disk, plan(i + 1, fault))
      const before = anchorOf(disk)
      if (before.length === 0) continue
      await tried(disk)
      if (anchorOf(disk).equals(before)) continue
      moved += 1
      const after = found(disk.crash('dropped', i + 1))
      if (after === 'anchor') ahead.push(`${call}, ${fault}`)
    }
  }
  t.strictSame(ahead, [])
  t.ok(moved > 0, `moved ${moved} times`)
})

/** Begins a log and writes into it, on a disk that may fail; what fails ends the process. */
const begun = async (disk: MemFiles, to: Plan): Promise<void> => {
  const store = openStore({ ...site, files: faulty(disk, to), lock: memoryLock(), mode: 'write' })
  try {
    await acts.begins(store as FileStore)
    await store.transact('put', (tx) => tx.put(notes, 'other', { n: 2, text: '' }))
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
  }
}

t.test('durability 2: a process that has made one log durable writes anew all that another one left of the next', async (t) => {
  const living = async (): Promise<{ disk: MemFiles, store: FileStore }> => {
    const disk = new MemFiles()
    const store = opened(disk)
    for (let n = 0; n < 9; n += 1) await acts.puts(store)
    return { disk, store }
  }
  const counted = plan()
  await begun((await living()).disk, counted)
  const lost: string[] = []
  let answers = 0
  for (const [i, call] of counted.seen.entries()) {
    if (!call.startsWith('sync ')) continue
    const { disk, store } = await living()
    await begun(disk, plan(i + 1, 'lost'))
    await acts.puts(store)
    const answer = stateOf(store)
    answers += 1
    const after = found(disk.crash('dropped', i))
    if (after !== answer) lost.push(`${call}: ${after.slice(0, 60)}`)
  }
  t.strictSame(lost, [])
  t.ok(answers > 2, `${answers} failed syncs`)
})
