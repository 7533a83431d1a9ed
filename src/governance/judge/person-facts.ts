/** Who carries an operation: an owner who is not disabled, and the session that admitted it. */
import { msFromIso } from '../../base/clock.js'
import type { View } from '../../state/types.js'
import { collections } from '../rows.js'
import { orUndefined, underWay, type Fact } from './fact.js'
import type { Moment } from './moment.js'

interface PersonCase {
  readonly view: View
  readonly principal: string
}

/** The owner exists and is not disabled. */
export const personFacts = [
  {
    name: 'principal_missing', kind: 'unauthorized', phases: underWay,
    holds: ({ view, principal }) =>
      view.get(collections.principals, principal)?.principal_id === principal,
  },
  {
    name: 'principal_disabled', kind: 'unauthorized', phases: underWay,
    holds: ({ view, principal }) =>
      (view.get(collections.principals, principal)?.disabled_at ?? null) === null,
  },
] as const satisfies readonly Fact<PersonCase>[]

interface RootCase {
  readonly moment: Moment
  readonly principal: string
  readonly root: string
}

/** The operator session is live and the owner's own. */
export const rootFacts = [
  {
    name: 'root_not_live', kind: 'unauthorized', phases: underWay,
    holds: ({ moment, root }) => {
      const row = moment.view.get(collections.roots, root)
      const live = orUndefined(() => moment.liveRoot(root))
      return live?.root_id === root && row?.ended === null
        && msFromIso(row.expires_at) > moment.nowMs
    },
  },
  {
    name: 'root_foreign', kind: 'unauthorized', phases: underWay,
    holds: ({ moment, principal, root }) => {
      const row = moment.view.get(collections.roots, root)
      return row === undefined || row.principal_id === principal
    },
  },
] as const satisfies readonly Fact<RootCase>[]

/** A request that is about to go out, and how long what it brings back has to be waited for. */
export interface OutliveCase {
  readonly moment: Moment
  readonly root: string
  /** Longest time of the request and of reading its charge back, milliseconds. */
  readonly neededMs: number
}

/** What the record of the end may take beside the request itself, milliseconds. */
const closingMs = 5_000

/**
 * The session lives until the answer can be adopted: what is found out only after it was paid for
 * is found out too late. Asked before contact alone, with some room at first, so that what
 * was let in is not refused at the last moment.
 */
export const outliveFacts = [
  {
    name: 'session_ends_too_soon', kind: 'unauthorized',
    phases: ['admit', 'preflight', 'contact'],
    holds: ({ moment, root, neededMs }, phase) => moment.rootEndsMs(root) - moment.nowMs
      >= neededMs + (phase === 'contact' ? 0 : closingMs),
  },
] as const satisfies readonly Fact<OutliveCase>[]
