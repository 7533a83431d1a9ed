/**
 * Closing the capacity of a publication of 2,000 files and 64 MiB, all as blobs and all inline,
 * beside a bare loop in the same process with the same GETs over as many reused connections and
 * `JSON.parse`; once more with 50 ms before each reply. `npm run bench -- close`.
 * `SALLYPORT_BENCH_FILES` makes it smaller while it is worked on.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request as ask } from 'node:https'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { must } from '../test/support/must.js'
import { besideHost } from './bench-host.js'
import { peakMib } from './peak.js'
import type { BenchRow } from './types.js'
import { unknownPublication } from './unknown-publication.js'

const files = Number(process.env['SALLYPORT_BENCH_FILES'] ?? 2_000)
const fileBytes = Math.floor((64 * 1024 * 1024) / 2_000)
const [ratioMax, lateSecondsMax, lateMs, peakMibMax, lockMsMax] = [1.3, 20, 50, 300, 20]
const mebibyte = 1024 * 1024
const kinds = ['blobs', 'inline'] as const
type Kind = (typeof kinds)[number]

/** A file with a NUL is no text: it is sent as a blob. */
const contentOf = (kind: Kind, n: number): Buffer => {
  const text = Buffer.from(`${n} `.padEnd(fileBytes, 'words in a line\n'))
  if (kind === 'blobs') text[fileBytes - 1] = 0
  return text
}

interface Host {
  readonly base: string
  readonly ca: Buffer
}
interface Seen { readonly connections: number, readonly paths: readonly string[] }

const bodyOf = (
  { base, ca }: Host, agent: Agent | undefined, path: string,
): Promise<Buffer> => new Promise((resolve, reject) => {
  const options = { ca, ...agent === undefined ? {} : { agent } }
  ask(`${base}${path}`, options, (reply) => {
    const parts: Buffer[] = []
    reply.on('data', (part: Buffer) => parts.push(part))
    reply.on('end', () => resolve(Buffer.concat(parts)))
  }).on('error', reject).end()
})

const control = async (host: Host, delay: number): Promise<Seen> =>
  JSON.parse((await bodyOf(host, new Agent(), `/control?delay=${delay}`)).toString()) as Seen

/** Milliseconds on the clock and of the processor. */
interface Took { readonly ms: number, readonly cpuMs: number }

const cpuMs = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** The same GETs over as many connections; gives milliseconds. */
const bareLoop = async (host: Host, { connections, paths }: Seen): Promise<Took> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const waiting = paths.values()
  const used = process.cpuUsage()
  const start = performance.now()
  await Promise.all(Array.from({ length: connections }, async () => {
    for (const path of waiting) JSON.parse((await bodyOf(host, agent, path)).toString())
  }))
  const ms = performance.now() - start
  agent.destroy()
  return { ms, cpuMs: cpuMs(used) }
}

/** What one closure took. */
interface Closed extends Took {
  readonly bare: Took
  readonly gets: number
  readonly rawMib: number
  readonly decodedMib: number
  readonly connections: number
  readonly pauseMs: number
  readonly peakMib: number
  readonly lockMs: number
}

/** With `SALLYPORT_BENCH_PROFILE=DIR` what follows is profiled, until the answer is called. */
const profiled = async (name: string): Promise<() => Promise<void>> => {
  const dir = process.env['SALLYPORT_BENCH_PROFILE']
  if (dir === undefined) return () => Promise.resolve()
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  return async () => {
    const { profile } = await session.post('Profiler.stop')
    writeFileSync(join(dir, `${name}-${process.pid}.cpuprofile`), JSON.stringify(profile))
    session.disconnect()
  }
}

