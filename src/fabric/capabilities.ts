/** The one list of capabilities. Everything that spans them loops over it. */
import { alpha } from '../alpha/capability.js'
import { codehost } from '../codehost/capability.js'
import { edge } from '../edge/capability.js'
import { gateway } from '../gateway/capability.js'
import type { Registry } from '../governance/capability.js'
import { shots } from '../shots/capability.js'
import { routePlaces } from './places.js'

/** What this program ships, in the order in which `status` tells it and recovery asks it. */
export const capabilities: Registry = [
  alpha,
  gateway((gov) => routePlaces(gov).gateway),
  shots(async () => (await import('./contexts/shots.js')).lookingShots),
  codehost,
  edge,
]
