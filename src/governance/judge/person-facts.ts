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
