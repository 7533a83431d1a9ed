/**
 * Lists that end where their bytes do: a page stays small whatever is in a period, and says how
 * much it left out. Counted are the bytes of the markup, so that no text is too long for it.
 */
import { html, nothing, type Markup } from './markup.js'

/** The newest entries that fit, in their order. */
export interface Bounded {
  readonly parts: readonly Markup[]
  /** How many earlier ones are left out. */
  readonly left: number
}

/** Bytes of markup that each list of a page may have, 1,500,000 with everything around them. */
export const listBytes = {
  bars: 170_000, rows: 730_000, summaries: 170_000, digests: 120_000, conclusion: 50_000,
  ids: 70_000, spend: 30_000, reasons: 10_000, authors: 8_000,
} as const

/** Renders entries from the newest, the last one, backwards, until the next one would not fit. */
export const newestWithin = (
  count: number, bytesMax: number, render: (at: number) => Markup,
): Bounded => {
  const parts: Markup[] = []
  let bytes = 0
  for (let at = count - 1; at >= 0; at -= 1) {
    const part = render(at)
    bytes += Buffer.byteLength(part.text)
    if (bytes > bytesMax) break
    parts.push(part)
  }
  return { parts: parts.reverse(), left: count - parts.length }
}

/** The same from the first entry on, for what is sorted by its weight. */
export const firstWithin = (
  count: number, bytesMax: number, render: (at: number) => Markup,
): Bounded => {
  const { parts, left } = newestWithin(count, bytesMax, (at) => render(count - 1 - at))
  return { parts: [...parts].reverse(), left }
}

/** Says what is left out, and how to see it; nothing where all is there. */
export const leftOut = (shown: number, all: number, what: string, which = 'The newest'): Markup =>
  shown >= all ? nothing : html`<p class="note">${which} <span class="num">${shown}</span> of
<span class="num">${all}</span> ${what} are here. A shorter period (<code>--since</code>,
<code>--until</code>) shows the others.</p>`
