/** Questions that the set-up forms ask alike: amounts, limits and how a refusal is told at once. */
import { fail, SallyportError } from '../base/errors.js'
import { dollarsText, microusdOf } from '../base/money.js'
import type { Gov } from '../governance/context.js'
import { collections } from '../governance/rows.js'
import { fieldForm } from './field-flags.js'
import type { Range } from './flags.js'
import type { Prompter } from './prompt.js'

/** What is said of an empty change. */
export const nothingChanges = 'Nothing changes; nothing is saved.'

/** What the people who use forms read before the yes. */
export const changeText = (changes: readonly string[]): string =>
  ['This would change:', ...changes].join('\n')

/** A limit that is asked for. */
export interface Limit {
  readonly message: string
  /** What the first choice, and so Enter alone, says: that nothing changes. */
  readonly keep: string
  /** What Enter alone takes in a rehearsal, one of the offers; left out: that nothing changes. */
  readonly first?: number | undefined
  /** Round values to choose from; the operator's own bounds, nobody's prices. */
  readonly offers: readonly number[]
  /** What stands, which is offered no second time; null where nothing does. */
  readonly now: number | null
  readonly range: Range
  /** A value for people. */
  label(value: number): string
  /** Reads what was typed; null for what is no value. */
  read(text: string): number | null
  /** How a value is written, said of one that was refused. */
  readonly form: string
}

/**
 * Reads an amount: micro-USD as a plain integer, or dollars as `5.00usd`, or as `$5.00`, which is
 * how forms show them; null for neither.
 */
const readMoney = (text: string): number | null =>
  (/^(?:0|[1-9][0-9]{0,9})$/.test(text) ? Number(text)
    : microusdOf(text.replace(/^\$([0-9.]+)$/, '$1usd')))

/** Reads a plain positive integer; null for anything else. */
export const readInteger = (text: string): number | null =>
  (/^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : null)

/** The parts of a limit that is an amount of money. */
export const moneyLimit = {
  label: dollarsText, read: readMoney, form: 'an amount as $0.50, or a whole number of micro-USD',
} as const

/** Reads seconds, a fraction too; null for anything else. */
const readSeconds = (text: string): number | null =>
  (/^(?:0|[1-9][0-9]{0,2})(?:\.[0-9]{1,6})?$/.test(text) ? Number(text) : null)

/** The parts of a limit that is a time. */
export const secondsLimit = {
  label: (seconds: number) => `${seconds} s`, read: readSeconds, form: 'seconds, as 30',
} as const

/** The one ceiling as it stands, micro-USD; null before there is one. */
export const standingCeiling = ({ store }: Gov): number | null =>
  store.read().all(collections.ledgerAccounts).at(0)?.doc.ceiling_microusd ?? null

/** What a first set-up takes, under Enter. */
export const asFirst = (value: string): string => `${value}, the default`

const other = 'another value'

/** What is wrong with a typed value; null for a good one. */
const problemOf = ({ read, range, form, label }: Limit, text: string): string | null => {
  const value = read(text)
  if (value === null) return `Type ${form}.`
  if (value >= range.min && value <= range.max) return null
  return `It must be from ${label(range.min)} to ${label(range.max)}.`
}

/**
 * Asks for a limit by the arrow keys, or typed; undefined where it stays. Throws `rejected`
 * `form_number` for an answer that no terminal would have let through.
 */
export const askLimit = async (prompter: Prompter, limit: Limit): Promise<number | undefined> => {
  const { message, keep, first, now, label, range } = limit
  const offers = limit.offers.filter((one) => one !== now && one >= range.min && one <= range.max)
  const labels = new Map(offers.map((one) => [label(one), one]))
  const chosen = await prompter.choose(
    message, [keep, ...labels.keys(), other], first === undefined ? keep : label(first))
  if (chosen !== other) return labels.get(chosen)
  const text = await prompter.text(
    `${message} (Enter: ${keep})`, '', (typed) => (typed === '' ? null : problemOf(limit, typed)))
  const problem = text === '' ? null : problemOf(limit, text)
  if (problem !== null) throw fail.rejected('form_number', problem)
  const value = limit.read(text)
  return value === null || value === now ? undefined : value
}

/** What a check refuses of a field that is left, whose own name nobody sees; null for none. */
export const refusalOf = async (check: () => unknown): Promise<string | null> => {
  try {
    await check()
    return null
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return error.message.replace(fieldForm, 'It ')
  }
}
