import { join } from 'node:path'
import { fail } from '../../../base/errors.js'
import { holdFreshFile, probeFile } from '../../../state/holds/kernel-file.js'
import { readFolder, runningFile } from '../../../sandbox/folder.js'
import type { CliDeps } from '../../deps.js'
import { sandboxCommand } from './dir.js'

const lockOf = (dir: string): string => join(dir, runningFile)

/** Whether a process of this machine runs a sandbox from the folder. Opens no socket. */
export const isRunning = (dir: string): boolean => probeFile(lockOf(dir)) === 'live'

/** `conflict` `sandbox_running`, with the process where the folder names it. */
export const alreadyRunning = async (deps: CliDeps, dir: string): Promise<Error> => {
  const pid = (await readFolder(dir))?.pid ?? null
  const who = pid === null ? '' : `, as process ${pid}`
  return fail.conflict('sandbox_running', `A sandbox runs from that folder already${who}.`, {
    next: `Use it, or end it: \`${sandboxCommand(deps, dir, 'stop')}\`. `
      + 'Another one needs another --dir.',
    details: { dir, pid },
  })
}

/**
 * Makes the folder this process's alone until it ends in any way: two sandboxes would write their
 * ports over each other's. Gives what ends that. Throws `sandbox_running` (conflict).
 */
export const claimFolder = (deps: CliDeps) => async (dir: string): Promise<() => void> => {
  const held = await holdFreshFile(lockOf(dir))
  if (held === null) throw await alreadyRunning(deps, dir)
  return held.remove
}
