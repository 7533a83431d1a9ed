/** Which of the stops that lie on the board of a store are in force. */
import type { LyingStop } from '../../state/stop-board.js'
import type { Store, View } from '../../state/types.js'
import { collections } from '../rows.js'
import { covers, type OwnCover, type Party } from './stop.js'

/** Those of `stops` that no record of the view names: the others are spent. */
export const pendingStops = (stops: readonly LyingStop[], view: View): readonly LyingStop[] =>
  stops.filter(({ id }) => view.get(collections.stops, id) === undefined)

/** The first stop in force that covers an operation. Looks at the board, then takes a view. */
export const stopCovering = (
  store: Pick<Store, 'stops' | 'read'>, party: Party, own?: OwnCover,
): LyingStop | undefined => {
  const lying = store.stops.lying()
  if (lying.length === 0) return undefined
  return pendingStops(lying, store.read()).find((stop) => covers(stop, party, own))
}
