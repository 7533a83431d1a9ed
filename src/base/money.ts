/** Money as people write it. Amounts are integers of micro-USD everywhere else. */

const grouped = (digits: string): string => digits.replace(/\B(?=(?:\d{3})+$)/g, ',')

/**
 * An amount for people: `$0.0138 (13,800 µUSD)`. Dollars are written from the digits, with two
 * decimals or more and never rounded.
 */
export const moneyText = (microusd: number): string => {
  const sign = microusd < 0 ? '-' : ''
  return `${dollarsText(microusd)} (${sign}${grouped(String(Math.abs(microusd)))} µUSD)`
}

/** The dollars of it alone, where a table has no room for more: `$0.0138`. */
export const dollarsText = (microusd: number): string => {
  const digits = String(Math.abs(microusd)).padStart(7, '0')
  const [whole, rest] = [digits.slice(0, -6), digits.slice(-6)]
  const decimals = rest.replace(/0+$/, '').padEnd(2, '0')
  const sign = microusd < 0 ? '-' : ''
  return `${sign}$${grouped(whole)}.${decimals}`
}

const dollarForm = /^(0|[1-9][0-9]{0,9})(?:\.([0-9]{1,6}))?usd$/

/** As a flag or a form takes it: `0.0138usd`, which `microusdOf` reads. No amount below zero. */
export const usdText = (microusd: number): string =>
  `${dollarsText(microusd).replace(/[$,]/g, '')}usd`

/** Micro-USD of an amount such as `5.00usd`, by its digits; null for a text of any other form. */
export const microusdOf = (text: string): number | null => {
  const [, whole, decimals = ''] = dollarForm.exec(text) ?? []
  return whole === undefined ? null : Number(`${whole}${decimals.padEnd(6, '0')}`)
}
