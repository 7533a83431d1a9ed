/** Times, money and sizes as the page says them. */

/** Micro-dollars, with as many digits as count and two at least. */
export const dollars = (microusd: number): string => {
  const digits = String(microusd).padStart(7, '0')
  const part = digits.slice(-6)
  return `$${digits.slice(0, -6)}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, '')}`
}

/** So many seconds, in the two largest units that say something. */
export const span = (seconds: number): string => {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} days`
}

/** Date and time of a moment, where the browser is. */
export const day = (iso: string): string => new Date(iso).toLocaleString([], {
  month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23',
})

/** Time of a moment, to the second. */
export const timeOfDay = (iso: string): string =>
  new Date(iso).toLocaleTimeString([], { hourCycle: 'h23' })

export const secondsBetween = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / 1_000

/** How long ago a moment was. */
export const ago = (iso: string | null, now: string): string =>
  (iso === null ? 'never' : `${span(secondsBetween(iso, now))} ago`)

/** A code as words. */
export const wordly = (text: string): string => text.replaceAll('_', ' ')

/** A size. */
export const bytes = (count: number): string =>
  (count < 1_048_576 ? `${Math.ceil(count / 1_024)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`)

/** So many of something. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
