/**
 * What `launchctl print` says of an agent. Its manual calls the form of it no interface, so what is
 * not found there is null and never an error. Pure.
 */

/** How an agent stands with launchd. */
export interface AgentRuns {
  readonly state: 'waiting' | 'running'
  /** Runs since it was loaded; null where launchd does not tell. */
  readonly runs: number | null
  /** How the last run ended: its exit status; null before the first, or by a signal. */
  readonly lastExit: number | null
  /** The signal that ended the last run; null for none. */
  readonly lastSignal: number | null
}

const numberOf = (text: string, pattern: RegExp): number | null => {
  const [, digits] = pattern.exec(text) ?? []
  return digits === undefined ? null : Number(digits)
}

/** Reads what was printed of a loaded agent. */
export const agentRunsOf = (printed: string): AgentRuns => ({
  state: /^\tstate = running$/m.test(printed) ? 'running' : 'waiting',
  runs: numberOf(printed, /^\truns = (\d{1,9})$/m),
  lastExit: numberOf(printed, /^\tlast exit code = (\d{1,3})(?:$|:)/m),
  lastSignal: numberOf(printed, /^\tlast terminating signal = (?:.*: )?(\d{1,2})$/m),
})
