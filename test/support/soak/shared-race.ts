/**
 * Machines that write at once, each a process with a replica of its own, over one server: every
 * commit that was answered is there once, and all replicas have one chain. Beside it as many
 * processes on one directory.
 */
import { join } from 'node:path'
import * as v from 'valibot'
import { createShared, joinShared } from '../../../src/state/place/share.js'
import type { PlacedStore } from '../../../src/state/place/placed-store.js'
import { createStore, openingAny, openStore } from '../../../src/state/store.js'
import type { CollectionSpec, Store } from '../../../src/state/types.js'
import { temporaryFolder, type Teardown } from '../../world/place.js'
import { startChild } from '../children.js'
import { startPostgres } from '../place/postgres.js'

/** What each commit adds to, and the row of its own that it leaves. */
export const sums: CollectionSpec<{ readonly sum: number }> = {
  name: 'sums', schema: v.strictObject({ sum: v.number() }), partition: 'hash256',
}
export const marks: CollectionSpec<{ readonly by: string; readonly sum: number }> = {
  name: 'marks', schema: v.strictObject({ by: v.string(), sum: v.number() }), partition: 'hash256',
}

/** Where a writer writes. */
export interface Folders {
  readonly dir: string
  readonly configDir: string
}

const profile = { schema: 'test.profile.v1', name: 'test' }

/** What a race showed. */
export interface Race {
  readonly commits: number
  /** Commits that were answered and are not there, and rows that are there twice or unasked. */
  readonly lost: number
  readonly doubled: number
  /** How many chains the replicas have: one. */
  readonly chains: number
  /** Commits a second, all writers together, from the first one's begin to the last one's end. */
  readonly rate: number
  /** Processor time of a commit, ms. */
  readonly processorMs: number
}

interface Told {
  readonly processorMs: number
}

/** Runs a writer in each of the folders, at once. */
const raced = async (
  t: Teardown, folders: readonly Folders[], commits: number,
): Promise<{ seconds: number; processorMs: number }> => {
  const writers = folders.map((at, index) =>
    startChild(t, 'racing', { ...at, name: `w${index}`, commits }))
  for (const writer of writers) await writer.line()
  const begun = performance.now()
  for (const writer of writers) writer.process.stdin?.write('\n')
  const told = await Promise.all(writers.map(async (writer) =>
    JSON.parse(await writer.line()) as Told))
  const seconds = (performance.now() - begun) / 1_000
  await Promise.all(writers.map((writer) => writer.ended()))
  return { seconds, processorMs: told.reduce((sum, one) => sum + one.processorMs, 0) }
}

const chainOf = (store: Store): string =>
  JSON.stringify(store.keptIn === 'place'
    ? (store as PlacedStore).replica.end : (store as PlacedStore['replica']).end)

const judged = async (
  folders: readonly Folders[], commits: number,
  { seconds, processorMs }: { seconds: number; processorMs: number },
): Promise<Race> => {
  const all = folders.length * commits
  const chains = new Set<string>()
  let [lost, doubled] = [0, 0]
  for (const at of folders) {
    const store = await openingAny(() => openStore({ ...at, mode: 'write' }))
    try {
      const view = await store.fresh()
      chains.add(chainOf(store))
      const rows = view.all(marks).map(({ doc }) => doc.sum)
      const sum = view.get(sums, 'sum')?.sum ?? 0
      lost = Math.max(lost, all - rows.length, all - sum)
      doubled = Math.max(doubled, rows.length - new Set(rows).size, sum - all)
    } finally {
      store.close()
    }
  }
  return {
    commits: all, lost, doubled, chains: chains.size, rate: all / seconds,
    processorMs: processorMs / all,
  }
}

/** So many machines that share one state, `commits` each. */
export const raceOfMachines = async (
  t: Teardown, machines: number, commits: number,
): Promise<Race> => {
  const server = await startPostgres(t, { settings: { fsync: 'on' } })
  const root = temporaryFolder(t)
  const at = (name: string): Folders =>
    ({ dir: join(root, name, 'state'), configDir: join(root, name, 'config') })
  const reaching = { address: server.url, ca: null, password: null }
  const folders = [at('m0')]
  const first = await createShared({
    ...at('m0'), profile, reaching: { ...reaching, machineName: 'm0' },
  })
  const { replica: { state, keys, end }, seal, storeId } = first
  for (let index = 1; index < machines; index += 1) {
    const name = `m${index}`
    const other = await joinShared({
      ...at(name), reaching: { ...reaching, machineName: name },
      joining: {
        storeId, key: keys.raw, createdAt: state.created_at, profile: state.profile,
        at: { sequence: end.sequence, link: seal.link(end.chain) },
      },
    })
    other.close()
    folders.push(at(name))
  }
  first.close()
  return judged(folders, commits, await raced(t, folders, commits))
}

/** As many processes on one directory. */
export const raceOnDirectory = async (
  t: Teardown, processes: number, commits: number,
): Promise<Race> => {
  const root = temporaryFolder(t)
  const at = { dir: join(root, 'state'), configDir: join(root, 'config') }
  createStore({ ...at, profile }).close()
  const folders = Array.from({ length: processes }, () => at)
  return judged(folders, commits, await raced(t, folders, commits))
}

export const [unit, usual] = ['times 8 machines x 2,000 commits', 1]
const [machines, commitsEach] = [8, 2_000]

/** `npm run soak`: prints what was seen and fails at a violation. */
export const run = async (rounds: number): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    const ends: (() => Promise<void> | void)[] = []
    const t: Teardown = { teardown: (done) => void ends.push(done) }
    try {
      const shared = await raceOfMachines(t, machines, commitsEach)
      const here = await raceOnDirectory(t, machines, commitsEach)
      process.stdout.write(`shared: ${JSON.stringify(shared)}\ndirectory: ${JSON.stringify(here)}\n`
        + `rate: ${(shared.rate / here.rate).toFixed(2)} of a directory's\n`)
      const { lost, doubled, chains } = shared
      if (lost + doubled > 0 || chains !== 1) process.exitCode = 1
    } finally {
      for (const done of ends.reverse()) await done()
    }
  }
}
