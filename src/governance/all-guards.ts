/**
 * Every lock file by which a process of a state says that it works: guards of operations, fences,
 * the lane and its line, the line of asks, turns of jobs, the one service. Whoever is going to
 * remove the state takes them all, so that nobody who lives loses its ground.
 */
import { join } from 'node:path'
import { namesIn, nodeFiles } from '../state/files.js'
import { probeFile, tryHoldExisting, type HeldFile } from '../state/holds/kernel-file.js'
import { runningService, runningText } from './service/running.js'

/** Folders below `run/` in which every file is a lock. */
const lockFolders = [
  'ops', 'fence', 'lane', 'lane/interactive', 'lane/high', 'lane/normal',
] as const

const turnForm = /\/job-[a-z]+$/

/** Lock files that are there, from the state directory on. */
const lockFiles = (stateDir: string): readonly string[] => {
  const kindOf = (name: string) => nodeFiles.stat(join(stateDir, name))?.kind
  // A link in the place of a folder leads to locks of somebody else.
  const isFolder = (name: string): boolean => name.split('/')
    .every((_, n, parts) => kindOf(parts.slice(0, n + 1).join('/')) === 'dir')
  const below = (folder: string): readonly string[] => (!isFolder(folder) ? []
    : namesIn(nodeFiles, join(stateDir, folder)).map((name) => `${folder}/${name}`))
  return [
    ...lockFolders.flatMap((folder) => below(`run/${folder}`)),
    ...below('run/turn').flatMap(below),
    ...below('run/shots').filter((name) => turnForm.test(name)),
    ...(isFolder('run') ? ['run/service'] : []),
  ].filter((name) => kindOf(name) === 'file')
}

/** Lock files that somebody alive holds. Changes no byte. */
export const heldFiles = (stateDir: string): readonly string[] =>
  lockFiles(stateDir).filter((name) => probeFile(join(stateDir, name)) === 'live')

/** What holds one, in words: a service says who it is. */
export const heldText = (stateDir: string, name: string): string => {
  const service = name === 'run/service' ? runningService(stateDir) : null
  return service === null ? name : `the service, ${runningText(service)}`
}

/** All of them, held. */
interface AllGuards {
  /** Those that somebody else holds; none of the others is kept then. */
  readonly busy: readonly string[]
  release(): void
}

/** Takes every lock file that is there, without waiting. */
export const holdAllGuards = (stateDir: string): AllGuards => {
  const held: HeldFile[] = []
  const busy: string[] = []
  const release = (): void => held.splice(0).forEach((file) => file.release())
  for (const name of lockFiles(stateDir)) {
    const file = tryHoldExisting(join(stateDir, name))
    if (file === 'busy') busy.push(name)
    else if (file !== 'absent') held.push(file)
  }
  if (busy.length > 0) release()
  return { busy, release }
}
