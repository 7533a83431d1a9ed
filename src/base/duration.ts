/** Milliseconds of each unit of a duration. */
export const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A duration in the largest unit that holds it exactly. */
export const durationText = (ms: number): string => {
  for (const unit of ['d', 'h', 'm'] as const) {
    if (ms > 0 && ms % unitMs[unit] === 0) return `${ms / unitMs[unit]}${unit}`
  }
  return `${ms / 1000}s`
}
