/**
 * The producer's supervisor with an observer, for tests: built apart like the shipped one, which
 * has no such switch. `observe.json` in the state directory says what to do:
 * - `wallMs`, `reapMs`: other limits than the shipped ones.
 * - `stopAt`: at this step, `do`: `kill` (SIGKILL itself), `wait` (make the file `stopped` and wait
 *   for the file `go`), `full` (from now on nothing can be written), `close` (the guard's
 *   descriptor is closed), `replace` (another file stands in the guard's descriptor).
 * - `steps`: every step is appended there, one a line.
 */
import fs, {
  appendFileSync, closeSync, existsSync, openSync, readFileSync, writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { guardFd, producerLimits } from '../src/codehost/producer/producer-limits.js'
import { probe, supervise } from '../src/codehost/producer/supervisor/run.js'
import type { Program } from '../src/codehost/producer/supervisor/run.js'

interface Observe {
  readonly wallMs?: number
  readonly reapMs?: number
  readonly stopAt?: string
  readonly do?: 'kill' | 'wait' | 'full' | 'close' | 'replace'
  readonly steps?: boolean
}

const state = '../..'
const pollMs = 5

const observeOf = (): Observe => {
  try {
    return JSON.parse(readFileSync(`${state}/observe.json`, 'utf8')) as Observe
  } catch {
    return {}
  }
}

const full = (): never => {
  throw Object.assign(new Error('injected'), { code: 'ENOSPC' })
}

const acts: Readonly<Record<NonNullable<Observe['do']>, () => unknown>> = {
  kill: () => process.kill(process.pid, 'SIGKILL'),
  wait: async () => {
    writeFileSync(`${state}/stopped`, '')
    while (!existsSync(`${state}/go`)) await sleep(pollMs)
  },
  full: () => {
    // What pipes are given is no disk's matter.
    Object.assign(fs, { fsyncSync: full, linkSync: full })
    syncBuiltinESMExports()
  },
  close: () => closeSync(guardFd),
  replace: () => {
    closeSync(guardFd)
    return openSync('/dev/null', 'r')
  },
}

const observe = observeOf()
const program: Program = {
  pid: process.pid, stdin: process.stdin, stdout: process.stdout,
  on: (signal, act) => void process.on(signal, act),
  exit: (status) => process.exit(status),
}
const [, , word, addonPath] = process.argv
if (word === 'probe' && addonPath !== undefined) void probe(program, addonPath)
else {
  void supervise(program, {
    wallMs: observe.wallMs ?? producerLimits.wallMs,
    reapMs: observe.reapMs ?? producerLimits.reapMs,
    at: async (step) => {
      if (observe.steps === true) appendFileSync(`${state}/steps`, `${step}\n`)
      if (step === observe.stopAt && observe.do !== undefined) await acts[observe.do]()
    },
  })
}
