/** Wall and processor time of a whole program: others on the machine move the first one more. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './pairs.js'
import type { BenchPlace } from './place.js'

/** Both in milliseconds; processor time is that of all threads, in the program and the system. */
export interface Cost {
  readonly wallMs: number
  readonly processorMs: number
}

const timed = 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&3; } 3>/dev/null'

/** Runs a program to its end. Throws when it fails. */
export const costOf = ({ args, env = process.env, stdin = '' }: Program): Cost => {
  const start = performance.now()
  const { stderr, status } = spawnSync('bash', ['-c', timed, 'bash', process.execPath, ...args], {
    env, input: stdin, encoding: 'utf8',
  })
  const wallMs = performance.now() - start
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  const processorMs = stderr.trim().split(' ').reduce((sum, part) => sum + Number(part) * 1000, 0)
  return { wallMs, processorMs }
}

/** The same of some work in this process. */
export const ownCost = async (work: () => Promise<void>): Promise<Cost> => {
  const start = performance.now()
  const { user, system } = process.cpuUsage()
  await work()
  const used = process.cpuUsage({ user, system })
  return { wallMs: performance.now() - start, processorMs: (used.user + used.system) / 1000 }
}

/** What a program took, with its peak memory in MiB and what it printed. */
export interface WholeCost extends Cost {
  readonly peakMib: number
  readonly stdout: string
}

/** The exit codes of one that did what it was asked to. */
const done = [0]

/**
 * Runs a program of Node. Peak memory is told by the process itself as it ends, not by its
 * resource usage: the kernel counts there what this process had when it was started from it.
 * Throws when it ends with a code that is not one of `codes`.
 */
export const wholeCost = (
  place: BenchPlace, { args, env = place.env, stdin = '' }: Program,
  codes: readonly number[] = done,
): WholeCost => {
  const file = join(place.dir, 'peak')
  const hook = "data:text/javascript,import{readFileSync,writeFileSync}from'node:fs';"
    + "process.on('exit',()=>{const{user,system}=process.cpuUsage();writeFileSync("
    + `${JSON.stringify(file)},readFileSync('/proc/self/status')+'Cpu:'+(user+system)+'us')})`
  const from = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', hook, ...args], {
    env, input: stdin, encoding: 'utf8', maxBuffer: 2 ** 30,
  })
  const wallMs = performance.now() - from
  if (status === null || !codes.includes(status)) {
    throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  }
  const told = readFileSync(file, 'utf8')
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(told) ?? []
  const [, micros] = /^Cpu:(\d+)us$/m.exec(told) ?? []
  return { wallMs, processorMs: Number(micros) / 1000, peakMib: Number(kibibytes) / 1024, stdout }
}
