/**
 * Whether what the host shows is of this very effect and not only like it: an older one of the same
 * text, the next night's, or a stranger's says the same in every other point. Pure.
 */
import type { Author } from '../../governance/connections/connection-rows.js'
import { hostTimeMs, type HostWindow } from './host-time.js'

/** What tells an effect from its like. */
export interface Provenance {
  /** When the host can have made it; null where the host did not tell its time. */
  readonly window: HostWindow | null
  /** Who makes what is sent with this token; null where the host did not tell. */
  readonly author: Author | null
  /** Its text has a nonce of its own: what says the same is it. */
  readonly marked: boolean
}

/** What the host tells of how something came to be. */
export interface ToldOrigin {
  readonly created_at?: string | null | undefined
  readonly user?: { readonly id: number } | null | undefined
  readonly performed_via_github_app?: object | null | undefined
}

/** When the host changed what it tells; not compared, and no part of what is proved by it. */
interface ToldEdit {
  readonly created_at?: string | null | undefined
  readonly updated_at?: string | null | undefined
}

/** What is told of something, without when it was last changed, and whether that was later. */
export const apartFromEdits = <T extends ToldEdit>(
  { updated_at: changed, ...payload }: T,
): { readonly payload: Omit<T, 'updated_at'>, readonly edited: boolean } => {
  const [madeMs, changedMs] = [hostTimeMs(payload.created_at), hostTimeMs(changed)]
  return { payload, edited: madeMs !== null && changedMs !== null && changedMs !== madeMs }
}

/** Why something that says the same is no evidence all the same. */
const likenesses = [
  'other_time', 'time_missing', 'other_author', 'author_missing', 'author_unknown',
] as const
export type Likeness = (typeof likenesses)[number]

const timeProblem = (window: HostWindow | null, told: ToldOrigin): Likeness | null => {
  const madeMs = hostTimeMs(told.created_at)
  if (window === null || madeMs === null) return 'time_missing'
  return madeMs >= window.fromMs && madeMs <= window.toMs ? null : 'other_time'
}

const authorProblem = (author: Author | null, told: ToldOrigin): Likeness | null => {
  // The account that is told for a token of an installation is shared: it proves nothing.
  if (author === null) return 'author_unknown'
  const { user, performed_via_github_app: app } = told
  if (user === undefined || user === null) return 'author_missing'
  const sameWay = app === undefined || (app !== null) === author.via_app
  return user.id === author.id && sameWay ? null : 'other_author'
}

/**
 * Why what says the same as what was sent is not known to be of this effect; null where it is.
 * Without a mark time and author are a must, both.
 */
export const likenessOf = (
  { window, author, marked }: Provenance, told: ToldOrigin,
): Likeness | null =>
  (marked ? null : timeProblem(window, told) ?? authorProblem(author, told))
