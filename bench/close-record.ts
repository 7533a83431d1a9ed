/**
 * What the record of a closure holds the lock for, beside histories that are as full as a closure
 * lets them be, and how long a tree of 90,000 entries keeps the event loop. `npm run bench --
 * close-record`, and with `close`.
 */
import fs, { mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishedReadback } from '../src/codehost/adapter/published.js'
import { commitId } from '../src/codehost/git/commit.js'
import { emptyTree, overlaid } from '../src/codehost/git/tree.js'
import { typeOfMode } from '../src/codehost/git/tree-entry.js'
import {
  artifactHistory, checkpointHistory, readHistory,
} from '../src/codehost/jobs/histories.js'
import { historyHead } from '../src/state/history/read-history.js'
import type { HistorySpec } from '../src/state/types.js'
import { must } from '../test/support/must.js'
import { besideHost } from './bench-host.js'
import { median } from './pairs.js'
import type { BenchRow } from './types.js'
import { unknownPublication } from './unknown-publication.js'

const rounds = Number(process.env['SALLYPORT_BENCH_ROUNDS'] ?? 7)
const [lockMsMax, filesOfOne, treeEntries] = [20, 20, 90_000]

/** One time that the lock of the state was held, and what of it was syncs. */
interface Held {
  readonly ms: number
  readonly cpuMs: number
  readonly syncMs: number
  readonly syncs: number
}

interface Addon {
  tryLock(fd: number, ...rest: unknown[]): boolean
  unlock(fd: number, ...rest: unknown[]): void
}

/** Tells of each time that this process holds the lock of a state, once it has given it back. */
const watchLock = (): readonly Held[] => {
  const held: Held[] = []
  let [lockFd, from, syncMs, syncs] = [-1, 0, 0, 0]
  let used = process.cpuUsage()
  for (const name of ['fsyncSync', 'fdatasyncSync'] as const) {
    const own = fs[name]
    fs[name] = (fd) => {
      const start = performance.now()
      own(fd)
      syncMs += performance.now() - start
      syncs += 1
    }
  }
  syncBuiltinESMExports()
  const addon = createRequire(join(process.cwd(), 'package.json'))('fs-native-extensions') as Addon
  const { tryLock, unlock } = addon
  addon.tryLock = (fd, ...rest) => {
    const taken = tryLock.call(addon, fd, ...rest)
    if (taken && readlinkSync(`/proc/self/fd/${fd}`).endsWith('/lock')) {
      [lockFd, from, syncMs, syncs] = [fd, performance.now(), 0, 0]
      used = process.cpuUsage()
    }
    return taken
  }
  addon.unlock = (fd, ...rest) => {
    unlock.call(addon, fd, ...rest)
    if (fd !== lockFd) return
    const { user, system } = process.cpuUsage(used)
    held.push({ ms: performance.now() - from, cpuMs: (user + system) / 1000, syncMs, syncs })
    lockFd = -1
  }
  return held
}

const at = '2026-01-02T03:04:05.000Z'
const digest = 'a'.repeat(64)
const long = 'x'.repeat(700)
const [entriesMost, bytesLeft] = [4_090, 40_000]

/** In a process of its own: closes a job whose histories are nearly full. */
export const closeFull = async (profileFile: string): Promise<string> => {
  const { world, job, request, end } = await unknownPublication(profileFile, {
    count: filesOfOne, contentOf: (n) => Buffer.from(`file ${n}\0`),
  })
  const fill = async <T>(spec: HistorySpec<T>, entry: T): Promise<void> => {
    await world.gov.store.transact('bench', (tx) => {
      const head = historyHead(tx, spec, job)
      const each = Buffer.byteLength(JSON.stringify(entry)) + 1
      const room = Math.floor((spec.bytesMax - head.bytes - bytesLeft) / each)
      const count = Math.min(entriesMost - head.entries, room)
      tx.append(spec, job, head, Array.from({ length: count }, () => entry))
    })
  }
  await fill(checkpointHistory, {
    at, what: 'released', fence: 1, attempt: 1, operation_id: null, reason: long,
  })
  await fill(artifactHistory, {
    at, artifact_id: 'art_x', label: long, sha256: digest, stored_sha256: digest, bytes: 1,
  })
  await fill(readHistory, {
    at, operation_id: 'op_x', purpose: 'reconcile', read_revision: 1, gets: 1, raw_bytes: 1,
    journals: [{ artifact_id: 'art_x', sha256: digest }], receipts: [long],
  })
  must(await world.run(['state', 'compact']))
  const sizes = [checkpointHistory, artifactHistory, readHistory].map((spec) => {
    const { entries, bytes } = historyHead(world.view(), spec as HistorySpec<unknown>, job)
    return { entries, bytes }
  })
  const held = watchLock()
  let of: Held | undefined
  must(await world.run(['codehost', 'close-capacity', job, '--from', request, '--json'], {
    at: (step) => {
      if (step === 'closure.committed') of = held.at(-1)
    },
  }))
  await end()
  return JSON.stringify({ ...of, sizes })
}

