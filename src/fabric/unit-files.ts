/**
 * What is wrong with the files by which systemd would start the service. Pure over their text: the
 * last word of a field counts, an empty one takes back those before it, as systemd reads them.
 */
import { stopSecondsMin } from './stop-seconds.js'

/** Values by section and field, in their order. */
export type Unit = ReadonlyMap<string, readonly string[]>

const key = (section: string, field: string): string => `${section}.${field}`

export const unitOf = (text: string): Unit => {
  const unit = new Map<string, readonly string[]>()
  let section = ''
  for (const raw of text.replace(/\\\n/g, ' ').split('\n')) {
    const line = raw.trim()
    if (line === '' || /^[#;]/.test(line)) continue
    section = /^\[(.+)\]$/.exec(line)?.[1] ?? section
    const [, field = '', value = ''] = /^([A-Za-z0-9]+)\s*=\s*(.*)$/.exec(line) ?? []
    if (field === '') continue
    const name = key(section, field)
    unit.set(name, value === '' ? [] : [...unit.get(name) ?? [], value])
  }
  return unit
}

const last = (unit: Unit, section: string, field: string): string | undefined =>
  unit.get(key(section, field))?.at(-1)

const loopback = /^(?:127\.0\.0\.1|\[::1\]):\d+$/

/** What is wrong with a socket for a service on this port; null: nothing. */
export const socketProblem = (unit: Unit, port: number): string | null => {
  const addresses = unit.get(key('Socket', 'ListenStream')) ?? []
  const own = [`127.0.0.1:${port}`, `[::1]:${port}`]
  const others = [...unit].some(([name, values]) =>
    /^Socket\.Listen(?!Stream)/.test(name) && values.length > 0)
  if (others || addresses.some((one) => !loopback.test(one))) {
    return 'listens elsewhere than on loopback; the service refuses it'
  }
  if (!own.every((one) => addresses.includes(one))) {
    return `does not listen on port ${port} of both 127.0.0.1 and ::1`
  }
  if (addresses.length > own.length) return 'passes more than two sockets; the service refuses it'
  return /^(?:yes|true|on|1)$/i.test(last(unit, 'Socket', 'Accept') ?? '')
    ? 'starts a service for each connection (Accept=yes)' : null
}

/** Seconds of a time as systemd writes it; null for what is none. */
const secondsOf = (text: string): number | null => {
  if (text === 'infinity') return Infinity
  const units: Readonly<Record<string, number>> = {
    '': 1, 's': 1, 'sec': 1, 'second': 1, 'seconds': 1, 'm': 60, 'min': 60, 'minute': 60,
    'minutes': 60, 'h': 3_600, 'hr': 3_600, 'hour': 3_600, 'hours': 3_600, 'ms': 0.001,
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]*)\s*/g)]
  const isWhole = parts.map(([whole]) => whole).join('') === text
  const seconds = parts.map(([, count, unit = '']) => Number(count) * (units[unit] ?? NaN))
  const sum = seconds.reduce((all, one) => all + one, 0)
  return isWhole && parts.length > 0 && !Number.isNaN(sum) ? sum : null
}

/** A line of a unit in words, as systemd takes quotes apart; `%h` is the user's home. */
const wordsOf = (command: string, home: string): readonly string[] =>
  [...command.replace(/^[@:+!|-]+/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
    .map(([, double, single, plain]) => (double ?? single ?? plain ?? '').replaceAll('%h', home))

/**
 * What is wrong with a service; null: nothing. `runs` tells whether a program of this absolute path
 * can be run.
 */
export const serviceProblem = (
  unit: Unit, runs: (path: string) => boolean, home: string,
): string | null => {
  const [command, ...more] = unit.get(key('Service', 'ExecStart')) ?? []
  if (command === undefined || more.length > 0) return 'has not exactly one ExecStart'
  const [program = '', ...words] = wordsOf(command, home)
  if (!program.startsWith('/')) return 'names its program by no absolute path'
  if (!runs(program)) return 'names a program that cannot be run'
  if (!words.includes('serve')) return 'does not run `serve`'
  if (last(unit, 'Service', 'KillMode') !== 'mixed') {
    return 'has no KillMode=mixed: a stop would end what is still under way'
  }
  const stop = last(unit, 'Service', 'TimeoutStopSec') ?? last(unit, 'Service', 'TimeoutSec')
  // systemd takes 0 for no limit.
  const seconds = stop === '0' ? Infinity : secondsOf(stop ?? '') ?? 0
  return seconds < stopSecondsMin
    ? `gives a stop less than ${stopSecondsMin} seconds (TimeoutStopSec)` : null
}
