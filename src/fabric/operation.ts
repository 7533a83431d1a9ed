/**
 * An operation as both faces have it: its contract, how the state is opened for it, and its run. A
 * verb adds flags and text to it, a route a place and a status.
 */
import type { Contract } from '../base/contract.js'
import { firstRows, pageDefault } from '../base/page.js'
import type { Gov, Session } from '../governance/context.js'
import type { Recorded } from '../governance/stops/act.js'
import type { WorkMode } from './open-work.js'
import type { World } from './world.js'

/** Where a list goes on. */
export interface ListPageEnd {
  /** Field of the request that goes on, and what it takes. */
  readonly field: 'after' | 'before'
  readonly value: string
  /** How many rows are shown; left out where the document itself says that there are more. */
  readonly shown?: number
  /** Which rows come first; the newest unless said. */
  readonly first?: 'oldest'
}

/** What a face opens for an operation, and what an operation tells it besides its result. */
export interface Work {
  readonly gov: Gov
  readonly session: Session
  readonly world: World
  /** Says that a list was cut; gives the command, or the path, of what comes behind. */
  readonly cut: (at: ListPageEnd) => string
  /** Follows a stop that is in force: resolves what dead processes left, where it is recorded. */
  readonly stopped: (recorded: Recorded | null) => Promise<void>
}

/** A contract of any operation. */
export type AnyContract = Contract<unknown, unknown, never>

/** What the contract makes of a request, and what it makes a document of. */
export type RequestOf<C extends AnyContract> = ReturnType<C['request']>
export type SourceOf<C extends AnyContract> = Parameters<C['answer']>[0]

/** One operation. */
export interface Operation<C extends AnyContract = AnyContract> {
  readonly contract: C
  readonly mode: WorkMode
  /** Does the work; failures are thrown. */
  readonly run: (work: Work, request: RequestOf<C>) => SourceOf<C> | Promise<SourceOf<C>>
}

/** Makes one. */
export const operation = <C extends AnyContract>(
  contract: C, mode: WorkMode, run: Operation<C>['run'],
): Operation<C> => ({ contract, mode, run })

/** The first rows of a list that `find` gives so many of; `idOf` names the row to go on behind. */
export const firstPart = <T>(
  { cut }: Work, limit = pageDefault,
  find: (most: number) => readonly T[], idOf: (row: T) => string, first?: 'oldest',
): readonly T[] => {
  const { rows, last } = firstRows(find(limit + 1), limit)
  const which = first === undefined ? {} : { first }
  if (last !== null) cut({ field: 'after', value: idOf(last), shown: rows.length, ...which })
  return rows
}

/** The same of a list that is given whole where no limit is. */
export const wholeOrPart = <T>(
  work: Work, limit: number | undefined,
  find: (most?: number) => readonly T[], idOf: (row: T) => string, first?: 'oldest',
): readonly T[] => (limit === undefined ? find() : firstPart(work, limit, find, idOf, first))
