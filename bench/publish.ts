/**
 * Publishing beside a bare script with the same POSTs and syncs, 2,000 files of 64 MiB, all as
 * blobs and all inline.
 * `npm run bench -- publish`. `SALLYPORT_BENCH_FILES` makes it smaller while it is worked on.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { producerLimits } from '../src/codehost/producer/producer-limits.js'
import { openPublication } from '../src/codehost/jobs/publication/open.js'
import { jobCollection } from '../src/codehost/jobs/job-rows.js'
import { must } from '../test/support/must.js'
import { approvedPublication } from './approved-publication.js'
import { median } from './pairs.js'
import type { Cost } from './processor.js'
import type { BenchRow } from './types.js'

const files = Number(process.env['SALLYPORT_BENCH_FILES'] ?? 2_000)
const rounds = Number(process.env['SALLYPORT_BENCH_ROUNDS'] ?? 1)
const fileBytes = Math.floor((64 * 1024 * 1024) / 2_000)
const ratioMax = 1.3
const kinds = ['blobs', 'inline'] as const
type Kind = (typeof kinds)[number]

/** A file with a NUL is no text: it is sent as a blob. */
const contentOf = (kind: Kind, n: number): Buffer => {
  const text = Buffer.from(`${n} `.padEnd(fileBytes, 'words in a line\n'))
  if (kind === 'blobs') text[fileBytes - 1] = 0
  return text
}

/** What one publication took between its first POST and its last. */
interface Published extends Cost {
  readonly posts: number
  readonly syncs: number
  readonly producerMs: number
}

interface Syncs { count: number }

/** Counts the syncs of this process, or leaves them out. */
const watchSyncs = (isLeftOut: boolean): Syncs => {
  const seen = { count: 0 }
  for (const name of ['fsyncSync', 'fdatasyncSync'] as const) {
    const own = fs[name]
    fs[name] = (fd) => {
      seen.count += 1
      if (!isLeftOut) own(fd)
    }
  }
  syncBuiltinESMExports()
  return seen
}

const now = (): Cost => {
  const { user, system } = process.cpuUsage()
  return { wallMs: performance.now(), processorMs: (user + system) / 1000 }
}

const since = (start: Cost): Cost => {
  const { wallMs, processorMs } = now()
  return { wallMs: wallMs - start.wallMs, processorMs: processorMs - start.processorMs }
}

/** In a process of its own: prepares, approves and runs one publication; the bodies go to `dir`. */
export const publishInChild = async (
  dir: string, profileFile: string, kind: Kind, syncs: string,
): Promise<string> => {
  const { world, job, end } = await approvedPublication(profileFile, {
    count: files, contentOf: (n) => contentOf(kind, n),
  })
  const view = world.view()
  const row = view.get(jobCollection, job)
  if (row === undefined) throw new Error('no job')
  const publication = openPublication(world.gov, view, row)
  const list: object[] = []
  for (const post of publication.posts) {
    const file = join(dir, `body-${post.number}`)
    writeFileSync(file, await publication.bodyOf(post))
    list.push({ path: post.path, file })
  }
  publication.close()
  writeFileSync(join(dir, 'list.json'), JSON.stringify(list))
  const seen = watchSyncs(syncs === 'nosync')
  let [from, cost, spawned, producerMs, counted]: [Cost, Cost, number, number, number] =
    [now(), now(), 0, 0, 0]
  must(await world.run(['codehost', 'run', job], { at: (step) => {
    if (step === 'codehost.spawn_intended') spawned = performance.now()
    if (step === 'codehost.produced') producerMs = performance.now() - spawned
    if (step.startsWith('codehost.post_1_of_')) [from, counted] = [now(), seen.count]
    if (step === 'codehost.created') [cost, counted] = [since(from), seen.count - counted]
  } }))
  await end()
  const posts = list.length
  return JSON.stringify({ ...cost, posts, syncs: counted / posts, producerMs })
}

interface Host { readonly base: string, readonly caFile: string, readonly profileFile: string }

const module = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)

