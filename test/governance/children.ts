/** Starts programs of this folder as processes of their own, which end with the test. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What the helpers need of tap's `t`. */
export interface Teardown {
  teardown(done: () => Promise<void> | void): void
}

/** A running program that speaks in lines. */
export interface Child {
  readonly pid: number
  readonly process: ChildProcess
  /** The next line of its standard output; rejects when it ends without one. */
  line(): Promise<string>
  /** Ends it as a power cut would, and waits until it is gone. */
  kill(): Promise<void>
  /** Waits for its own end and answers its exit status. */
  ended(): Promise<number | null>
}

/** A temporary folder that goes with the test. */
export const temporaryFolder = (t: Teardown): string => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-governance-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Starts `name` of this folder (without its extension) with JSON arguments. */
export const startChild = (t: Teardown, name: string, args: object): Child => {
  const here = fileURLToPath(import.meta.url)
  const program = join(here, '..', `${name}${extname(here)}`)
  const child = spawn(process.execPath, [...process.execArgv, program, JSON.stringify(args)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }
  t.teardown(kill)
  return {
    pid: child.pid ?? 0,
    process: child,
    line: async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${name} ended without a line`)
      return value
    },
    kill,
    ended: async () => {
      await exit
      return child.exitCode
    },
  }
}
