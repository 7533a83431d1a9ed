/**
 * Guards: while a process runs an operation it holds the kernel lock of `run/ops/<name>`. A guard
 * that can be locked belongs to nobody alive, so what its operation left behind may be resolved;
 * no age, pid or clock is ever consulted.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../base/errors.js'
import { nodeFiles } from '../files.js'
import { requireOwnFolders } from '../folders.js'
import { holdFreshFile, probeFile, removeDeadFile, type Liveness } from './kernel-file.js'

const nameBytesMax = 200
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
/** What is held under its own id, and what that id begins with. */
const idsOf = {
  operation: 'op', save: 'int', stop: 'stp', producer: 'prd', job: 'job', device: 'edge_dev',
} as const
const ownForm = new RegExp(
  `^(?:${Object.values(idsOf).join('|')})_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

/** What a guard is of; `closure` has the id of the job that is closed. */
export type HoldKind = keyof typeof idsOf | 'closure'

/** The name of a guard, and so that of its file. */
export const guardName = (kind: HoldKind, id: string): string =>
  (kind === 'closure' ? `close_${id}` : id)

/** A held guard. */
export interface Guard {
  /** The locked descriptor, for a child that must keep the guard after this process died. */
  readonly fd: number
  /** Removes the file and gives the lock back. A second call does nothing. */
  release(): void
  /**
   * Leaves the guard to a child that was started with `fd` among its descriptors: closes this
   * process's own and never removes the file, which now says that the child lives. The lock ends
   * with the last process that has the descriptor; recovery sweeps the file then. `release` does
   * nothing afterwards.
   */
  handOver(): void
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
 * death. Rejects with `conflict` `guard_held` when somebody alive holds it.
 */
export const holdGuard = async (stateDir: string, name: string): Promise<Guard> => {
  const file = await holdFreshFile(guardPath(stateDir, name))
  if (file) return { fd: file.fd, release: file.remove, handOver: file.release }
  throw fail.conflict('guard_held', 'Another process is running this operation.', {
    details: { operation: name },
  })
}

/** What is known here of the guard `name`: held, left by a dead process, or no file. */
export const guardState = (stateDir: string, name: string): Liveness =>
  probeFile(guardPath(stateDir, name))

/** Whether somebody alive holds the guard `name`. Changes no byte. */
export const isHeld = (stateDir: string, name: string): boolean =>
  guardState(stateDir, name) === 'live'

/** Guard files, live and dead; a link in the place of the folder is `damaged`, never followed. */
const guardsIn = (stateDir: string): readonly string[] => {
  requireOwnFolders(nodeFiles, stateDir, ['run', 'run/ops'])
  try {
    return readdirSync(guardFolder(stateDir), { withFileTypes: true })
      .filter((entry) => entry.isFile() && nameForm.test(entry.name))
      .map(({ name }) => name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** How many operations are under way. Changes no byte. */
export const liveGuards = (stateDir: string): number =>
  guardsIn(stateDir).filter((name) => isHeld(stateDir, name)).length

/** Whether a dead process left the guard file of an operation. Changes no byte. */
export const hasDeadGuard = (stateDir: string): boolean =>
  guardsIn(stateDir).some((name) => ownForm.test(name) && !isHeld(stateDir, name))

/**
 * Removes the guard files of dead processes and answers how many went. For after recovery: a
 * guard file carries no fact, so removing it forgets nothing. Files of other names stay.
 */
export const sweepGuards = (stateDir: string): number =>
  guardsIn(stateDir)
    .filter((name) => ownForm.test(name) && removeDeadFile(join(guardFolder(stateDir), name)))
    .length
