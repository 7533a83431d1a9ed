/**
 * Creation, transactions and folds as a script that is ended at any step, and what the disk must
 * then hold: unsynced writes kept, dropped, or garbled by seed.
 */
import { systemClock } from '../../../src/base/clock.js'
import { SallyportError } from '../../../src/base/errors.js'
import { checkState } from '../../../src/state/care/check.js'
import { repairState } from '../../../src/state/care/repair.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'
import { faulty, memoryLock } from './faults.js'
import type { Plan } from './faults.js'
import type { MemFiles } from './mem-files.js'
import { items, notes, specs } from './notes.js'

/**
 * Where the state and its key lie on the disk in memory. Its clock stands: what two processes write
 * within a millisecond, or after a clock went back, must not want the same name.
 */
export const site = {
  dir: '/tmp/state', configDir: '/tmp/config',
  clock: { ...systemClock, wallMs: () => Date.UTC(2026, 0, 1) },
}

/** What the documents were after each acknowledged or attempted step. */
export interface History {
  readonly states: string[]
  /** How many steps were acknowledged. */
  acknowledged: number
  created: boolean
}

/** Every document, as text. */
export const stateOf = (store: FileStore): string => {
  const view = store.read()
  return JSON.stringify([view.all(notes), view.all(items)])
}

/** Puts, a removal, marks with a witness line, an artifact, two folds. */
export const script = async (disk: MemFiles, to: Plan): Promise<History> => {
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
    if (!to.stopped && to.fault === 'stop') throw error
  }
  return history
}

/** What a policy above would publish after a loss. */
export const onLoss = (store: Store): Promise<void> => store.transact('loss', (tx) => tx.mark())

/** What is wrong with a disk, and whether writes were refused on the way. */
export interface Verdict {
  readonly problem: string | null
  readonly refused: boolean
}

const fine = (refused: boolean): Verdict => ({ problem: null, refused })
const wrong = (problem: string): Verdict => ({ problem, refused: false })

const allowedStates = ({ states, acknowledged }: History): string[] =>
  states.slice(acknowledged, acknowledged + 2)

/** Reopens a disk after a crash and says what is wrong with it. */
export const judge = async (
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
