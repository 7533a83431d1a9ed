/**
 * Guards: while a process runs an operation it holds the kernel lock of `run/ops/<name>`. A guard
 * that can be locked belongs to nobody alive, so what its operation left behind may be resolved;
 * no age, pid or clock is ever consulted.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../base/errors.js'
import { holdFreshFile, probeFile, removeDeadFile } from './kernel-file.js'

const nameBytesMax = 200
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** A held guard. */
export interface Guard {
  /** The locked descriptor, for a child that must keep the guard after this process died. */
  readonly fd: number
  /** Removes the file and gives the lock back. A second call does nothing. */
  release(): void
}

const guardFolder = (stateDir: string): string => join(stateDir, 'run', 'ops')

const guardPath = (stateDir: string, name: string): string => {
  if (nameForm.test(name) && name.length <= nameBytesMax) return join(guardFolder(stateDir), name)
  throw fail.rejected(
    'guard_name_invalid',
    `A guard's name is 1 to ${nameBytesMax} letters, digits, dots, dashes and underscores.`,
  )
}

/**
 * Holds the guard `name` (an operation or intent id) of the state directory until release or
 * death. Throws `conflict` `guard_held` when somebody alive holds it.
 */
export const holdGuard = (stateDir: string, name: string): Guard => {
  const file = holdFreshFile(guardPath(stateDir, name))
  if (file) return { fd: file.fd, release: file.remove }
  throw fail.conflict('guard_held', 'Another process is running this operation.', {
    details: { operation: name },
  })
}

/** Whether somebody alive holds the guard `name`. Changes no byte. */
export const isHeld = (stateDir: string, name: string): boolean =>
  probeFile(guardPath(stateDir, name)) === 'live'

const guardsIn = (stateDir: string): readonly string[] => {
  try {
    return readdirSync(guardFolder(stateDir)).filter((name) => nameForm.test(name))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** How many operations are under way. Changes no byte. */
export const liveGuards = (stateDir: string): number =>
  guardsIn(stateDir).filter((name) => isHeld(stateDir, name)).length

/**
 * Removes the guard files of dead processes and answers how many went. For after recovery: a
 * guard file carries no fact, so removing it forgets nothing.
 */
export const sweepGuards = (stateDir: string): number =>
  guardsIn(stateDir).filter((name) => removeDeadFile(join(guardFolder(stateDir), name))).length
