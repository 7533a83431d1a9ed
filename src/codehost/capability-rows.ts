import type { CapabilityRows } from '../governance/capability.js'

/** The code host keeps no rows of its own yet: connections are governance's. */
export const codehostRows: CapabilityRows = { collections: [], rules: [] }