/** In a process of its own: publishes, loses the readback, closes. */
export const closeInChild = async (
  profileFile: string, base: string, caFile: string, kind: Kind, delay: string,
): Promise<string> => {
  const host: Host = { base, ca: readFileSync(caFile) }
  const { world, job, request, end } = await unknownPublication(profileFile, {
    count: files, contentOf: (n) => contentOf(kind, n),
  })
  const { run } = world
  await control(host, Number(delay))
  const pauses = monitorEventLoopDelay({ resolution: 5 })
  pauses.enable()
  let [staged, lockMs] = [0, 0]
  const profile = await profiled(kind)
  const used = process.cpuUsage()
  const start = performance.now()
  const { receipt } = must(await run(
    ['codehost', 'close-capacity', job, '--from', request, '--json'], { at: (step) => {
      if (step === 'closure.staged') staged = performance.now()
      if (step === 'closure.committed') lockMs = performance.now() - staged
    } })).json<{ receipt: { evidence: { gets: number, raw_bytes: number } } }>()
  const ms = performance.now() - start
  const processor = cpuMs(used)
  pauses.disable()
  await profile()
  const seen = await control(host, Number(delay))
  const closed: Closed = {
    ms, cpuMs: processor, lockMs, gets: receipt.evidence.gets,
    rawMib: receipt.evidence.raw_bytes / mebibyte,
    decodedMib: kind === 'blobs' ? files * fileBytes / mebibyte : 0,
    connections: seen.connections - 1, pauseMs: pauses.max / 1e6,
    peakMib: peakMib(),
    bare: await bareLoop(host, { ...seen, connections: seen.connections - 1 }),
  }
  await end()
  return JSON.stringify(closed)
}

/** One closure at a host of its own. */
const measured = (base: string, kind: Kind, delay: number): Promise<Closed> =>
  besideHost(base, import.meta.url, 'closeInChild', [kind, String(delay)])

const rowsOf = (kind: Kind, closed: Closed, late: Closed | null): BenchRow[] => {
  const { ms, cpuMs: used, bare, gets, rawMib, decodedMib, connections } = closed
  const { pauseMs, peakMib, lockMs } = closed
  const what = `close: ${files} files, ${kind}`
  return [{
    name: `${what}, wall`, ratio: ms / bare.ms, target: `at most ${ratioMax}`,
    pass: ms / bare.ms <= ratioMax,
    detail: `${ms.toFixed(0)} ms over ${bare.ms.toFixed(0)} ms of a bare loop; ${gets} GETs, `
      + `${rawMib.toFixed(1)} MiB raw, ${decodedMib.toFixed(1)} MiB of blobs decoded, `
      + `${connections} connections, longest pause ${pauseMs.toFixed(0)} ms`,
  }, {
    name: `${what}, processor`, ratio: used / bare.cpuMs, target: 'printed', pass: true,
    detail: `${used.toFixed(0)} ms over ${bare.cpuMs.toFixed(0)} ms`,
  }, {
    name: `${what}, peak memory, share of ${peakMibMax} MiB`, ratio: peakMib / peakMibMax,
    target: 'printed: its publishing is in it', pass: true, detail: `${peakMib.toFixed(0)} MiB`,
  }, {
    name: `${what}, its record, share of ${lockMsMax} ms`, ratio: lockMs / lockMsMax,
    target: 'printed', pass: true, detail: `${lockMs.toFixed(1)} ms with its wait and its sync`,
  }, ...late === null ? [] : [{
    name: `${what}, ${lateMs} ms before each reply, share of ${lateSecondsMax} s`,
    ratio: late.ms / 1000 / lateSecondsMax, target: 'below 1',
    pass: late.ms / 1000 < lateSecondsMax,
    detail: `${(late.ms / 1000).toFixed(1)} s for ${late.gets} GETs over ${late.connections} `
      + 'connections',
  }]]
}

/** Everything. */
export const run = async (): Promise<BenchRow[]> => {
  process.env['SALLYPORT_TEST_APP'] ??= join(process.cwd(), 'dist')
  const base = mkdtempSync(join(tmpdir(), 'sallyport-close-'))
  const rows: BenchRow[] = []
  try {
    for (const kind of kinds) {
      const closed = await measured(base, kind, 0)
      const late = kind === 'blobs' ? await measured(base, kind, lateMs) : null
      rows.push(...rowsOf(kind, closed, late))
    }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
  return rows
}
