/**
 * Every step of creation, transactions and folds is ended at that step, and the disk is then read
 * as a reboot would find it: unsynced writes kept, dropped, or garbled by seed.
 */
import t from 'tap'
import { SallyportError } from '../../src/base/errors.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import { createStore, openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'
import { faulty, memoryLock, plan } from '../support/state/faults.js'
import type { Plan } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import type { CrashMode } from '../support/state/mem-files.js'
import { items, notes, specs } from '../support/state/notes.js'

const site = { dir: '/tmp/state', configDir: '/tmp/config' }

/** What the documents were after each acknowledged or attempted step. */
interface History {
  readonly states: string[]
  /** How many steps were acknowledged. */
  acknowledged: number
  created: boolean
}

const stateOf = (store: FileStore): string => {
  const view = store.read()
  return JSON.stringify([view.all(notes), view.all(items)])
}

/** Puts, a removal, marks with a witness line, an artifact, two folds. */
const script = async (disk: MemFiles, to: Plan): Promise<History> => {
  const history: History = { states: [], acknowledged: 0, created: false }
  const files = faulty(disk, to)
  let model: Record<string, Record<string, { n: number; text: string }>> = { notes: {}, items: {} }
  const sorted = (name: string): object[] =>
    Object.entries(model[name] ?? {}).sort().map(([id, doc]) => ({ id, doc }))
  const remember = (): void => {
    history.states.push(JSON.stringify([sorted('notes'), sorted('items')]))
  }
  try {
    const store = createStore({ ...site, files, lock: memoryLock(), profile: {} }) as FileStore
    remember()
    history.created = true
    const step = async (n: number, marked: boolean): Promise<void> => {
      const doc = { n, text: 'x'.repeat(n % 3) }
      model = {
        notes: { ...model['notes'], [`n${n % 3}`]: doc },
        items: n === 5 ? {} : { ...model['items'], [`i${n}`]: doc },
      }
      remember()
      await store.transact('step', (tx) => {
        tx.put(notes, `n${n % 3}`, doc)
        if (n === 5) for (const { id } of tx.all(items)) tx.remove(items, id)
        else tx.put(items, `i${n}`, doc)
        if (!marked) return
        tx.mark({ policyRevision: n })
        tx.afterSync(() => store.witness.append(`line ${n}`))
      })
      history.acknowledged = history.states.length - 1
    }
    await step(1, false)
    await step(2, true)
    store.artifacts.write('x', Buffer.from('y'))
    await store.exclusive('fold', () => store.checkpoint())
    await step(3, true)
    await step(4, false)
    await step(5, false)
    await store.exclusive('fold', () => store.checkpoint())
    await step(6, true)
    await store.exclusive('fold', () => store.checkpoint())
    await step(7, false)
    store.close()
  } catch (error) {
    if (!to.stopped) throw error
  }
  return history
}

const onLoss = (store: Store): Promise<void> => store.transact('loss', (tx) => tx.mark())

interface Verdict {
  readonly problem: string | null
  readonly refused: boolean
}

const fine = (refused: boolean): Verdict => ({ problem: null, refused })
const wrong = (problem: string): Verdict => ({ problem, refused: false })

const allowedStates = ({ states, acknowledged }: History): string[] =>
  states.slice(acknowledged, acknowledged + 2)

/** Reopens a disk after a crash and says what is wrong with it. */
const judge = async (
  disk: MemFiles, history: History, mayRefuse: boolean,
): Promise<Verdict> => {
  const options = { ...site, files: disk, lock: memoryLock() }
  if (disk.stat(site.dir) === undefined) {
    return history.created ? wrong('the directory is gone') : fine(false)
  }
  const allowed = history.created ? allowedStates(history) : [JSON.stringify([[], []])]
  let store: FileStore
  try {
    store = openStore({ ...options, mode: 'write' }) as FileStore
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return wrong(`it does not open: ${error.code}`)
  }
  let refused = false
  if (!allowed.includes(stateOf(store))) return wrong('neither before nor after')
  if (store.health().damage !== null) {
    if (!mayRefuse) return wrong(`refused: ${store.health().damage?.code}`)
    refused = true
    await repairState({ ...options, onLoss })
    if (!allowed.includes(stateOf(store))) return wrong('a repair lost something')
  }
  if (store.anchor().status === 'behind' && mayRefuse) await repairState({ ...options, onLoss })
  if (store.anchor().status !== 'ok') return wrong(`anchor ${store.anchor().status}`)
  await store.transact('after', (tx) => {
    tx.put(notes, 'after', { n: 99, text: '' })
    tx.mark({ policyRevision: 100 })
  })
  store.close()
  const reader = openStore({ ...options, mode: 'read' })
  if (reader.read().get(notes, 'after')?.n !== 99) return wrong('the next write is lost')
  reader.close()
  const report = checkState({ ...options, specs })
  const bad = report.problems.filter(({ severity }) => severity === 'damage')
  return bad.length > 0 ? wrong(`check: ${bad.map(({ code }) => code).join()}`) : fine(refused)
}

const modes: readonly (readonly [CrashMode, number])[] = [
  ['kept', 0], ['dropped', 0], ['garbled', 1], ['garbled', 2], ['garbled', 3], ['garbled', 4],
]

t.test('durability 2, 4, 5 and 10: a crash at any step leaves before, after or a clear refusal', async (t) => {
  const counted = plan()
  const whole = await script(new MemFiles(), counted)
  t.equal(whole.acknowledged, 7)
  const problems: string[] = []
  let refusals = 0
  for (let at = 1; at <= counted.calls; at += 1) {
    for (const [mode, seed] of modes) {
      const disk = new MemFiles()
      const history = await script(disk, plan(at, 'stop'))
      const after = disk.crash(mode, seed * 1000 + at)
      const { problem, refused } = await judge(after, history, mode === 'garbled')
      if (problem !== null) problems.push(`${counted.seen[at - 1]} ${mode} ${seed}: ${problem}`)
      if (refused) refusals += 1
    }
  }
  t.strictSame(problems, [])
  t.ok(counted.calls > 100, `${counted.calls} steps, ${refusals} refusals after garbling`)
  t.ok(refusals > 0, 'some garbled last records were refused')
})

t.test('durability 10: a crash during a repair is no worse than the crash before it', async (t) => {
  const counted = plan()
  await script(new MemFiles(), counted)
  const logWrites = counted.seen.flatMap((call, i) =>
    /^write .*\/wal\/\d+\.log$/.test(call) ? [i + 1] : [])
  const at = (logWrites[3] ?? 0) + 1
  const problems: string[] = []
  let steps = 0
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const first = new MemFiles()
    const history = await script(first, plan(at, 'stop'))
    const broken = first.crash('garbled', seed)
    const repair = async (disk: MemFiles, to: Plan): Promise<void> => {
      const files = faulty(disk, to)
      await repairState({ ...site, files, lock: memoryLock(), onLoss }).catch((error) => {
        if (!to.stopped) throw error
      })
    }
    const whole = plan()
    await repair(broken.clone(), whole)
    for (let stop = 1; stop <= whole.calls; stop += 1) {
      const disk = broken.clone()
      await repair(disk, plan(stop, 'stop'))
      for (const mode of ['kept', 'dropped', 'garbled'] as const) {
        const { problem } = await judge(disk.crash(mode, seed + stop), history, true)
        if (problem !== null) problems.push(`${seed}, ${whole.seen[stop - 1]} ${mode}: ${problem}`)
      }
      steps += 1
    }
  }
  t.strictSame(problems, [])
  t.ok(steps > 0, `${steps} steps of repairs`)
})
