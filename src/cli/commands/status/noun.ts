import type { VerbEntry } from '../../entry.js'

/** `sallyport status`. */
export const statusVerb: VerbEntry = { verb: 'status', load: () => import('./status.js') }
