/** Wall and processor time of a whole program: others on the machine move the first one more. */
import { spawnSync } from 'node:child_process'
import type { Program } from './pairs.js'

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
