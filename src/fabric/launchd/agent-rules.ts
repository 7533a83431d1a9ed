/**
 * What launchd asks of an agent, and what this program asks of its own. Pure over a parsed property
 * list; where each rule comes from tells docs/dev/launchd.md.
 */
import { isAbsolute } from 'node:path'
import { stopSecondsMin } from '../stop-seconds.js'

/** What an agent is held to. */
export interface AgentAsked {
  /** A job at its times, or a program that stays. */
  readonly kind: 'timer' | 'service'
  readonly file: string
  /** What it runs: `shots scan`. */
  readonly verb: string
  /** Whether a program of this absolute path can be run. */
  readonly runs: (path: string) => boolean
}

type Dict = Readonly<Record<string, unknown>>

const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const isWhole = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max

/** Shortest time between two starts that launchd itself keeps to, seconds. */
const throttleSecondsMin = 10

/** Ranges of the fields of a time, as launchd takes them. */
const calendarFields: Readonly<Record<string, readonly [number, number]>> = {
  Minute: [0, 59], Hour: [0, 23], Day: [1, 31], Weekday: [0, 7], Month: [1, 12],
}

const isTime = (value: unknown): boolean => isDict(value) && Object.keys(value).length > 0
  && Object.entries(value).every(([field, at]) => {
    const [min, max] = calendarFields[field] ?? [1, 0]
    return isWhole(at, min, max)
  })

const isCalendar = (value: unknown): boolean =>
  (Array.isArray(value) ? value.length > 0 && value.every(isTime) : isTime(value))

/** Seconds that an interval has at least: what is due more often is no timer. */
const intervalSecondsMin = 60

const scheduleProblem = (agent: Dict): string | null => {
  const { StartInterval: interval, StartCalendarInterval: calendar } = agent
  if ((interval === undefined) === (calendar === undefined)) {
    return 'has not exactly one of StartInterval and StartCalendarInterval'
  }
  if (interval !== undefined && !isWhole(interval, intervalSecondsMin, 86_400)) {
    return 'has an interval that is no whole number of seconds from a minute to a day'
  }
  if (calendar !== undefined && !isCalendar(calendar)) return 'has a time that no clock shows'
  if (agent['KeepAlive'] !== undefined) return 'is kept alive, so that it would run without end'
  return agent['RunAtLoad'] === undefined ? null
    : 'runs at each login besides its times (RunAtLoad)'
}

const keptProblem = (agent: Dict): string | null => {
  const kept = agent['KeepAlive']
  if (!isDict(kept) || kept['SuccessfulExit'] !== false || Object.keys(kept).length > 1) {
    return 'is not KeepAlive with SuccessfulExit false alone: a stop would not last, or a crash '
      + 'would'
  }
  if (agent['RunAtLoad'] !== true) return 'does not start at a login (RunAtLoad)'
  return isWhole(agent['ThrottleInterval'], throttleSecondsMin, 3_600) ? null
    : `may start again sooner than after ${throttleSecondsMin} seconds (ThrottleInterval)`
}

const labelProblem = (agent: Dict, file: string): string | null => {
  const label = agent['Label']
  if (typeof label !== 'string' || !/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+){2,}$/.test(label)) {
    return 'has no Label of the form of a reversed domain name'
  }
  return file === `${label}.plist` ? null : 'has a Label that is not the name of its file'
}

const programProblem = (agent: Dict, { runs, verb }: AgentAsked): string | null => {
  const words = agent['ProgramArguments']
  if (!isTexts(words)) return 'has no ProgramArguments'
  const program = agent['Program'] ?? words[0]
  if (typeof program !== 'string' || !isAbsolute(program)) {
    return 'names its program by no absolute path'
  }
  if (!runs(program)) return 'names a program that cannot be run'
  return words.join(' ').includes(verb) ? null : `does not run \`${verb}\``
}

/** What would let others read of it, or keep it from its end. */
const surroundings = (agent: Dict): string | null => {
  const env = agent['EnvironmentVariables'] ?? {}
  if (!isDict(env) || !isTexts(Object.values(env))) return 'has variables that are no texts'
  if ('SALLYPORT_SESSION' in env) return 'holds a session, which whoever copies the file has then'
  const paths = ['StandardOutPath', 'StandardErrorPath'].map((key) => agent[key])
  if (paths.some((path) => path !== undefined && !(typeof path === 'string' && isAbsolute(path)))) {
    return 'names its log by no absolute path'
  }
  return isWhole(agent['ExitTimeOut'], stopSecondsMin, 86_400) ? null
    : `gives a stop less than ${stopSecondsMin} seconds (ExitTimeOut)`
}

/** What is wrong with an agent, a parsed property list; null: nothing. */
export const agentProblem = (agent: unknown, asked: AgentAsked): string | null => {
  if (!isDict(agent)) return 'is no property list of one dictionary'
  return labelProblem(agent, asked.file) ?? programProblem(agent, asked) ?? surroundings(agent)
    ?? (asked.kind === 'timer' ? scheduleProblem(agent) : keptProblem(agent))
}
