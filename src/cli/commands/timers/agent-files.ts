/** Agents of the user: those of this program are told from all others by their comment. */
import { chmodSync, closeSync, mkdirSync, openSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../../base/errors.js'
import { libraryFolder } from '../../../base/user-folders.js'
import {
  agentFile, agentLabels, agentLog, agentMark, agentPrefix, type Agent,
} from '../../../fabric/timers/agents.js'
import type { VerbDeps } from '../../verb.js'
import {
  foreignNames, orRefused, ownNames, removeUnfinished, writeOwn, type OwnFile, type OwnFiles,
} from './own-files.js'

/** Where launchd looks for agents of the user at a login. */
export const agentFolder = (deps: VerbDeps): string => libraryFolder(deps, 'LaunchAgents')

/** Where agents tell what failed. */
export const logFolder = (deps: VerbDeps): string => libraryFolder(deps, 'Logs/sallyport')

const agentFiles = (deps: VerbDeps): OwnFiles => ({
  folder: agentFolder(deps),
  what: 'the launchd agents',
  isOwn: (text) => text.includes(`<!-- ${agentMark} -->`),
  foreign: (file) =>
    fail.conflict('agent_foreign', 'An agent of that name was made by somebody else.', {
      next: 'Nothing was changed. Move it away first.', details: { file },
    }),
  refused: (doing, { details }, cause) =>
    fail.failed('agents_refused', `The folder of the launchd agents cannot be ${doing}.`, {
      next: 'See whose ~/Library/LaunchAgents and ~/Library/Logs are, and which rights they have.',
      details, cause,
    }),
})

/** Files of agents as text; loads the library of property lists. */
export const agentTexts = async (agents: readonly Agent[]): Promise<readonly OwnFile[]> => {
  const { propertyListText } = await import('../../../fabric/launchd/property-list.js')
  return agents.map(({ label, list }) =>
    ({ name: agentFile(label), text: propertyListText(list, agentMark) }))
}

/** Labels of agents of one state whose files this program made. Throws `agents_refused`. */
export const ownAgents = (deps: VerbDeps, id: string): readonly string[] => {
  const names = new Set(ownNames(agentFiles(deps), agentPrefix(id)))
  return agentLabels(id).filter((label) => names.has(agentFile(label)))
}

/** Throws `agents_refused` where agents that are to go cannot be read. */
export const requireReadable = (deps: VerbDeps, id: string): void => {
  if (deps.system.hasLaunchd) ownAgents(deps, id)
}

/** Labels that are this state's own, whether there is a file or not. Throws alike. */
export const freeLabels = (deps: VerbDeps, id: string): readonly string[] => {
  const labels = agentLabels(id)
  const taken = foreignNames(agentFiles(deps), labels.map(agentFile))
  return labels.filter((label) => !taken.includes(agentFile(label)))
}

/**
 * Writes agents as `writeOwn` does, and makes the logs that launchd then only adds to: it makes no
 * folder, and would let others read. Throws `conflict` `agent_foreign`, and `agents_refused`.
 */
export const writeAgents = (
  deps: VerbDeps, labels: readonly string[], texts: readonly OwnFile[],
): void => {
  const [files, logs] = [agentFiles(deps), logFolder(deps)]
  writeOwn(files, texts)
  orRefused(files, 'written', () => {
    mkdirSync(logs, { recursive: true, mode: 0o700 })
    for (const label of labels) {
      const path = agentLog(logs, label)
      closeSync(openSync(path, 'a', 0o600))
      chmodSync(path, 0o600)
    }
  })
}

/** Removes agents and their logs; the file last, by which a removal that was cut off goes on. */
export const removeAgents = (deps: VerbDeps, labels: readonly string[]): void => {
  const [files, logs] = [agentFiles(deps), logFolder(deps)]
  orRefused(files, 'written', () => {
    for (const label of labels) {
      rmSync(agentLog(logs, label), { force: true })
      rmSync(join(files.folder, agentFile(label)), { force: true })
    }
  })
}

/** Removes what an install that was cut off left, and the folder of logs where it is empty. */
export const clearAgents = (deps: VerbDeps, id: string): void => {
  removeUnfinished(agentFiles(deps), agentPrefix(id))
  try {
    rmdirSync(logFolder(deps))
  } catch {
    // Logs of another state lie there, or there was none.
  }
}
