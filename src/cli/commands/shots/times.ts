/** Flags that name a moment. */
import { Option } from 'commander'
import { fail } from '../../../base/errors.js'
import { isoFromMs } from '../../../base/clock.js'

const clockForm = String.raw`T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?`
const isoForm = new RegExp(String.raw`^(\d{4}-\d{2}-\d{2})(?:${clockForm})?$`)
const agoForm = /^([1-9][0-9]{0,4})([mhd])$/
const agoMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const invalid = (name: string): Error => fail.rejected(
  'flag_invalid', `Flag ${name} must be a time such as 2026-11-20, 2026-11-20T14:00Z or 24h.`,
  { details: { field: name, rule: 'time' } },
)

/**
 * Milliseconds since 1970 of a moment: a date (its midnight), a date and time, both in the zone of
 * this machine unless they name one, or an age before now (`90m`, `24h`, `7d`). Throws `rejected`.
 */
export const parseMoment = (name: string, text: string, nowMs: number): number => {
  const [, count, unit] = agoForm.exec(text) ?? []
  if (count !== undefined) return nowMs - Number(count) * agoMs[unit as keyof typeof agoMs]
  const [, day, time = '00:00', zone = ''] = isoForm.exec(text) ?? []
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${zone}`)
  if (Number.isNaN(ms)) throw invalid(name)
  // A day that does not exist rolls over; nobody means that.
  if (isoFromMs(Date.parse(`${day}T00:00Z`)).slice(0, 10) !== day) throw invalid(name)
  return ms
}

/** A moment as a flag takes it; read against the clock by the verb. */
export interface Moment {
  /** ISO text. */
  at(nowMs: number): string
}

/** A flag that takes a moment. */
export const momentFlag = (flags: string, text: string): Option => {
  const option = new Option(flags, `${text} (date, time or age such as 24h)`)
  const name = option.long ?? flags
  return option.argParser((value): Moment => {
    parseMoment(name, value, 0)
    return { at: (nowMs) => isoFromMs(parseMoment(name, value, nowMs)) }
  })
}
