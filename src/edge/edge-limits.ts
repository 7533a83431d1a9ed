/** What a pairing allows where nobody wished for anything else. */
import { edgeLimits } from './constants.js'
import type { LimitWishes } from './edge-contract.js'
import type { EdgeLimits } from './edge-rows.js'

/** The limits of a pairing: the wishes, else the defaults, with both kinds of egress off. */
export const limitsOf = (wishes: LimitWishes = {}): EdgeLimits => ({
  artifact_bytes_max: edgeLimits.artifactBytesMax,
  bytes_max: wishes.bytes_max ?? edgeLimits.bytesDefault,
  items_max: wishes.items_max ?? edgeLimits.itemsDefault,
  cloud_egress: wishes.cloud_egress ?? false,
  model_egress: wishes.model_egress ?? false,
})
