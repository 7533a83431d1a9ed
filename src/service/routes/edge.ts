/** Paired devices as their operator sees them: a list, and the end of a pairing. */
import { edgePair } from '../../edge/edge-contract.js'
import { edge } from '../../fabric/operations/edge.js'
import type { Route } from '../route.js'
import { routeOf, smallJson } from '../route-of.js'

/** The routes. */
export const edgeRoutes: readonly Route[] = [
  routeOf(edge.list, 'GET /api/edge/devices', 'Your paired devices, newest first.', {
    verb: 'edge list',
  }),
  routeOf(edge.revoke, 'POST /api/edge/devices/{device_id}/revoke',
    'Ends the pairing of a device, at the next byte of what it sends.'),
  routeOf(edge.pair, 'POST /api/edge/codes',
    'The line by which one device pairs itself: a secret of ten minutes.', {
      verb: 'edge pair', status: 201, body: smallJson(edgePair.input, edgePair.inputName),
    }),
  routeOf(edge.artifacts, 'GET /api/edge/artifacts',
    'What your devices sent, newest first: facts alone.', {
      query: [
        { name: 'device', what: 'Only what this device sent.', kind: 'text' },
        { name: 'limit', what: 'At most so many (default 100).', kind: 'integer' },
        { name: 'before', what: 'Only those that came before this one.', kind: 'text' },
      ],
    }),
]
