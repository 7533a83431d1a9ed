/** Starts programs of the folder `children` as processes of their own, which end with the test. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Teardown } from '../world/place.js'

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

/** Starts `name` of that folder (without its extension) with JSON arguments. */
export const startChild = (t: Teardown, name: string, args: object): Child => {
  const here = fileURLToPath(import.meta.url)
  const program = join(here, '../children', `${name}${extname(here)}`)
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
