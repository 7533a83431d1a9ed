/**
 * Typed flags. A value is taken strictly or refused: no sign, exponent, hex, space or unit is
 * guessed, and no error text holds the value itself.
 */
import { Option, type Argument, type Command } from 'commander'
import { durationText, unitMs } from '../base/duration.js'
import { fail } from '../base/errors.js'
import { microusdOf, moneyText } from '../base/money.js'
import { pageDefault, pageRowsMax } from '../base/page.js'
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

/** How many rows a list gives: `pageDefault` unless said. */
export const limitFlag = (text: string, max = pageRowsMax): Option =>
  integerFlag('--limit <n>', text, { min: 1, max }).default(pageDefault)

/** How many rows a list gives that is whole otherwise. */
export const partFlag = (text: string): Option =>
  integerFlag('--limit <n>', text, { min: 1, max: pageRowsMax })

/** A flag that takes a number of something that is counted from 1, a revision for example. */
export const numberFlag = (flags: string, text: string): Option =>
  integerFlag(flags, text, { min: 1, max: Number.MAX_SAFE_INTEGER })

const micro = '-microusd'

/** The name in camel case of the flag in micro-USD, by its sister in dollars. */
const sisters = new WeakMap<Option, string>()

const dollars = (name: string, text: string, { min, max }: Range): number => {
  const amount = microusdOf(text)
  if (amount !== null && amount >= min && amount <= max) return amount
  const limits = `${moneyText(min)} to ${moneyText(max)}`
  throw fail.rejected('flag_invalid', amount === null
    ? `Flag ${name} must be an amount such as 5.00usd, with at most six decimals.`
    : `Flag ${name} must be an amount from ${limits}.`, {
    details: { field: name, rule: 'money', min_microusd: min, max_microusd: max },
  })
}

/** Range of each flag in micro-USD, for its sister. */
const moneyRanges = new WeakMap<Option, Range>()

/**
 * A flag that takes an amount of money: an integer of micro-USD (1000000 is one dollar). Its name
 * ends with `-microusd`; `addMoneySisters` puts one in dollars beside it.
 */
export const moneyFlag = (flags: string, text: string, range: Range): Option => {
  const option = new Option(flags, `${text} (micro-USD, ${range.min} to ${range.max})`)
  moneyRanges.set(option, range)
  return option.argParser((value) => integer(option.long ?? flags, value, range))
}

/**
 * Puts a flag in dollars (`--spend-ceiling 5.00usd`) behind each in micro-USD; `withMoney` gives
 * its value under the name of the first.
 */
export const addMoneySisters = (command: Command): Command => {
  const given = [...command.options]
  for (const option of given) {
    const range = moneyRanges.get(option)
    if (range === undefined) continue
    const sister = new Option(
      `${(option.long ?? '').replace(micro, '')} <usd>`, 'the same in dollars, as 5.00usd')
    sister.argParser((value) => dollars(sister.long ?? '', value, range))
    sisters.set(sister, option.attributeName())
    command.addOption(sister)
    given.splice(given.indexOf(option) + 1, 0, sister)
  }
  // Help shows a flag and its sister side by side.
  const order = command.options as Option[]
  order.splice(0, order.length, ...given)
  return command
}

/** What was given in dollars, under the names in micro-USD. Throws `usage` where both were. */
export const withMoney = (
  command: Command, given: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const values = { ...given }
  for (const option of command.options) {
    const name = sisters.get(option)
    const own = option.attributeName()
    if (name === undefined || values[own] === undefined) continue
    if (values[name] !== undefined) {
      throw fail.usage('money_twice', `Give one of ${option.long} and ${option.long}${micro}.`)
    }
    values[name] = values[own]
    delete values[own]
  }
  return values
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

/** What completion offers, by the flag or argument. */
const words = new WeakMap<Argument | Option, readonly string[]>()

/**
 * Words that completion offers for a flag or an argument. What is given is judged where it is read:
 * commander's own `choices()` would repeat what was typed, and its help say the words twice.
 */
export const offered = <T extends Argument | Option>(taker: T, offers: readonly string[]): T => {
  words.set(taker, offers)
  return taker
}

/** Words that completion offers for a flag or an argument; none where it takes others. */
export const offeredFor = (taker: Argument | Option): readonly string[] => words.get(taker) ?? []

/** A flag that takes one of a few words. */
export const choiceFlag = (flags: string, text: string, choices: readonly string[]): Option => {
  const option = offered(new Option(flags, `${text} (${choices.join(', ')})`), choices)
  return option.argParser((value) => {
    if (choices.includes(value)) return value
    const name = option.long ?? flags
    throw fail.rejected('flag_invalid', `Flag ${name} must be one of ${choices.join(', ')}.`, {
      details: { field: name, rule: 'choice' },
    })
  })
}
