/**
 * Rows altered behind the program's back, at rest or between two steps of an ask. Each case begins
 * with the same set-up deployment, put back from a copy; whatever was altered, nothing is sent.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { alphaArtifactLabels } from '../../../src/alpha/constants.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import { openStore } from '../../../src/state/store.js'
import type { CollectionSpec, Store, Tx } from '../../../src/state/types.js'
import type { Ran } from '../../world/place.js'
import type { AlphaWorld } from '../../world/world.js'
import { newestTask } from '../board.js'

/** What somebody does to the rows; `task` is the ask's own, where there is one yet. */
export type Alter = (tx: Tx, task: Task) => void

/** A deployment that is put back before each case. */
export interface TamperBench {
  readonly rig: AlphaWorld
  /** Puts everything back as it was when the bench was made, and forgets the requests. */
  reset(): void
  /** Copies state and keys aside under a name, or puts such a copy back. */
  keep(name: string): void
  putBack(name: string, what?: readonly ('state' | 'config')[]): void
  /** Opens the store for one piece of work. */
  withStore<T>(work: (store: Store) => T | Promise<T>): Promise<T>
  forge(change: (tx: Tx) => void): Promise<void>
  /** The one task; throws where there is none. */
  task(): Promise<Task>
  /** Asks, and alters rows once when the step is announced. */
  askWith(t: Test, step: string, alter: Alter): Promise<Ran>
  /** Asserts that the provider saw no request at all, of either kind. */
  sentNothing(t: Test): void
}

/** Changes one document in place; it must be there. */
export const change = <T extends object>(
  spec: CollectionSpec<T>, id: (task: Task) => string, with_: Partial<T> | ((doc: T) => Partial<T>),
): Alter => (tx, task) => {
  const doc = tx.get(spec, id(task))
  if (!doc) throw new Error(`nothing to alter in ${spec.name}`)
  tx.put(spec, id(task), { ...doc, ...(typeof with_ === 'function' ? with_(doc) : with_) })
}

/** Removes one document. */
export const remove = <T>(spec: CollectionSpec<T>, id: (task: Task) => string): Alter =>
  (tx, task) => tx.remove(spec, id(task))

/** The stage of tampering. */
export const tampering = async (rig: AlphaWorld): Promise<{ bench: TamperBench }> => {
  const { place, sandbox } = rig
  const parts = { state: place.stateDir, config: place.configDir }
  const kept = (name: string, part: 'state' | 'config'): string =>
    join(place.dir, 'kept', name, part)
  const bench: TamperBench = {
    rig,
    keep: (name) => {
      for (const part of ['state', 'config'] as const) {
        cpSync(parts[part], kept(name, part), { recursive: true })
      }
    },
    putBack: (name, what = ['state', 'config']) => {
      for (const part of what) {
        rmSync(parts[part], { recursive: true, force: true })
        cpSync(kept(name, part), parts[part], { recursive: true })
      }
    },
    reset: () => {
      bench.putBack('beginning')
      sandbox.faults.clear()
      sandbox.log.clear()
    },
    withStore: async (work) => {
      const store = openStore({ dir: parts.state, configDir: parts.config, mode: 'write' })
      try {
        return await work(store)
      } finally {
        store.close()
      }
    },
    forge: (alter) => bench.withStore((store) => store.transact('forged', alter)),
    task: () => bench.withStore((store) => newestTask({ view: () => store.read() })),
    askWith: async (t, step, alter) => {
      let done = false
      const ran = await rig.ask({
        at: async (at) => {
          if (done || at !== step) return
          done = true
          const task = await bench.task()
          await bench.forge((tx) => alter(tx, task))
        },
      })
      t.ok(done, `altered at ${step}`)
      return ran
    },
    sentNothing: (t) => {
      t.equal(rig.inferences().length, 0, 'no inference request')
      t.equal(sandbox.log.count(), 0, 'no request of any kind')
    },
  }
  bench.keep('beginning')
  return { bench }
}

/** Asserts that no answer came out and none is kept. */
export const releasedNothing = async (t: Test, bench: TamperBench, ran: Ran): Promise<void> => {
  t.not(ran.status, 0, 'the ask does not succeed')
  t.equal(ran.stdout, '', 'nothing on stdout')
  await bench.withStore((store) => {
    const rows = store.read().all(collections.artifacts)
    t.strictSame(rows.filter(({ doc }) => doc.label === alphaArtifactLabels.answer), [])
    t.ok(store.artifacts.list().length <= 2, 'no file but the key and the input')
  })
}
