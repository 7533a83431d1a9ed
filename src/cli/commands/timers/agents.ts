/** Agents of launchd: how they stand, loading them, and taking them out again. */
import { join } from 'node:path'
import { agentFile, agentLog, agentPrefix } from '../../../fabric/timers/agents.js'
import { isStaying, type TimerJob } from '../../../fabric/timers/jobs.js'
import type { Timers } from '../../../fabric/timers/timers-contract.js'
import type { VerbDeps } from '../../verb.js'
import {
  agentFolder, clearAgents, freeLabels, logFolder, ownAgents, removeAgents, writeAgents,
} from './agent-files.js'
import { askAgent, bootOut, bootStrap, requireSession, type AgentState } from './launchctl.js'
import type { OwnFile } from './own-files.js'

type Told = Timers['agents'][number]

const runsOf = (
  state: AgentState, job: TimerJob['name'],
): Pick<Told, 'state' | 'runs' | 'last_exit' | 'last_signal'> => {
  if (typeof state === 'object') {
    const { runs, lastExit, lastSignal } = state
    // launchd starts anew what failed, and leaves what ended well.
    const isStopped = isStaying(job) && state.state === 'waiting' && lastExit === 0
    return {
      state: isStopped ? 'stopped' : state.state, runs, last_exit: lastExit,
      last_signal: lastSignal,
    }
  }
  const told = { gone: 'not_loaded', nowhere: 'no_session', unknown: 'unknown' } as const
  return { state: told[state], runs: null, last_exit: null, last_signal: null }
}

/** The agents of one state and how they stand; null for none. A file, or a load, makes one. */
export const foundAgents = async (
  deps: VerbDeps, id: string,
): Promise<Pick<Timers, 'entries' | 'agents'> | null> => {
  const own = ownAgents(deps, id)
  const agents: Told[] = []
  for (const label of freeLabels(deps, id)) {
    const state = await askAgent(deps, label)
    if (!own.includes(label) && typeof state !== 'object') continue
    const job = label.slice(agentPrefix(id).length) as TimerJob['name']
    agents.push({ label, job, ...runsOf(state, job), log: agentLog(logFolder(deps), label) })
  }
  const entries = agents.map(({ label }) =>
    (own.includes(label) ? join(agentFolder(deps), agentFile(label)) : label))
  return agents.length === 0 ? null : { entries, agents }
}

/**
 * Writes and loads the agents, in place of earlier ones. What is loaded is taken out first,
 * whatever it is: a line that was cut off may have written a file that launchd has not read. Throws
 * `blocked` `launchd_no_session` with nothing changed, `failed` `launchd_refused`, and as
 * `writeAgents`.
 */
export const installAgents = async (
  deps: VerbDeps, id: string, labels: readonly string[], texts: readonly OwnFile[],
): Promise<void> => {
  const [first = ''] = labels
  await requireSession(deps, first)
  writeAgents(deps, labels, texts)
  await dropAgents(deps, id, labels)
  for (const label of labels) {
    await bootOut(deps, label)
    await bootStrap(deps, label, join(agentFolder(deps), agentFile(label)))
  }
}

/**
 * Takes the agents of one state out of launchd and removes their files and logs, all but those that
 * stay; gives the labels of the files. Does nothing where there is no launchd. Throws `failed`
 * `launchd_refused` where one stays loaded: its file stays, too.
 */
export const dropAgents = async (
  deps: VerbDeps, id: string, staying: readonly string[] = [],
): Promise<readonly string[]> => {
  if (!deps.system.hasLaunchd) return []
  const goes = (label: string): boolean => !staying.includes(label)
  const own = ownAgents(deps, id).filter(goes)
  const free = freeLabels(deps, id).filter(goes)
  for (const label of free) {
    // One without a file may be loaded all the same, where somebody deleted the file.
    if (!own.includes(label) && typeof await askAgent(deps, label) !== 'object') continue
    await bootOut(deps, label)
    removeAgents(deps, [label])
  }
  clearAgents(deps, id)
  return own
}
