import { routePlaces } from '../../../fabric/places.js'
import { gatewayShow } from '../../../gateway/contract.js'
import type { GatewayShow } from '../../../gateway/projection.js'
import { showGateway } from '../../../gateway/show.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { gatewayText } from './text.js'

const definition: VerbDefinition<GatewayShow> = {
  meta: {
    name: 'gateway show',
    summary: 'show the general model route: slots, consents, key, proofs',
    description:
      'Shows the route, its three slots with model and upstream allow-list, whether a key is '
      + 'stored, which consents are current, how each proof stands, and the status with its '
      + 'reason. It contacts nobody: `configured` says nothing about the gateway.',
    examples: ['$ sallyport gateway show', '$ sallyport gateway show --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'no_state', 'damaged'],
    json: gatewayShow,
  },
  text: (result, view) => gatewayText(result, view),
}

/** Reads the route. */
export const run: Run<object, GatewayShow> = async (_options, deps) => {
  const { gov, session } = await deps.login()
  return gatewayShow.answer(showGateway(gov, session, routePlaces(gov).gateway))
}

/** Parses a line of `gateway show`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
