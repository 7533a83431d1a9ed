/** A zone of the clock. */
export interface NoonZone {
  /** Its name, for TZ. */
  readonly name: string
  /** How far it is ahead of UTC, milliseconds. */
  readonly aheadMs: number
}

/** A zone in which it is noon now, so that nothing that a test does crosses a midnight. */
export const noonZone = (): NoonZone => {
  const hours = 12 - new Date().getUTCHours()
  return {
    name: hours === 0 ? 'UTC' : `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`,
    aheadMs: hours * 3_600_000,
  }
}
