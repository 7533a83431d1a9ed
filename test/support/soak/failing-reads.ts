/**
 * A disk on which looking fails: one errno at each open, read, stat and list of a check, a repair,
 * a restore and a backup, of a state that is whole, one that is torn, and ones of which a repair
 * finds something lost. Whoever cannot read says so: nothing that a second look finds may be told
 * as damage, counted as lost, or left out of a copy.
 */
import assert from 'node:assert/strict'
import { SallyportError } from '../../../src/base/errors.js'
import { backupState } from '../../../src/state/care/backup.js'
import { checkState } from '../../../src/state/care/check.js'
import { repairState } from '../../../src/state/care/repair.js'
import { restoreState } from '../../../src/state/care/restore.js'
import type { Files } from '../../../src/state/files.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import { site, stateOf } from '../state/crash-script.js'
import { faulty, memoryLock, plan, readingCalls } from '../state/faults.js'
import type { Fault, Plan } from '../state/faults.js'
import { MemFiles } from '../state/mem-files.js'
import { publish, put, specs } from '../state/notes.js'

const place = (files: Files) => ({ ...site, files, lock: memoryLock(), specs })

/** Two generations, marks, an artifact, and a backup of it all beside it. */
const lived = async (): Promise<MemFiles> => {
  const disk = new MemFiles()
  const store = createStore({ ...place(disk), profile: {} }) as FileStore
  for (const [n, id] of ['a', 'b', 'c'].entries()) {
    await put(store, id, n)
    await publish(store, n + 1)
    await store.exclusive('fold', () => store.checkpoint())
  }
  store.artifacts.write('x', Buffer.from('y'))
  await put(store, 'd', 4)
  await publish(store, 4)
  await backupState(store, '/tmp/backup')
  await put(store, 'e', 5)
  store.close()
  return disk.clone()
}

type Hurt = (disk: MemFiles) => void

const zeroed = (path: string, from: number, length: number): Hurt => (disk) => {
  const bytes = Buffer.from(disk.contentOf(path))
  bytes.fill(0, from, from + length)
  disk.overwrite(path, bytes)
}

const log = (epoch: number): string => `/tmp/state/wal/${String(epoch).padStart(12, '0')}.log`

const states: Readonly<Record<string, Hurt>> = {
  whole: () => undefined,
  torn: (disk) => disk.overwrite(log(4), disk.contentOf(log(4)).subarray(0, -5)),
  'untrue record': zeroed(log(4), 700, 60),
  'untrue manifest': zeroed('/tmp/state/collections/manifest.000000000004.json', 90, 40),
  'untrue block': zeroed('/tmp/state/collections/000000000004.1.seg', 2, 8),
}

/** What work answers, as text: the same whenever it is asked again. */
type Work = (files: Files) => Promise<string>

const told = (report: { readonly problems: readonly unknown[] }): string => JSON.stringify(report)

/** What a repair says that it lost, and where it ends. */
const repaired: Work = async (files) => {
  const { loss, sequence } = await repairState(place(files))
  return JSON.stringify({ loss, sequence })
}

const works: Readonly<Record<string, Work>> = {
  check: async (files) => told(checkState(place(files))),
  repair: repaired,
  restore: async (files) => {
    const { sequence } = await restoreState({ ...place(files), backup: '/tmp/backup' })
    return JSON.stringify({ sequence })
  },
  backup: async (files) => {
    const store = openStore({ ...place(files), mode: 'write' }) as FileStore
    try {
      const { sequence, files: count, loss } = await backupState(store, '/tmp/other')
      return JSON.stringify({ sequence, count, loss })
    } finally {
      store.close()
    }
  },
}

const errnos: readonly Fault[] = ['EIO', 'EMFILE', 'EACCES', 'ENOMEM']

/** The answer, or the refusal by its kind and code. */
const outcome = async (work: Work, files: Files): Promise<string> => {
  try {
    return await work(files)
  } catch (error) {
    return error instanceof SallyportError
      ? `${error.kind} ${error.code}` : `thrown ${String(error)}`
  }
}

/** What a sound process finds afterwards: every document, once a repair has run. */
const afterwards = async (disk: MemFiles): Promise<string> => {
  await repaired(disk)
  const store = openStore({ ...place(disk), mode: 'read' }) as FileStore
  try {
    return stateOf(store)
  } finally {
    store.close()
  }
}

/** What a fault led to: the answer as without it, a refusal by the disk's word, or another. */
const judged = (answer: string, sound: string): 'same' | 'told' | undefined => {
  if (answer === sound) return 'same'
  return ['failed io_failed', 'failed not_permitted'].includes(answer) ? 'told' : undefined
}

/** Injects each errno at each look; `rounds` bounds how many are tried of each work and state. */
export const run = async (rounds: number): Promise<void> => {
  const base = await lived()
  const tally = { tried: 0, same: 0, told: 0 }
  const broken: string[] = []
  for (const [state, hurt] of Object.entries(states)) {
    for (const [name, work] of Object.entries(works)) {
      const fresh = (): MemFiles => {
        const disk = base.clone()
        hurt(disk)
        return disk
      }
      const counted = plan(undefined, undefined, readingCalls)
      const [first, disk] = [fresh(), fresh()]
      const sound = await outcome(work, faulty(first, counted))
      const lasting = name === 'restore' ? '' : await afterwards(disk)
      const step = Math.max(1, Math.ceil((counted.calls * errnos.length) / rounds))
      for (let n = 0; n < counted.calls * errnos.length; n += step) {
        const at = 1 + Math.floor(n / errnos.length)
        const errno = errnos[n % errnos.length]
        const where = `${name} of ${state}, ${errno} at ${counted.seen[at - 1]}`
        const to: Plan = plan(at, errno, readingCalls)
        const hit = fresh()
        const answer = await outcome(work, faulty(hit, to))
        const how = judged(answer, sound)
        tally.tried += 1
        if (how === undefined) broken.push(`${where}: ${answer.slice(0, 300)}, not ${sound}`)
        else tally[how] += 1
        if (how !== undefined && lasting !== '' && await afterwards(hit) !== lasting) {
          broken.push(`${where}: another state afterwards`)
        }
      }
    }
  }
  process.stdout.write(`failing reads: ${tally.tried} tried, ${tally.told} told, `
    + `${tally.same} answered all the same, ${broken.length} violations\n`)
  assert.deepEqual(broken.slice(0, 10), [])
}
