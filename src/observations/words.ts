/** Small wordings that text and page share. */
export { countText } from '../base/counted.js'

/** Bytes in the unit that people read. */
export const sizeText = (bytes: number): string => {
  if (bytes < 1_024) return `${bytes} B`
  const kib = bytes / 1_024
  return kib < 1_024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1_024).toFixed(1)} MiB`
}

/** `1920 x 1080`, or a dash where it is not known. */
export const dimensionsText = (width: number | null, height: number | null): string =>
  width === null || height === null ? '-' : `${width} × ${height}`

/** Integer micro-USD as dollars: exact, at least two decimals. */
export const dollarsText = (microusd: number): string => {
  const digits = String(microusd).padStart(7, '0')
  const part = digits.slice(-6)
  return `$${digits.slice(0, -6)}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, '')}`
}

/** Whole minutes of a span, as they are told. */
export const spanMinutes = (ms: number): number => Math.round(ms / 60_000)

/** A span in minutes and hours. */
export const spanText = (ms: number): string => {
  const minutes = spanMinutes(ms)
  if (ms > 0 && minutes === 0) return '< 1 min'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

export const statusText = (status: string): string => status.replaceAll('_', ' ')

/** An image that a text was written about beside the one that it stands with. */
export interface AsAtFacts {
  readonly captured_at: string
  readonly areas_ignored: boolean
}

/** What is said where a text was written about an earlier image of the same looks. */
export const asAtText = ({ areas_ignored: areas }: AsAtFacts, moment: string): string =>
  `as at ${moment}${areas ? ' (ignored areas may differ)' : ''}`

/** What is said of how many images that was. */
export const reusedText = 'as an earlier image of the same looks, without a request'
