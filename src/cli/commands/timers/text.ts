import { durationText } from '../../../base/duration.js'
import type { Timers } from '../../../fabric/timers/contract.js'

const line = (name: string, value: string): string => `${name.padEnd(11)}${value}`

const lingeringText = ({ scheduler, lingering }: Timers): readonly string[] => {
  if (scheduler !== 'systemd') return []
  if (lingering === null) return [line('lingering', 'not known; see loginctl')]
  return [line('lingering', lingering
    ? 'on: they run while you are logged out'
    : 'off: they run only while you are logged in; to change that: loginctl enable-linger')]
}

const proofLines = ({ proofs, renew_proof: renews }: Timers): readonly string[] => {
  const ages = proofs.map(({ slot, state, age_seconds: age }) =>
    line('proof', `${slot}: ${state}${age === null ? '' : `, ${durationText(age * 1_000)} old`}`))
  return ages.length === 0 || renews !== false ? ages : [
    ...ages,
    line('', 'it is stale after 24 h and nothing is sent then; a job renews it with'),
    line('', 'sallyport shots config set --renew-proof on'),
  ]
}

/** What is installed and what it last did, as text. */
export const timersText = (timers: Timers): string => [
  line('timers', timers.scheduler ?? 'none: sallyport timers install'),
  ...timers.entries.map((entry) => line('', entry)),
  ...lingeringText(timers),
  ...(timers.last_runs === null ? [] : Object.entries(timers.last_runs).map(([job, at]) =>
    line('last run', `${job}: ${at ?? 'none known'}`))),
  ...proofLines(timers),
  '',
].join('\n')
