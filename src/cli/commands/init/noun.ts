import type { VerbEntry } from '../table.js'

/** `sallyport init`. */
export const initVerb: VerbEntry = { verb: 'init', load: () => import('./init.js') }
