/**
 * Whether what the host shows is of this very effect and not only like it: an older one of the same
 * text, or the next night's, says the same in every other point. Pure.
 */
import { hostTimeMs, type HostWindow } from './host-time.js'

/** What tells an effect from its like. */
export interface Provenance {
  /** When the host can have made it; null where the host did not tell its time. */
  readonly window: HostWindow | null
}

/** What the host tells of how something came to be. */
export interface ToldOrigin {
  readonly created_at?: string | null | undefined
}

/** Why something that says the same is no evidence all the same. */
export const likenesses = ['other_time', 'time_missing'] as const
export type Likeness = (typeof likenesses)[number]

/** Why what is told is not known to be of this effect; null where it is. */
export const likenessOf = ({ window }: Provenance, told: ToldOrigin): Likeness | null => {
  const madeMs = hostTimeMs(told.created_at)
  if (window === null || madeMs === null) return 'time_missing'
  return madeMs >= window.fromMs && madeMs <= window.toMs ? null : 'other_time'
}
