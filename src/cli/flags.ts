/**
 * Typed flags. A value is taken strictly or refused: no sign, exponent, hex, space or unit is
 * guessed, and no error text holds the value itself.
 */
import { Option } from 'commander'
import { durationText, unitMs } from '../base/duration.js'
import { fail } from '../base/errors.js'
import { parseClosed, strictIntegerText } from '../base/schema.js'

/** Inclusive range of an integer flag. */
export interface Range {
  readonly min: number
  readonly max: number
}

const integer = (name: string, text: string, { min, max }: Range): number =>
  parseClosed(strictIntegerText(min, max), text, { code: 'flag_invalid', what: `flag ${name}` })

/** A flag that takes a plain integer, for example `--limit <n>`. */
export const integerFlag = (flags: string, text: string, range: Range): Option => {
  const option = new Option(flags, `${text} (${range.min} to ${range.max})`)
  return option.argParser((value) => integer(option.long ?? flags, value, range))
}

/** A flag that takes an amount of money: an integer of micro-USD (1000000 is one dollar). */
export const moneyFlag = (flags: string, text: string, range: Range): Option => {
  const option = new Option(flags, `${text} (micro-USD, ${range.min} to ${range.max})`)
  return option.argParser((value) => integer(option.long ?? flags, value, range))
}

const durationForm = /^([1-9][0-9]{0,8})([smhd])$/

/** Milliseconds of a duration such as `45s`, `30m`, `8h` or `7d`; bounds in milliseconds. */
export const parseDuration = (name: string, text: string, { min, max }: Range): number => {
  const [, count, unit] = durationForm.exec(text) ?? []
  if (count === undefined || unit === undefined) {
    throw fail.rejected('flag_invalid', `Flag ${name} must be a duration such as 45s, 30m or 8h.`, {
      details: { field: name, rule: 'duration' },
    })
  }
  const ms = Number(count) * unitMs[unit as keyof typeof unitMs]
  if (ms >= min && ms <= max) return ms
  const limits = `from ${durationText(min)} to ${durationText(max)}`
  throw fail.rejected('flag_invalid', `Flag ${name} must be a duration ${limits}.`, {
    details: { field: name, rule: 'duration', min_ms: min, max_ms: max },
  })
}

/** A flag that takes a duration and gives milliseconds. */
export const durationFlag = (flags: string, text: string, range: Range): Option => {
  const limits = `${durationText(range.min)} to ${durationText(range.max)}`
  const option = new Option(flags, `${text} (${limits})`)
  return option.argParser((value) => parseDuration(option.long ?? flags, value, range))
}

/** A flag that takes one of a few words. */
export const choiceFlag = (flags: string, text: string, choices: readonly string[]): Option => {
  const option = new Option(flags, `${text} (${choices.join(', ')})`)
  // Not `choices()`: its error text repeats what was typed.
  option.argChoices = [...choices]
  return option.argParser((value) => {
    if (choices.includes(value)) return value
    const name = option.long ?? flags
    throw fail.rejected('flag_invalid', `Flag ${name} must be one of ${choices.join(', ')}.`, {
      details: { field: name, rule: 'choice' },
    })
  })
}
