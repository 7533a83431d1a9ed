import { shotsShow } from '../../shots/observations/observations-contract.js'
import { showObservation } from '../../shots/observations/show.js'
import { shotsContext } from '../contexts/shots.js'
import { operation } from '../operation.js'

/** The screenshot source, of which most is looked at or ordered by one face in its own way. */
export const shots = {
  show: operation(shotsShow, 'see', ({ gov, world }, { id, analysis }) =>
    showObservation(shotsContext(world, gov), gov.store.read(), id, analysis)),
}
