import { operation } from '../../../fabric/operation.js'
import { routePlaces } from '../../../fabric/places.js'
import { gatewayShow } from '../../../gateway/gateway-contract.js'
import { showGateway } from '../../../gateway/show.js'
import { verbOf } from '../../verb-of.js'
import { gatewayText } from './text.js'

export const show = verbOf(operation(gatewayShow, 'read', ({ gov, session }) =>
  showGateway(gov, session, routePlaces(gov).gateway)), {
  summary: 'show the general model route: slots, consents, key, proofs',
  description:
    'Shows the route, its three slots with model and upstream allow-list, and the status with its '
    + 'reason. It tells whether a key is stored, which consents are current and how each proof '
    + 'stands. It contacts nobody: `configured` says nothing about the gateway.',
  examples: ['$ sallyport gateway show', '$ sallyport gateway show --json'],
  text: gatewayText,
})
