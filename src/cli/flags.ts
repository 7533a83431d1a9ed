/**
 * Typed flags. A value is taken strictly or refused: no sign, exponent, hex, space or unit is
 * guessed, and no error text holds the value itself.
 */
import { Option, type Argument, type Command } from 'commander'
import { durationText, unitMs } from '../base/duration.js'
import { fail } from '../base/errors.js'
import { microusdOf, moneyText, usdText } from '../base/money.js'
import { pageDefault, pageRowsMax } from '../base/page.js'
import { parseClosed, strictIntegerText } from '../base/schema.js'
import { closeTo } from './edit-distance.js'

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
  // Under another name it is parsed alike, and an error tells the name that was typed.
  return option.argParser(function parse(this: Option, value: string) {
    return integer(this.long ?? flags, value, range)
  })
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

/** What a flag is called today, by the flag under its older name, which code reads it by. */
const todays = new WeakMap<Option, Option>()

/** What is typed today in the place of an older flag. */
const instead = new WeakMap<Option, string>()

/** A flag by an older name, in no help and no completion; `today` is what is typed in its place. */
export const olderFlag = (option: Option, today: string): Option => {
  instead.set(option, today)
  return option.hideHelp()
}

/** What is typed today in the place of a flag; null of a flag of today. */
export const todayOf = (option: Option): string | null => instead.get(option) ?? null

/** The name in camel case under which a flag of today is read. */
const readAs = new WeakMap<Option, string>()

/**
 * A flag with another name today. It goes on being taken by its older one, which no help and no
 * completion shows, and its value is read under that one.
 */
export const renamed = (older: Option, name: string): Option => {
  const [, value = ''] = /(?: (.*))?$/.exec(older.flags) ?? []
  const option = new Option(`${name}${value === '' ? '' : ` ${value}`}`, older.description)
  if (older.parseArg !== undefined) option.argParser(older.parseArg)
  todays.set(older, option)
  return olderFlag(older, name)
}

/** The one flag of what a person acknowledges in a line, by the older name that it had there. */
export const acknowledgeFlag = (older: string, text: string): Option =>
  renamed(new Option(older, text), '--acknowledge')

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

/**
 * A flag that takes an amount of money, `--amount 0.05usd`. Its older name ends with `-microusd`
 * and takes an integer of micro-USD (1000000 is one dollar), which is how it is read.
 */
export const moneyFlag = (flags: string, text: string, range: Range): Option => {
  const older = new Option(flags, `${text} (micro-USD, ${range.min} to ${range.max})`)
  older.argParser((value) => integer(older.long ?? flags, value, range))
  const name = (older.long ?? '').replace(micro, '')
  const option = new Option(
    `${name} <usd>`, `${text} (${usdText(range.min)} to ${usdText(range.max)})`)
  option.argParser((value) => dollars(name, value, range))
  todays.set(older, option)
  return olderFlag(older, name)
}

/** Puts each flag that is called otherwise today in its place, under that name. */
export const addTodaysFlags = (command: Command): Command => {
  const given = command.options.flatMap((older) => {
    const option = todays.get(older)
    if (option === undefined) return [older]
    readAs.set(option, older.attributeName())
    return [option, older]
  })
  for (const option of given) if (readAs.has(option)) command.addOption(option)
  const order = command.options as Option[]
  order.splice(0, order.length, ...given)
  return command
}

/**
 * What was given, under the names that it is read by. Throws `usage` where one was given a value
 * by both of its names.
 */
export const asRead = (
  command: Command, given: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const values = { ...given }
  for (const option of command.options) {
    const name = readAs.get(option)
    const own = option.attributeName()
    if (name === undefined || values[own] === undefined) continue
    const value = values[own]
    delete values[own]
    if (values[name] !== undefined && value !== true) {
      const older = command.options.find((one) => one.attributeName() === name)
      throw fail.usage('money_twice', `Give one of ${option.long} and ${older?.long}.`)
    }
    values[name] = value
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

/** Short words are close to their opposites, too: who typed `no` is not led to `on`. */
const nearOf = (value: string, choices: readonly string[]): string | undefined => {
  const long = (word: string): boolean => word.length > 3
  const near = long(value) ? closeTo(value, choices.filter(long)) : []
  return near.length === 1 ? near[0] : undefined
}

/** A flag that takes one of a few words; `meant` has what people type for one of them. */
export const choiceFlag = (
  flags: string, text: string, choices: readonly string[],
  meant: Readonly<Record<string, string>> = {},
): Option => {
  const option = offered(new Option(flags, `${text} (${choices.join(', ')})`), choices)
  return option.argParser((value) => {
    if (choices.includes(value)) return value
    const name = option.long ?? flags
    const near = new Map(Object.entries(meant)).get(value) ?? nearOf(value, choices)
    throw fail.rejected('flag_invalid', `Flag ${name} must be one of ${choices.join(', ')}.`, {
      ...(near === undefined ? {} : { next: `Did you mean ${name} ${near}?` }),
      details: { field: name, rule: 'choice' },
    })
  })
}
