/**
 * launchctl: loading agents, taking them out and asking how they stand. Its exit statuses are those
 * that it prints a reason for (`launchctl error`).
 */
import { fail, type SallyportError } from '../../../base/errors.js'
import { agentRunsOf, type AgentRuns } from '../../../fabric/launchd/agent-state.js'
import type { VerbDeps } from '../../verb.js'
import { ask } from './host.js'

/** What launchctl says of a label or a domain that is not there, or cannot take agents. */
const says = { noProcess: 3, underWay: 36, disabled: 119, noDomain: 112, noService: 113,
  unfit: 125 }

/** Only a session at the screen has timers of the user that macOS shows to them. */
const domainOf = ({ self }: VerbDeps): string => `gui/${self.uid ?? 'none'}`

/** How an agent stands; `nowhere`: there is no session at the screen to ask. */
export type AgentState = AgentRuns | 'gone' | 'nowhere' | 'unknown'

export const askAgent = async (deps: VerbDeps, label: string): Promise<AgentState> => {
  const { status, out } = await ask(deps, 'launchctl', ['print', `${domainOf(deps)}/${label}`])
  if (status === 0) return agentRunsOf(out)
  if (status === says.noService || status === says.noProcess) return 'gone'
  return status === says.noDomain || status === says.unfit ? 'nowhere' : 'unknown'
}

const noSession = (): SallyportError =>
  fail.blocked('launchd_no_session', 'You are not logged in at the screen of this Mac.', {
    next: 'launchd takes agents of a user there alone. Log in at the screen and try again, or '
      + 'choose --with cron.',
  })

const refused = (deps: VerbDeps, verb: string, label: string, status: number | null) =>
  fail.failed('launchd_refused', `launchctl ${verb} did not succeed.`, {
    next: status === says.disabled
      ? `The agent was switched off: launchctl enable ${domainOf(deps)}/${label}, then try again.`
      : `Look with launchctl print ${domainOf(deps)}/${label}, and take the agents out with `
        + '`sallyport timers remove`.',
    details: { label, status },
  })

/** How long a run that was told to end is waited for: its 150 seconds and some more. */
const [endingMs, lookMs] = [170_000, 250]

const waitUntilGone = async (deps: VerbDeps, label: string, untilMs: number): Promise<boolean> => {
  for (let isTold = false; ;) {
    const state = await askAgent(deps, label)
    if (state === 'gone' || state === 'nowhere') return true
    if (deps.clock.monotonicMs() >= untilMs) return false
    if (!isTold) deps.note('A run is told to end; that can take two minutes.')
    isTold = true
    await deps.clock.sleep(lookMs, deps.stop).catch(() => undefined)
  }
}

/**
 * Takes an agent out of launchd and waits until it is gone: a run of it comes to its end first, and
 * nothing can be loaded in its place until then. What was not loaded is fine. Throws `failed`
 * `launchd_refused`, and as `ask`.
 */
export const bootOut = async (deps: VerbDeps, label: string): Promise<void> => {
  const { status } = await ask(deps, 'launchctl', ['bootout', `${domainOf(deps)}/${label}`])
  if (status === says.noProcess || status === says.noService) return
  // One that did not answer in time may have been heard all the same.
  const isHeard = status === 0 || status === says.underWay || status === -1
  const untilMs = deps.clock.monotonicMs() + (isHeard ? endingMs : 0)
  if (!await waitUntilGone(deps, label, untilMs)) throw refused(deps, 'bootout', label, status)
}

/** Loads an agent from its file. Throws `failed` `launchd_refused`, and as `ask`. */
export const bootStrap = async (deps: VerbDeps, label: string, path: string): Promise<void> => {
  const { status } = await ask(deps, 'launchctl', ['bootstrap', domainOf(deps), path])
  if (status !== 0) throw refused(deps, 'bootstrap', label, status)
}

/** Throws `blocked` `launchd_no_session` where launchd would take no agent of this user. */
export const requireSession = async (deps: VerbDeps, label: string): Promise<void> => {
  if (await askAgent(deps, label) === 'nowhere') throw noSession()
}
