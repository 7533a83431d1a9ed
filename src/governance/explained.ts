/**
 * What an id names, as one may see it: what it is, how it stands, what happened to it, and what can
 * be done. Each capability explains the ids of its own collections; one verb asks all of them.
 */
import { tailOf, type IdPrefix } from '../base/ids.js'
import type { CollectionSpec, View } from '../state/types.js'
import type { Session } from './context.js'
import type { IdKind } from './short-ids.js'
import type { Looking } from './waiting.js'

/** Who asks, and over which rows. */
export interface ExplainSite extends Looking { readonly session: Session }

/** A fact that may be shown: an id, a name, a number; no text that somebody wrote. */
export type ExplainedFact = string | number | boolean | null

/** Something that happened, by the rows alone; the audit is looked through besides. */
export interface ExplainedEvent {
  /** ISO 8601. */
  readonly at: string
  /** One or two words: `created`, `ended`. */
  readonly what: string
}

/** What is told of one row. */
export interface Explained {
  /** As its row calls it; null where it has no states. */
  readonly state: string | null
  /** One sentence on how it stands. */
  readonly text: string
  readonly facts: Readonly<Record<string, ExplainedFact>>
  /** Other ids that belong to it; each can be explained, too. */
  readonly related: readonly string[]
  readonly events: readonly ExplainedEvent[]
  /** Whole commands in their plain form, the best first. */
  readonly next: readonly string[]
}

/** One type of ids, and how what they name is found. */
export interface ExplainedKind {
  /** What it is, for people and scripts: `task`, `reservation`. */
  readonly kind: string
  /** How short ones are resolved, loaded for those; left out: only whole ids are known. */
  readonly short?: () => Promise<IdKind>
  /**
   * What the id names, as whoever asks may see it; undefined where nothing does, or where it is
   * another owner's. Reads a bounded number of rows, and opens no content.
   */
  readonly find: (site: ExplainSite, id: string) => Explained | undefined
}

/** Explanations by the types of the ids. */
export type ExplainedKinds = Readonly<Partial<Record<IdPrefix, ExplainedKind>>>

/** The types of ids that a capability explains, and what does: loaded where one is asked for. */
export interface ExplainedIds {
  readonly prefixes: readonly IdPrefix[]
  /** One for each of these types. */
  readonly kinds: () => Promise<ExplainedKinds>
}

/** Whether something belongs to whoever asks. */
export const isOwn = ({ session }: ExplainSite, owner: string): boolean =>
  session.principal.principal_id === owner

/** Short ids of a collection that is small by nature: all of it is looked through. */
export const smallIds = <T>(
  prefix: IdPrefix, spec: CollectionSpec<T>, isTheirs: (row: T, session: Session | null) => boolean,
): IdKind => {
  const own = (view: View, session: Session | null, fits: (id: string) => boolean) =>
    view.all(spec).filter(({ id, doc }) => fits(id) && isTheirs(doc, session)).map(({ id }) => id)
  return {
    prefix,
    endingWith: (view, session, tail) => own(view, session, (id) => tailOf(id) === tail),
    beginningWith: (view, session, begins, limit) =>
      own(view, session, (id) => id.startsWith(begins)).slice(0, limit),
  }
}

/** Ids and facts without what is null. */
export const idsOf = (...ids: readonly (string | null | undefined)[]): readonly string[] =>
  [...new Set(ids.filter((id) => typeof id === 'string' && id !== ''))] as string[]

/** Events of which the time is known. */
export const eventsOf = (
  ...events: readonly (readonly [at: string | null | undefined, what: string])[]
): readonly ExplainedEvent[] =>
  events.flatMap(([at, what]) => (at === null || at === undefined ? [] : [{ at, what }]))