interface ClosedFull extends Held {
  readonly sizes: readonly { readonly entries: number, readonly bytes: number }[]
}

const recordRow = (all: readonly ClosedFull[]): BenchRow => {
  const [ms, syncMs] = [median(all.map((one) => one.ms)), median(all.map((one) => one.syncMs))]
  const sizes = all[0]?.sizes ?? []
  return {
    name: `close: its record beside full histories, share of ${lockMsMax} ms`,
    ratio: ms / lockMsMax, target: 'below 1', pass: ms < lockMsMax,
    detail: `the lock is held ${ms.toFixed(1)} ms, ${syncMs.toFixed(1)} ms of it in `
      + `${all[0]?.syncs} syncs, ${median(all.map((one) => one.cpuMs)).toFixed(1)} ms of `
      + `processor time; median of ${all.length}, histories of `
      + `${sizes.map((one) => one.entries).join(', ')} entries and `
      + `${sizes.map(({ bytes }) => (bytes / 2 ** 20).toFixed(1)).join(', ')} MiB`,
  }
}

/** A reply of 90,000 entries, read strictly and its ids recomputed, over `JSON.parse` of it. */
const treeRow = (): BenchRow => {
  const person = { name: 'B', email: 'b@c', date: '2026-01-02T03:04:05Z' }
  const tree = overlaid(emptyTree, Array.from({ length: treeEntries - 900 }, (_, n) => ({
    path: `part-${n % 30}/of-${n % 900}/file-${n}`, mode: '100644' as const,
    id: n.toString(16).padStart(40, '0'),
  })))
  const rows = [...tree.listing()].map(({ path, mode, id }) =>
    ({ path, mode, type: typeOfMode(mode), sha: id }))
  const body = Buffer.from(JSON.stringify({ sha: tree.id, truncated: false, tree: rows }))
  const draft = {
    tree: tree.id, parents: [], author: person, committer: person, message: 'M\n',
  }
  const { judge } = publishedReadback({
    repository: { owner: 'octo-org', name: 'hello' }, repositoryId: 7, branch: 'topic',
    base: { branch: 'main' }, title: 'T', body: '', draft,
    commit: commitId(draft), pull: { window: null, author: null, marked: false },
  }, { kind: 'growth', id: tree.id }, null)
  const taken = (work: () => unknown): number => median(Array.from({ length: rounds }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  }))
  const [pauseMs, bareMs] = [
    taken(() => {
      const { kind } = judge({ status: 200, headers: new Map(), body })
      if (kind !== 'matches') throw new Error('it is no evidence')
    }), taken(() => JSON.parse(body.toString())),
  ]
  return {
    name: `close: a tree of ${rows.length} entries`, ratio: pauseMs / bareMs, target: 'printed',
    pass: true,
    detail: `the event loop pauses for ${pauseMs.toFixed(0)} ms while it is read strictly and its `
      + `ids are recomputed, over ${bareMs.toFixed(0)} ms of JSON.parse; `
      + `${(body.length / 2 ** 20).toFixed(1)} MiB`,
  }
}

/** Both. */
export const run = async (): Promise<BenchRow[]> => {
  process.env['SALLYPORT_TEST_APP'] ??= join(process.cwd(), 'dist')
  const base = mkdtempSync(join(tmpdir(), 'sallyport-close-record-'))
  try {
    const all: ClosedFull[] = []
    for (let n = 0; n < rounds; n += 1) {
      all.push(await besideHost<ClosedFull>(base, import.meta.url, 'closeFull', []))
    }
    return [recordRow(all), treeRow()]
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