/** Runs `use` while a memory host of its own runs in a process of its own. */
const withHost = async <T>(dir: string, use: (host: Host) => T): Promise<T> => {
  const program = join(dir, 'host.mjs')
  writeFileSync(program, `import { serve } from ${module('./memory-host.js')}\n`
    + 'await serve(process.argv[2])\n')
  const child = spawn(process.execPath, [program, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [printed] = await once(child.stdout, 'data') as [Buffer]
    return use(JSON.parse(printed.toString()) as Host)
  } finally {
    child.kill()
  }
}

const childOf = <T>(args: readonly string[]): T => {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    encoding: 'utf8', maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(`it ended with ${status}: ${stderr.slice(-2000)}`)
  return JSON.parse(stdout) as T
}

interface Both { readonly ours: Published, readonly theirs: Cost }

/** One publication, then the bare script with the very bodies that it sent, at a fresh host. */
const measured = async (base: string, kind: Kind, syncs: 'sync' | 'nosync'): Promise<Both> => {
  const dir = mkdtempSync(join(base, `${kind}-`))
  const program = join(dir, 'publish.mjs')
  writeFileSync(program, `import { publishInChild } from ${JSON.stringify(import.meta.url)}\n`
    + 'console.log(await publishInChild(...process.argv.slice(2)))\n')
  const ours = await withHost(dir, ({ profileFile }) => childOf<Published>([
    ...process.env['SALLYPORT_BENCH_PROFILE'] === undefined
      ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env['SALLYPORT_BENCH_PROFILE']}`],
    program, dir, profileFile, kind, syncs,
  ]))
  const theirs = await withHost(dir, (host) => childOf<Cost>([
    join(process.cwd(), 'bench/bare-publish.js'), host.base, host.caFile, join(dir, 'list.json'),
    dir, syncs,
  ]))
  rmSync(dir, { recursive: true })
  return { ours, theirs }
}

const middle = (all: readonly Both[], of: (one: Both) => number): number => median(all.map(of))

const rowsFor = async (
  base: string, kind: Kind, syncs: 'sync' | 'nosync',
): Promise<BenchRow[]> => {
  const all: Both[] = []
  for (let n = 0; n < rounds; n += 1) all.push(await measured(base, kind, syncs))
  const [wall, bareWall] = [
    middle(all, ({ ours }) => ours.wallMs), middle(all, ({ theirs }) => theirs.wallMs)]
  const [used, bareUsed] = [
    middle(all, ({ ours }) => ours.processorMs), middle(all, ({ theirs }) => theirs.processorMs)]
  const { posts = 0, syncs: each = 0 } = all[0]?.ours ?? {}
  const producer = Math.max(...all.map(({ ours }) => ours.producerMs))
  const what = `publish: ${files} files, ${kind}${syncs === 'sync' ? '' : ', without syncs'}`
  const isGoal = syncs === 'sync'
  const rows: BenchRow[] = [{
    name: `${what}, wall`, ratio: wall / bareWall,
    target: isGoal ? `at most ${ratioMax}` : 'printed',
    pass: !isGoal || wall / bareWall <= ratioMax,
    detail: `${wall.toFixed(0)} ms over ${bareWall.toFixed(0)} ms of a bare script for ${posts} `
      + `POSTs; ${each.toFixed(1)} syncs an effect${isGoal ? '' : ' left out'}`,
  }, {
    name: `${what}, processor`, ratio: used / bareUsed, target: 'printed', pass: true,
    detail: `${used.toFixed(0)} ms over ${bareUsed.toFixed(0)} ms of a bare script`,
  }]
  if (!isGoal) return rows
  return [...rows, {
    name: `${what}, its producer, share of the 30 s`, ratio: producer / producerLimits.wallMs,
    target: 'below 1', pass: producer < producerLimits.wallMs,
    detail: `${(producer / 1000).toFixed(2)} s from its start to the proof of its end`,
  }]
}

/** Everything. */
export const run = async (): Promise<BenchRow[]> => {
  process.env['SALLYPORT_TEST_APP'] ??= join(process.cwd(), 'dist')
  const base = mkdtempSync(join(tmpdir(), 'sallyport-publish-'))
  const rows: BenchRow[] = []
  try {
    for (const kind of kinds) {
      for (const syncs of ['sync', 'nosync'] as const) {
        rows.push(...await rowsFor(base, kind, syncs))
      }
    }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
  return rows
}
