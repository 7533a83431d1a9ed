/** Drawings that are no timeline: parts of a whole, and images by the hour. */
import type { ScreenReport } from '../report.js'
import { countText } from '../words.js'
import { axisLabels, clock } from './axis.js'
import { html, nothing, type Markup } from './markup.js'

interface Part {
  readonly className: string
  /** Of the whole, 0 to 1. */
  readonly share: number
  readonly text: string
}

const width = 1_000

/**
 * Parts of a whole as one bar; `limit` is a share of it at which a line stands, null for none. The
 * caller's words beside it say the same.
 */
export const stacked = (
  id: string, title: string, parts: readonly Part[], limit: number | null = null,
): Markup => {
  let x = 0
  const rects = parts.map(({ className, share, text }) => {
    const at = x
    x += share * width
    return html`<rect class="${className}" x="${at.toFixed(2)}" y="0"
      width="${(share * width).toFixed(2)}" height="10"><title>${text}</title></rect>`
  })
  const end = ((limit ?? 0) * width).toFixed(2)
  const line = limit === null ? nothing
    : html`<line class="limit" x1="${end}" x2="${end}" y1="0" y2="10"/>`
  return html`<figure class="bar"><svg viewBox="0 0 ${width} 10" preserveAspectRatio="none"
  role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title>
<desc id="${id}-d">${parts.map(({ text }) => text).join(', ')}.</desc>
<rect class="track" x="0" y="0" width="${width}" height="10"/>${rects}${line}</svg></figure>`
}

export const hourBars = ({ course }: ScreenReport): Markup => {
  const most = Math.max(1, ...course.hours)
  const rects = course.hours.map((count, hour) => {
    const height = (count / most) * 96
    const title = `${clock(hour)}, ${countText(count, 'image')}`
    return html`<rect class="track" x="${hour * 10 + 1}" y="0" width="8" height="100"/>
<rect class="count" x="${hour * 10 + 1}" y="${(100 - height).toFixed(2)}" width="8"
  height="${height.toFixed(2)}"><title>${title}</title></rect>`
  })
  const busiest = course.hours.indexOf(most)
  const desc = busiest < 0 ? 'No image.'
    : `Most, ${countText(most, 'image')}, from ${clock(busiest)}. The table below says the same.`
  return html`<figure class="hours"><svg viewBox="0 0 240 100" preserveAspectRatio="none"
  role="img" aria-labelledby="hours-t hours-d"><title id="hours-t">Images by hour</title>
<desc id="hours-d">${desc}</desc>${rects}</svg>${axisLabels({ from: 0, to: 24 })}</figure>`
}
