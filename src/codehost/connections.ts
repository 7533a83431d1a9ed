/** The operator's connections, as lists show them: what is occupied for good, what is used up. */
import { standingConnections } from '../governance/connections/find-connection.js'
import type { Gov, Session } from '../governance/context.js'
import type { ListedConnection } from './codehost-contract.js'
import { isOfClosedJob } from './jobs/boundary.js'
import { isOccupiedForGood } from './jobs/list.js'

/**
 * Every connection as it stands now. A consent under which a job was closed authorizes nothing any
 * more, by the very rule that refuses what rests on it (C-111).
 */
export const listedConnections = (gov: Gov, session: Session): readonly ListedConnection[] => {
  const standing = standingConnections(gov, session)
  const view = gov.store.read()
  return standing.map((one) => ({
    ...one, occupiedForGood: isOccupiedForGood(gov, view, one),
    usedUp: isOfClosedJob(view, one.connection),
  }))
}
