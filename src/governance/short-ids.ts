/**
 * Short ids: which row a person means by the beginning or the end of an id. Only one's own rows
 * count, so that a foreign one is as absent as none at all, and only indexes and ranges are read.
 */
import { fail } from '../base/errors.js'
import { shortForm, tailDigits, tailOf, type IdPrefix, type ShortId } from '../base/ids.js'
import { lookUp, rowsUnder } from '../state/indexes.js'
import type { CollectionSpec, Index, View } from '../state/types.js'
import type { Session } from './context.js'

/** One type of ids that may be given in short, and how one's own rows are found. */
export interface IdKind {
  readonly prefix: IdPrefix
  /** Set where a text without the type may be something else, a path. */
  readonly typed?: true
  /** Ids that end with these `tailDigits` digits: one, or a few. */
  endingWith(view: View, session: Session | null, tail: string): readonly string[]
  /** Ids that begin so; of each place that they lie in at most `limit`. */
  beginningWith(
    view: View, session: Session | null, begins: string, limit: number,
  ): readonly string[]
}

/** Ids of an owner's rows that begin so, by an index whose whole key is the owner. */
export const idsOfOwner = <T>(
  view: View, spec: CollectionSpec<T>, byOwner: Index<T>, session: Session | null,
  begins: string, limit: number,
): readonly string[] => session === null ? [] : lookUp(view, spec, byOwner, {
  under: [session.principal.principal_id], begins, limit,
}).map(({ id }) => id)

/** Rows of one collection under their own ids, each of them some owner's. */
export const ownedIds = <T extends object>(
  prefix: IdPrefix, spec: CollectionSpec<T>,
  { tail, owner }: { readonly tail: Index<T>; readonly owner: Index<T> },
  ownerOf: (row: T) => string,
): IdKind => ({
  prefix,
  endingWith: (view, session, end) => rowsUnder(view, spec, tail, { under: [end] })
    .filter(({ doc }) => ownerOf(doc) === session?.principal.principal_id).map(({ id }) => id),
  beginningWith: (view, session, begins, limit) =>
    idsOfOwner(view, spec, owner, session, begins, limit),
})

/** Rows of one collection under their own ids that whoever may run the verb may read. */
export const sharedIds = <T>(
  prefix: IdPrefix, spec: CollectionSpec<T>, tail: Index<T>,
): IdKind => ({
  prefix,
  endingWith: (view, _, end) => lookUp(view, spec, tail, { under: [end] }).map(({ id }) => id),
  beginningWith: (view, _, begins, limit) =>
    view.range(spec, { prefix: begins, limit }).map(({ id }) => id),
})

/** Of so many rows it is worked out which digits tell them apart; many may begin alike. */
const candidatesMost = 32

/** How many of their last digits two ids have in common. */
const sharedEnd = (one: string, other: string): number => {
  let digits = 0
  for (let back = 1; back <= one.length && one.at(-back) === other.at(-back); back += 1) {
    if (one.at(-back) !== '-') digits += 1
  }
  return digits
}

/** So many last digits name each of some rows, whatever other rows of one's own there are. */
const digitsEnough = (
  view: View, session: Session | null, kind: IdKind, ids: readonly string[],
): number => Math.max(tailDigits, ...ids.flatMap((id) =>
  kind.endingWith(view, session, tailOf(id) ?? '')
    .filter((other) => other !== id).map((other) => sharedEnd(id, other) + 1)))

/** Whether a text may be an id of this type in short; no state has to be opened for what is not. */
export const mayBeShort = (kind: IdKind, given: string): boolean => formOf(kind, given) !== null

const formOf = (kind: IdKind, given: string): ShortId | null => {
  const short = shortForm(kind.prefix, given)
  return kind.typed && short?.begins === null ? null : short
}

/**
 * The whole id that a person means: a beginning or an end that one row of theirs has and no other.
 * A whole id, a short one that no row of theirs has, and whatever else was given come back as they
 * are: the verb answers as it does for any unknown id. Throws `rejected`/`id_ambiguous` where
 * several rows fit, with how many last digits name each of them.
 */
export const wholeId = (
  view: View, session: Session | null, kind: IdKind, given: string, field: string,
): string => {
  const short = formOf(kind, given)
  if (short === null) return given
  const { begins, ends } = short
  const beginning = begins === null
    ? [] : kind.beginningWith(view, session, begins, candidatesMost)
  const ending = ends === null ? [] : kind.endingWith(view, session, ends.slice(-tailDigits))
    .filter((id) => id.endsWith(ends))
  const [first, ...others] = new Set([...beginning, ...ending])
  if (first === undefined) return given
  if (others.length === 0) return first
  const digits = digitsEnough(view, session, kind, [first, ...others])
  throw fail.rejected('id_ambiguous', `Several rows of yours fit what was given as ${field}.`, {
    next: `Give the last ${digits} digits of the id, or all of it.`,
    details: { field, rule: 'unique', digits },
  })
}

/** Throws `rejected`/`whole_id_needed` where an id of this type is given in short. */
export const requireWholeId = (kind: IdKind, given: string, field: string): void => {
  if (formOf(kind, given) === null) return
  throw fail.rejected('whole_id_needed', `With --no-input ${field} must be a whole id here.`, {
    next: 'Take it from the list that shows it, with --json.',
    details: { field, rule: 'whole' },
  })
}
