// Stands for @tapjs/processinfo, by which tap starts a test process. That one has a loader of its
// own put into every Node process that a test starts, and into each of their threads, to note which
// files they load. Nothing here reads that, and it takes each of them longer than the program does.
import { spawn } from 'node:child_process'

/** What tap asks of that package: a process, started as it is told. */
export const ProcessInfo = {
  /**
   * @param {string} command
   * @param {readonly string[]} args
   * @param {import('node:child_process').SpawnOptions & { externalID?: string }} options
   */
  spawn: (command, args, { externalID: _, ...options }) => spawn(command, args, options),
}
