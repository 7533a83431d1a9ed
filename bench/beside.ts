/** A program that runs while this one goes on, for what this one serves it meanwhile. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Program } from './pairs.js'

/** What a run cost. */
export interface Cost {
  readonly ms: number
  /** Most resident memory, MiB, as of the last look; NaN where the system does not tell it. */
  readonly peakMib: number
  /** User and system time, ms, as of the last look; NaN where the system does not tell it. */
  readonly processorMs: number
}

const everyMs = 20

const peakOf = (pid: number | undefined): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024
  } catch {
    return NaN
  }
}

/** Ticks of the kernel's accounting are of 10 ms. */
const tickMs = 10

const processorOf = (pid: number | undefined): number => {
  try {
    // The name before them may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * tickMs
  } catch {
    return NaN
  }
}

/** Runs a program to its end. Throws when it fails. */
export const runBeside = async ({ args, env, stdin = '' }: Program): Promise<Cost> => {
  const start = performance.now()
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'pipe'] })
  let [said, peakMib, processorMs] = ['', NaN, NaN]
  child.stderr.setEncoding('utf8').on('data', (text: string) => { said += text })
  const looking = setInterval(() => {
    const now = peakOf(child.pid)
    if (Number.isNaN(now)) return
    peakMib = now
    processorMs = processorOf(child.pid)
  }, everyMs)
  child.stdin.on('error', () => undefined).end(stdin)
  const [status] = await once(child, 'close') as [number]
  clearInterval(looking)
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${said}`)
  return { ms: performance.now() - start, peakMib, processorMs }
}
