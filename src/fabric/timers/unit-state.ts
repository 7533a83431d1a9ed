/**
 * What `systemctl show` says of the units of jobs: a block of `Key=Value` lines a unit. What is
 * not found there is null or `unknown`, and never an error. Pure.
 */
import { timerNames } from './jobs.js'
import type { Timers } from './timers-contract.js'
import { unitPrefix } from './units.js'

/** How a job stands with systemd. */
export type UnitState = Timers['units'][number]

type Properties = ReadonlyMap<string, string>

/** What is asked of each unit. */
export const unitProperties = 'Id,ActiveState,SubState,ExecMainCode,ExecMainStatus'

/** The reasons of waitid(2) for a process that is gone. */
const [exited, killed, dumped] = ['1', '2', '3']

const blocksOf = (printed: string): readonly Properties[] =>
  printed.split('\n\n').map((block) => new Map(block.split('\n').map((line) => {
    const at = line.indexOf('=')
    return [line.slice(0, at), line.slice(at + 1)]
  })))

const stateOf = (service: Properties, timer: Properties | undefined): UnitState['state'] => {
  const active = service.get('ActiveState')
  if (service.get('SubState') === 'auto-restart') return 'waiting'
  if (active === 'active' || active === 'activating' || active === 'deactivating') return 'running'
  if (active !== 'failed' && active !== 'inactive') return 'unknown'
  // A job that failed is run again by its timer; what stays has none.
  if (timer?.get('ActiveState') === 'active') return 'waiting'
  return active === 'failed' && timer === undefined ? 'failed' : 'stopped'
}

const endOf = (service: Properties): Pick<UnitState, 'last_exit' | 'last_signal'> => {
  const [code, status] = [service.get('ExecMainCode'), Number(service.get('ExecMainStatus'))]
  const isKnown = Number.isInteger(status)
  return {
    last_exit: code === exited && isKnown ? status : null,
    last_signal: (code === killed || code === dumped) && isKnown ? status : null,
  }
}

/** Reads what was printed of the units of one state, in the order of the jobs. */
export const unitStatesOf = (id: string, names: readonly string[], printed: string):
readonly UnitState[] => {
  const told = new Map(blocksOf(printed).map((block) => [block.get('Id') ?? '', block]))
  return timerNames.flatMap((job) => {
    const [unit, timer] = [`${unitPrefix(id)}${job}.service`, `${unitPrefix(id)}${job}.timer`]
    if (!names.includes(unit)) return []
    const service = told.get(unit) ?? new Map<string, string>()
    const ofTimer = names.includes(timer) ? told.get(timer) ?? new Map<string, string>() : undefined
    const starts = ofTimer === undefined ? unit : timer
    return [{ unit, starts, job, state: stateOf(service, ofTimer), ...endOf(service) }]
  })
}
