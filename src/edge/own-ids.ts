/** The ids of the edge that may be given in short. */
import { ownedIds } from '../governance/short-ids.js'
import {
  artifactsByOwner, artifactsByTail, devicesByOwner, devicesByTail, edgeCollections,
} from './edge-rows.js'

/** Paired devices of one's own; those of others are revoked by their whole ids. */
export const deviceIds = ownedIds('edge_dev', edgeCollections.devices, {
  tail: devicesByTail, owner: devicesByOwner,
}, ({ owner }) => owner)

/** What paired devices sent. */
export const captureIds = ownedIds('edge_art', edgeCollections.artifacts, {
  tail: artifactsByTail, owner: artifactsByOwner,
}, ({ owner }) => owner)
