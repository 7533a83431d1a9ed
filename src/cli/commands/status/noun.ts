import type { VerbEntry } from '../table.js'

/** `sallyport status`. */
export const statusVerb: VerbEntry = { verb: 'status', load: () => import('./status.js') }
